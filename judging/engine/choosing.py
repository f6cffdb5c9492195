"""Choosing the grader of a judge, where this machine has what it needs."""

import os

from django.conf import settings

from judging.engine.judges import baseline_of
from judging.graders.base import Grader, GraderError
from judging.graders.openai_api import OpenAIGrader
from judging.graders.vllm_engine import VllmGrader
from judging.models import Judge, JudgeRun

BASELINE_BATCH = 2_000
VLLM_BATCH = 256


def url_of(endpoint: str) -> str:
    """The URL that an endpoint's name stands for on this machine; a URL stands for itself.

    Raises GraderError for a name that JUDGE_ENDPOINTS does not have here.
    """
    if "://" in endpoint:
        return endpoint
    if endpoint in settings.JUDGE_ENDPOINTS:
        return str(settings.JUDGE_ENDPOINTS[endpoint])
    known = f"JUDGE_ENDPOINTS names: {', '.join(settings.JUDGE_ENDPOINTS) or 'none'}."
    if not endpoint:
        raise GraderError(f"This judge asks a server: say which one as its endpoint. {known}")
    hint = " An address begins with http:// or https://." if set(endpoint) & set(":/") else ""
    raise GraderError(f"This machine knows no endpoint {endpoint!r}; {known}{hint}")


def key_of(endpoint: str) -> str | None:
    """The key of an endpoint, from the environment of this process and nowhere else."""
    name = "" if "://" in endpoint else endpoint.upper().replace("-", "_")
    return os.environ.get(f"JUDGE_KEY_{name}" if name else "JUDGE_KEY")


def grader_of(run: JudgeRun) -> tuple[Grader, int]:
    """The grader of a run's judge, and how many replies to write at once.

    Raises GraderError where it cannot work here: an unknown endpoint, a missing package, a corpus that
    has changed since the baseline was made.
    """
    judge = run.judge
    if judge.backend == Judge.Backend.LEXICAL:
        now, grader = baseline_of(run.dataset)
        if now.pk != judge.pk:
            raise GraderError(
                f"The passages have changed since {judge} was made: the baseline is now {now}."
            )
        return grader, BASELINE_BATCH
    if judge.backend == Judge.Backend.VLLM:
        return VllmGrader(judge.spec, engine_args=settings.JUDGE_VLLM_ARGS), VLLM_BATCH
    return (
        OpenAIGrader(
            judge.spec,
            url_of(run.endpoint),
            key=key_of(run.endpoint),
            concurrency=run.concurrency,
        ),
        run.concurrency,
    )
