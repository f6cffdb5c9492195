"""Judges on a small real model, checked by hand against raw log-probabilities."""

import json
import math
import urllib.request

import pytest

from judging.graders.chat import OpenAIGrader
from judging.grading import prompts
from judging.grading.pairs import Pair, State
from judging.grading.prompt import render
from judging.grading.spec import Spec
from judging.llm.sampling import Sampling
from tests.writer.material import documents
from tests.writer.server import MODEL, LlamaServer

LEVELS = tuple((grade, f"level {grade}") for grade in range(6))
QUESTIONS = ("When was it founded?", "How many people live there?")


class LogprobsServer(LlamaServer):
    """Server with log-probabilities, which needs the logits of all tokens in memory."""

    def command(self) -> list[str]:
        return [*super().command(), "--logits_all", "true"]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    running = LogprobsServer(tmp_path_factory.mktemp("judge") / "server.log")
    running.start()
    yield f"{running.address}/v1"
    running.kill()


@pytest.fixture(scope="module", params=["crux-structure", "question-first"])
def spec(request) -> Spec:
    file = prompts.load(request.param)
    return Spec(
        rubric="graded",
        levels=LEVELS,
        backend="openai",
        model=MODEL,
        system=file.system,
        prompt=file.prompt,
        wording="5: it answers the question\n0: it does not",
        parser="first-digit-1",
        sampling=Sampling(max_tokens=8, extra={"top_logprobs": 20}),
    )


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    texts = documents()[:6]
    return [
        Pair(number, position, body, question)
        for number, (_, _, body) in enumerate(texts, 1)
        for position, question in enumerate(QUESTIONS, 1)
    ]


def asked_raw(url: str, spec: Spec, pair: Pair) -> dict:
    """Reply of the server to the same messages, past our client."""
    body = {
        "model": MODEL,
        "messages": render(spec, pair),
        "temperature": 0.0,
        "max_tokens": 8,
        "seed": 0,
        "logprobs": True,
        "top_logprobs": 20,
    }
    request = urllib.request.Request(
        f"{url}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["choices"][0]


def expected_by_hand(choice: dict) -> tuple[int | None, float | None, float]:
    """Return the first digit, the mean grade at its token, and the mass of the grades."""
    for token in choice["logprobs"]["content"]:
        digits = [sign for sign in token["token"] if sign.isdigit()]
        if digits:
            shares = dict.fromkeys(range(6), 0.0)
            for candidate in token["top_logprobs"]:
                token_text = candidate["token"].strip()
                if token_text in map(str, shares):
                    shares[int(token_text)] += math.exp(candidate["logprob"])
            mass = sum(shares.values())
            mean = sum(grade * share for grade, share in shares.items()) / mass if mass else None
            grade = int(digits[0])
            is_valid = mass >= 0.5 and shares.get(grade, 0) == max(shares.values())
            return grade, mean if is_valid else None, mass
    return None, None, 0.0


def test_expected_grades_are_those_computed_by_hand(url, spec, pairs, record_property):
    grader = OpenAIGrader(spec, url, key=None, concurrency=1, timeout=300, retry_seconds=600)
    replies = {
        (reply.pair.text_id, reply.pair.question_id): reply
        for reply in grader.replies(iter(pairs))
        if reply is not None
    }
    assert len(replies) == len(pairs) == 12
    n_expected = 0
    for pair in pairs:
        choice = asked_raw(url, spec, pair)
        grade, expected, mass = expected_by_hand(choice)
        reply = replies[pair.text_id, pair.question_id]
        assert reply.raw == choice["message"]["content"]
        if reply.state is not State.GRADED:
            continue
        assert reply.grade == grade
        if expected is None:
            assert reply.expected_grade is None
            continue
        n_expected += 1
        assert reply.expected_grade == pytest.approx(expected, abs=1e-3)
        assert reply.label_mass == pytest.approx(min(1, mass), abs=1e-3)
    record_property("with an expected grade", n_expected)
    assert n_expected > 0
