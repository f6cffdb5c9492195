"""Asking a judge once more about one pair, to look at, and never to store."""

from __future__ import annotations

from django.conf import settings

from annotation.models import Dataset, SubQuestion, Text
from judging.engine.baseline import fitted
from judging.engine.choosing import key_of, url_of
from judging.graders.base import Grader, GraderError
from judging.graders.openai_api import OpenAIGrader
from judging.grading.pairs import Pair, Reply
from judging.models import Attempt, Judge

TIMEOUT = 20  # seconds for one answer: somebody waits for the page
PATIENCE = 20  # and for a server that is silent


def pair_of(text: Text, question: SubQuestion) -> Pair:
    """The pair as it would be asked now; the text must have words."""
    return Pair(text.pk, question.pk, text.body or "", question.body, question.topic.request)


def endpoints() -> list[str]:
    """The names of the servers that this machine knows."""
    return list(settings.JUDGE_ENDPOINTS)


def replay(judge: Judge, dataset: Dataset, pair: Pair, endpoint: str = "") -> Reply:
    """What the judge says about a pair now. Nothing is stored, and no run counts it.

    `endpoint` is a name of JUDGE_ENDPOINTS; the baseline needs none. Raises GraderError, with a
    sentence, where the judge cannot be asked from here.
    """
    found = [reply for reply in _grader(judge, dataset, endpoint).replies(iter([pair])) if reply]
    return found[0]


def compared(before: Attempt, now: Reply) -> str:
    """How a reply compares with the one that is stored, in words."""
    if before.grade is None and now.grade is None:
        same = before.failure == now.failure
        return "no grade, as before" if same else "no grade, as before, for another reason"
    if now.grade is None:
        return "no grade now, where there was one"
    if before.grade is None:
        return "a grade now, where there was none"
    return "same grade" if now.grade == before.grade else "another grade"


def _grader(judge: Judge, dataset: Dataset, endpoint: str) -> Grader:
    if judge.backend == Judge.Backend.LEXICAL:
        now, grader = fitted(dataset)
        if now.spec.fingerprint != judge.fingerprint:
            raise GraderError(
                f"The passages have changed since {judge} was made, and its weights with them: it "
                "cannot be asked again."
            )
        return grader
    if judge.backend == Judge.Backend.VLLM:
        raise GraderError(
            f"{judge} runs inside a process of its own, on a machine with a GPU: it cannot be asked "
            "from a page."
        )
    if endpoint not in settings.JUDGE_ENDPOINTS:
        known = ", ".join(endpoints()) or "none"
        raise GraderError(f"This machine knows no endpoint {endpoint!r}; it knows: {known}.")
    return OpenAIGrader(
        judge.spec,
        url_of(endpoint),
        key=key_of(endpoint),
        concurrency=1,
        timeout=TIMEOUT,
        patience=PATIENCE,
    )
