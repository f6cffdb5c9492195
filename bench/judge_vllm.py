"""Benchmark of our grader with vLLM in process against bare LLM.chat.

    PYTHONPATH=. VLLM_ENV/bin/python -m bench.judge_vllm --model MODEL [--pairs 2000] [--json]

Runs in the environment of vLLM; MODEL is a folder or a name that vLLM loads. Both use one engine, take
turns, and begin each turn with an empty prefix cache. LLM.chat gets its prompts ready-made and all at
once; ours renders them, takes them as it goes, reads the grades and the probabilities, and writes
nothing to a database. Read the ratio; the goal is 0.95 on a GPU. Exits with 1 where it is not met.
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from judging.graders.chat import GradingTask, VllmGrader
from judging.grading import prompts
from judging.grading.pairs import Pair
from judging.grading.prompt import render, rubric_wording
from judging.grading.spec import Spec
from judging.llm.sampling import Sampling
from judging.llm.vllm_engine import loaded, parameters_of, sampling_of

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
    template = prompts.load(prompt)
    return Spec(
        rubric="graded",
        levels=LEVELS,
        backend="vllm",
        model=model,
        system=template.system,
        prompt=template.prompt,
        wording=rubric_wording(LEVELS),
        sampling=Sampling(max_tokens=template.max_tokens),
        parser=template.parser,
    )


def with_label_ids(spec: Spec, tokenizer: Any) -> Spec:
    """Return the judge with the token ids of its grades, if each grade is one token."""
    tokens = [tokenizer.encode(str(grade), add_special_tokens=False) for grade in spec.grades]
    if any(len(ids) != 1 for ids in tokens):
        return spec
    return replace(spec, label_ids=tuple(token for [token] in tokens))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Our grader beside bare LLM.chat.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--prompt", default="text-first", choices=prompts.names())
    parser.add_argument("--engine-args", type=json.loads, default={}, help="JSON, of vllm.LLM")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    return parser.parse_args()


def main() -> None:
    chosen = parse_arguments()
    spec = make_spec(chosen.model, chosen.prompt)
    pairs = make_pairs(chosen.pairs)
    llm = loaded(GradingTask(spec), chosen.engine_args)
    spec = with_label_ids(spec, llm.get_tokenizer())
    script = GradingTask(spec)
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
    rates = {name: len(pairs) / median(seconds) for name, seconds in times.items()}
    if chosen.json:
        print(json.dumps({**rates, "ratio": ratio, "version": import_module("vllm").__version__}))
        return
    for name, rate in rates.items():
        print(f"{name}: {rate:,.1f} pairs/s ({ROUNDS} turns)")
    print(f"ratio: {ratio:.3f}, goal {AT_LEAST}")
    sys.exit(ratio < AT_LEAST)


if __name__ == "__main__":
    main()
