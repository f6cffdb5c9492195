"""Choosing the grader of a judge, where this machine has what it needs."""

import os
from functools import partial

from django.conf import settings

from annotation.models import Project
from judging.engine import runs, states
from judging.engine.endpoints import address_named, is_of_project
from judging.engine.judges import baseline_of, baseline_under
from judging.graders.base import Grader, GraderError
from judging.graders.openai_api import OpenAIGrader
from judging.graders.openai_server import Address
from judging.graders.route import PLAIN, Route
from judging.graders.timeouts import reply_seconds
from judging.graders.vllm_grader import VllmGrader
from judging.models import Judge, JudgeRun
from judging.models.run import PARTED_BY

BASELINE_BATCH = 2_000
VLLM_BATCH = 256


def addresses_of(endpoint: str, project: Project | None = None) -> list[Address]:
    """The servers that an endpoint's name stands for on this machine; a URL stands for itself.

    Names, and the URLs of a name, are parted by PARTED_BY. Keys of the environment's names are in the
    environment of this process. A server of a project (project:SLUG/NAME) is known to that project alone, with
    its key from the database. Raises GraderError for a name that is not known here.
    """
    if is_of_project(endpoint):
        if project is None:
            raise GraderError(
                "A server of a project can be used for datasets of this project only."
            )
        return [address_named(endpoint, project)]
    route = Route(ca_file=settings.JUDGE_CA_BUNDLE) if settings.JUDGE_CA_BUNDLE else PLAIN
    return [
        Address(url, _key_of(name), route)
        for name in endpoint.split(PARTED_BY)
        for url in _urls_of(name).split(PARTED_BY)
    ]


def _urls_of(endpoint: str) -> str:
    if "://" in endpoint:
        return endpoint
    if endpoint in settings.JUDGE_ENDPOINTS:
        return str(settings.JUDGE_ENDPOINTS[endpoint])
    known = f"JUDGE_ENDPOINTS names: {', '.join(settings.JUDGE_ENDPOINTS) or 'none'}."
    if not endpoint:
        raise GraderError(f"A model is asked at a server: say which one as its endpoint. {known}")
    hint = " An address begins with http:// or https://." if set(endpoint) & set(":/") else ""
    raise GraderError(f"This machine knows no endpoint {endpoint!r}; {known}{hint}")


def _key_of(endpoint: str) -> str | None:
    name = "" if "://" in endpoint else endpoint.upper().replace("-", "_")
    return os.environ.get(f"JUDGE_KEY_{name}" if name else "JUDGE_KEY")


def seconds_of(run: JudgeRun) -> int | None:
    """Return the seconds that a reply of a run may take, None where it asks no server that is known here."""
    if run.reply_seconds or run.judge.backend != Judge.Backend.OPENAI:
        return run.reply_seconds
    try:
        urls = [address.url for address in addresses_of(run.endpoint)]
    except GraderError:
        return None
    return reply_seconds(run.judge.spec.sampling, urls)


def grader_of(run: JudgeRun) -> tuple[Grader, int]:
    """The grader of a run's judge, and how many replies to write at once.

    Raises GraderError where it cannot work here: an unknown endpoint, a missing package, a corpus that
    has changed since the baseline was made.
    """
    judge = run.judge
    if judge.backend == Judge.Backend.LEXICAL:
        now, grader = baseline_of(run.dataset, baseline_under(judge.rubric.slug))
        if now.pk != judge.pk:
            raise GraderError(
                f"The passages have changed since {judge} was made: the baseline is now {now}."
            )
        return grader, BASELINE_BATCH
    if judge.backend == Judge.Backend.VLLM:
        return VllmGrader(judge.spec, engine_args=settings.JUDGE_VLLM_ARGS), VLLM_BATCH
    first, *others = addresses_of(run.endpoint, run.dataset.project)
    return (
        OpenAIGrader(
            judge.spec,
            first.url,
            key=first.key,
            route=first.route,
            others=others,
            on_aside=partial(states.put_server_aside, run),
            on_concurrency=partial(runs.note_concurrency, run),
            concurrency=run.concurrency,
            start_concurrency=run.current_concurrency,
            timeout=run.reply_seconds,
        ),
        run.concurrency,
    )
