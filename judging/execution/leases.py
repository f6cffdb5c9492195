"""Leases of a run's parts: a worker renews its lease, which expires if it dies.

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

from judging.execution.models import Leased, ModelRun

NEVER = datetime(9999, 1, 1, tzinfo=UTC)  # when a lease to an export runs out


def worker_name() -> str:
    """Return the name of this process in leases and batches: host and process id."""
    return f"{socket.gethostname()[:100]}:{os.getpid()}"


def lease_expiry(seconds: float | None = None) -> ExpressionWrapper:
    """Return the expiry of a lease that begins now.

    It lasts `seconds`, or JUDGE_LEASE_SECONDS by default.
    """
    lease = timedelta(seconds=settings.JUDGE_LEASE_SECONDS if seconds is None else seconds)
    return ExpressionWrapper(Now() + lease, output_field=DateTimeField())


def free() -> Q:
    """Return the condition of parts that may be leased: open, or with an expired lease."""
    silent = Q(state=Leased.State.LEASED, expires__lt=Now())
    # That they are not done is said as well, so that the index of those is used.
    return ~Q(state=Leased.State.DONE) & (Q(state=Leased.State.OPEN) | silent)


def any_free(run: ModelRun) -> bool:
    """Return whether a part of this run waits for a worker."""
    return run.parts.filter(free()).exists()


def any_unfinished(run: ModelRun) -> bool:
    """Return whether a part of this run is not done."""
    return run.parts.exclude(state=Leased.State.DONE).exists()


@transaction.atomic
def take(run: ModelRun, worker: str, seconds: float | None = None) -> Any:
    """Lease the next free part of a running run to this worker; None if there is none.

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
        state=Leased.State.LEASED, owner=worker, expires=lease_expiry(seconds)
    )
    return part


def renew(run: ModelRun, parts: Collection[int], worker: str) -> set[int]:
    """Renew the leases of these parts; return the parts that are still this worker's."""
    mine = _mine(run, parts, worker)
    mine.update(expires=lease_expiry())
    return set(mine.values_list("pk", flat=True))


def give_back(run: ModelRun, parts: Collection[int], worker: str) -> None:
    """Release these parts to other workers, with what is done in them."""
    _mine(run, parts, worker).update(state=Leased.State.OPEN, owner="", expires=None)


def finish(run: ModelRun, part: int, worker: str) -> None:
    """Mark a part as done.

    The owner stays, for who reads the run.
    """
    run.parts.filter(pk=part).exclude(state=Leased.State.DONE).update(
        state=Leased.State.DONE, owner=worker, expires=None
    )


def leased(run: ModelRun) -> QuerySet[Any]:
    """Return the parts of this run with a live lease."""
    return run.parts.filter(state=Leased.State.LEASED, expires__gte=Now())


def is_exported(run: ModelRun) -> bool:
    """Return whether parts of a run are leased to an export.

    They are until they are imported or the run is cancelled.
    """
    return run.is_running and run.parts.filter(expires=NEVER).exists()


def _mine(run: ModelRun, parts: Collection[int], worker: str) -> QuerySet[Any]:
    return run.parts.filter(pk__in=parts, owner=worker, state=Leased.State.LEASED)
