"""Choosing the grader of a judge, where this machine has what it needs."""

import os
from functools import partial

from django.conf import settings

from annotation.models import Project
from judging.engine import runs
from judging.engine.endpoints import address_named, is_of_project
from judging.engine.judges import baseline_of, baseline_under
from judging.execution import states
from judging.execution.models import ENDPOINT_SEPARATOR
from judging.graders.base import Grader
from judging.graders.chat import OpenAIGrader, VllmGrader
from judging.grading.variants import varied_spec
from judging.llm.errors import BackendError
from judging.llm.route import PLAIN, Route
from judging.llm.server import Address
from judging.llm.timeouts import reply_seconds
from judging.models import Judge, JudgeRun

BASELINE_BATCH = 2_000
VLLM_BATCH = 256


def addresses_of(endpoint: str, project: Project | None = None) -> list[Address]:
    """Return the servers of an endpoint's name on this machine; a URL stands for itself.

    ENDPOINT_SEPARATOR separates names, and the URLs of a name. Keys of the environment's names are in the
    environment of this process. A server of a project (project:SLUG/NAME) is known to that project alone, with
    its key from the database. Raises BackendError for a name that is not known here.
    """
    if is_of_project(endpoint):
        if project is None:
            raise BackendError(
                "A server of a project can be used for datasets of this project only."
            )
        return [address_named(endpoint, project)]
    route = Route(ca_file=settings.JUDGE_CA_BUNDLE) if settings.JUDGE_CA_BUNDLE else PLAIN
    return [
        Address(url, _key_of(name), route)
        for name in endpoint.split(ENDPOINT_SEPARATOR)
        for url in _urls_of(name).split(ENDPOINT_SEPARATOR)
    ]


def _urls_of(endpoint: str) -> str:
    if "://" in endpoint:
        return endpoint
    if endpoint in settings.JUDGE_ENDPOINTS:
        return str(settings.JUDGE_ENDPOINTS[endpoint])
    names = f"JUDGE_ENDPOINTS names: {', '.join(settings.JUDGE_ENDPOINTS) or 'none'}."
    if not endpoint:
        raise BackendError(f"A model needs a server: name one as its endpoint. {names}")
    hint = " An address begins with http:// or https://." if set(endpoint) & set(":/") else ""
    raise BackendError(f"This machine knows no endpoint {endpoint!r}; {names}{hint}")


def _key_of(endpoint: str) -> str | None:
    name = "" if "://" in endpoint else endpoint.upper().replace("-", "_")
    return os.environ.get(f"JUDGE_KEY_{name}" if name else "JUDGE_KEY")


def seconds_of(run: JudgeRun) -> int | None:
    """Return the timeout of a reply of a run, in seconds.

    None where the run asks no server that is known here.
    """
    if run.reply_seconds or run.judge.backend != Judge.Backend.OPENAI:
        return run.reply_seconds
    try:
        urls = [address.url for address in addresses_of(run.endpoint)]
    except BackendError:
        return None
    return reply_seconds(run.judge.spec.sampling, urls)


def grader_of(run: JudgeRun) -> tuple[Grader, int]:
    """Return the grader of a run's judge, and the number of replies to write at once.

    Raises BackendError where it cannot work here: an unknown endpoint, a missing package, a corpus that
    has changed since the baseline was made.
    """
    judge = run.judge
    if judge.backend == Judge.Backend.LEXICAL:
        current, grader = baseline_of(run.dataset, baseline_under(judge.rubric.slug))
        if current.pk != judge.pk:
            raise BackendError(
                f"The passages have changed since {judge} was made: the baseline is now {current}."
            )
        return grader, BASELINE_BATCH
    spec = varied_spec(run.test, judge.spec)
    if judge.backend == Judge.Backend.VLLM:
        return VllmGrader(spec, engine_args=settings.JUDGE_VLLM_ARGS), VLLM_BATCH
    first, *more = addresses_of(run.endpoint, run.dataset.project)
    return (
        OpenAIGrader(
            spec,
            first.url,
            key=first.key,
            route=first.route,
            other_addresses=more,
            on_aside=partial(states.put_server_aside, run),
            on_concurrency=partial(runs.note_concurrency, run),
            concurrency=run.concurrency,
            start_concurrency=run.current_concurrency,
            timeout=run.reply_seconds,
        ),
        run.concurrency,
    )
