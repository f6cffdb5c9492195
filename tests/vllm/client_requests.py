"""Judges and pairs for requests to a vLLM server."""

import dataclasses
import json
import urllib.request

from judging.graders.chat import OpenAIGrader
from judging.grading import prompts
from judging.grading.pairs import Pair
from judging.grading.presets import constraint
from judging.grading.prompt import render
from judging.llm.sampling import Sampling
from tests.vllm.material import LEVELS, pairs
from tests.vllm.server import MODEL


def graded(server, spec, batch):
    grader = OpenAIGrader(spec, f"{server.address}/v1", key=None, concurrency=16)
    replies = [reply for reply in grader.replies(iter(batch)) if reply is not None]
    return sorted(replies, key=lambda reply: reply.pair.text_id)


def pair_of_length(server, spec, tokens: int) -> Pair:
    """A pair whose prompt has exactly so many tokens: each digit of its text is one."""
    question = pairs(1)[0].question
    messages = render(spec, Pair(0, 0, "1", question))
    body = {"model": MODEL, "messages": messages, "add_generation_prompt": True}
    request = urllib.request.Request(
        f"{server.address}/tokenize",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        count = json.load(answer)["count"]
    return Pair(0, 0, "1" * (tokens - count + 1), question)


def all_questions(spec, regex: str):
    """The judge that asks all questions of a text at once, held to a form of reply."""
    prompt_file = prompts.load("all-questions")
    extra = {"structured_outputs": {"regex": regex}}
    return dataclasses.replace(
        spec,
        system=prompt_file.system,
        prompt=prompt_file.prompt,
        parser=prompt_file.parser,
        label_ids=(),
        sampling=Sampling(max_tokens=40, logprobs=False, extra=extra),
    )


def of_one_text() -> list[Pair]:
    """Return pairs of a text with three questions."""
    question_texts = tuple(dict.fromkeys(pair.question for pair in pairs(20)))[:3]
    text = pairs(1)[0].text
    return [
        Pair(0, n, text, question, "", "", question_texts, n + 1)
        for n, question in enumerate(question_texts)
    ]


def sampled(spec):
    """The judge that takes four samples of one grade."""
    form = {**constraint("choice", [grade for grade, _ in LEVELS]), "n": 4}
    # Without a seed: vLLM 0.32 on a CPU ends when a request that has one is sampled in two steps.
    sampling = Sampling(temperature=1.0, max_tokens=1, seed=None, logprobs=False, extra=form)
    return dataclasses.replace(spec, label_ids=(), sampling=sampling)


def sums_to_shares(probabilities, mass) -> bool:
    quarters = all((4 * share).is_integer() for share in probabilities)
    return quarters and sum(probabilities) == mass == 1.0
