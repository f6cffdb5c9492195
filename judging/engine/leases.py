"""Leases of a run's parts, who works on which: a lease that its holder renews, and that runs out if it dies.

Times are the database's, so that the clocks of the machines need not agree.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import DateTimeField, ExpressionWrapper, Q, QuerySet
from django.db.models.functions import Now

from judging.models.leased import Leased
from judging.models.run import ModelRun

NEVER = datetime(9999, 1, 1, tzinfo=UTC)  # when a lease to an export runs out


def worker_name() -> str:
    """How this process is called in leases and batches: the machine and the process."""
    return f"{socket.gethostname()[:100]}:{os.getpid()}"


def until(seconds: float | None = None) -> ExpressionWrapper:
    """When a lease that begins now runs out: after JUDGE_LEASE_SECONDS, where nothing else is said."""
    lease = timedelta(seconds=settings.JUDGE_LEASE_SECONDS if seconds is None else seconds)
    return ExpressionWrapper(Now() + lease, output_field=DateTimeField())


def free() -> Q:
    """Parts that anybody may take: open, or lent to a worker that has not been heard of."""
    silent = Q(state=Leased.State.LEASED, expires__lt=Now())
    # That they are not done is said as well, so that the index of those is used.
    return ~Q(state=Leased.State.DONE) & (Q(state=Leased.State.OPEN) | silent)


def any_free(run: ModelRun) -> bool:
    """Whether a part of this run waits for a worker."""
    return run.parts.filter(free()).exists()


def any_left(run: ModelRun) -> bool:
    """Whether a part of this run is not done."""
    return run.parts.exclude(state=Leased.State.DONE).exists()


@transaction.atomic
def take(run: ModelRun, worker: str, seconds: float | None = None) -> Any:
    """The next free part of a running run, lent to this worker; None if there is none.

    Workers that ask at once get different parts: those that another one is about to take are passed
    over, and where the database cannot do that it lets one ask at a time.
    """
    skip = connection.features.has_select_for_update_skip_locked
    parts = run.parts.filter(free(), run__state=ModelRun.State.RUNNING).order_by("number")
    if connection.features.has_select_for_update:
        parts = parts.select_for_update(skip_locked=skip, of=("self",))
    part = parts.first()
    if part is None:
        return None
    run.parts.filter(pk=part.pk).update(
        state=Leased.State.LEASED, owner=worker, expires=until(seconds)
    )
    return part


def renew(run: ModelRun, parts: Collection[int], worker: str) -> set[int]:
    """Keep these parts for another while; returns those that are still this worker's."""
    mine = _mine(run, parts, worker)
    mine.update(expires=until())
    return set(mine.values_list("pk", flat=True))


def give_back(run: ModelRun, parts: Collection[int], worker: str) -> None:
    """Leave these parts to others, with what is done in them."""
    _mine(run, parts, worker).update(state=Leased.State.OPEN, owner="", expires=None)


def finish(run: ModelRun, part: int, worker: str) -> None:
    """Say that all of a part is done. The owner stays, for who reads the run."""
    run.parts.filter(pk=part).exclude(state=Leased.State.DONE).update(
        state=Leased.State.DONE, owner=worker, expires=None
    )


def held(run: ModelRun) -> QuerySet[Any]:
    """The parts of this run that somebody holds by a lease that is alive."""
    return run.parts.filter(state=Leased.State.LEASED, expires__gte=Now())


def is_abroad(run: ModelRun) -> bool:
    """Whether parts of a run are lent to an export, until they are imported or it is cancelled."""
    return run.is_running and run.parts.filter(expires=NEVER).exists()


def _mine(run: ModelRun, parts: Collection[int], worker: str) -> QuerySet[Any]:
    return run.parts.filter(pk__in=parts, owner=worker, state=Leased.State.LEASED)
