"""Measures our grader with vLLM in process beside bare LLM.chat on the same prompts, in one run.

    PYTHONPATH=. VLLM_ENV/bin/python -m bench.judge_vllm --model MODEL [--pairs 2000]

Runs in the environment of vLLM; MODEL is a folder or a name that vLLM loads. Both use one engine, take
turns, and begin each turn with an empty prefix cache. LLM.chat gets its prompts ready-made and all at
once; ours renders them, takes them as it goes, reads the grades and the probabilities, and writes
nothing to a database. Read the ratio; the goal is 0.95 on a GPU. Exits with 1 where it is not met.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

from judging.graders.grading import Grading
from judging.graders.vllm_engine import loaded, parameters_of, sampling_of
from judging.graders.vllm_grader import VllmGrader
from judging.grading import prompts
from judging.grading.pairs import Pair, Sampling
from judging.grading.prompt import render, wording_of
from judging.grading.spec import Spec

DEMO = Path(__file__).resolve().parent.parent / "fixtures" / "demo"
LEVELS = tuple((grade, f"{grade} fifths of the question are answered") for grade in range(6))
QUESTIONS = 10  # to a text, one after another, as a run asks them
ROUNDS = 3
AT_LEAST = 0.95  # of the speed of LLM.chat


def make_pairs(number: int) -> list[Pair]:
    passages = [
        json.loads(line)["contents"]
        for line in (DEMO / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    questions = [
        question
        for line in (DEMO / "subquestions.jsonl").read_text(encoding="utf-8").splitlines()
        for question in json.loads(line)["subquestions"]
    ]
    return [
        Pair(
            text_id=n // QUESTIONS,
            question_id=n % QUESTIONS,
            text=f"{n // QUESTIONS}. {passages[n // QUESTIONS % len(passages)]}",
            question=questions[n % QUESTIONS],
        )
        for n in range(number)
    ]


def make_spec(model: str, prompt: str) -> Spec:
    told = prompts.load(prompt)
    return Spec(
        rubric="graded",
        levels=LEVELS,
        backend="vllm",
        model=model,
        system=told.system,
        prompt=told.prompt,
        wording=wording_of(LEVELS),
        sampling=Sampling(max_tokens=told.max_tokens),
        parser=told.parser,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Our grader beside bare LLM.chat.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--prompt", default="text-first", choices=prompts.names())
    parser.add_argument("--engine-args", type=json.loads, default={}, help="JSON, of vllm.LLM")
    chosen = parser.parse_args()
    spec = make_spec(chosen.model, chosen.prompt)
    pairs = make_pairs(chosen.pairs)
    script = Grading(spec)
    llm = loaded(script, chosen.engine_args)
    sampling = sampling_of(script, parameters_of(script, llm))
    messages = [render(spec, pair) for pair in pairs]
    grader = VllmGrader(spec, engine_args=chosen.engine_args, in_flight=chosen.in_flight)

    def bare() -> int:
        return len(llm.chat(messages, sampling, use_tqdm=False))

    def ours() -> int:
        return sum(reply is not None for reply in grader.replies(iter(pairs)))

    times: dict[str, list[float]] = {"bare": [], "ours": []}
    for turn in range(ROUNDS + 1):
        for name, run in (("bare", bare), ("ours", ours)):
            llm.reset_prefix_cache()
            began = time.perf_counter()
            if run() != len(pairs):
                sys.exit(f"{name}: not as many replies as pairs")
            if turn:  # the first one warms up
                times[name].append(time.perf_counter() - began)
    ratio = median(b / o for b, o in zip(times["bare"], times["ours"], strict=True))
    for name, seconds in times.items():
        print(f"{name}: {len(pairs) / median(seconds):,.1f} pairs/s ({ROUNDS} turns)")
    print(f"ratio: {ratio:.3f}, goal {AT_LEAST}")
    sys.exit(ratio < AT_LEAST)


if __name__ == "__main__":
    main()
