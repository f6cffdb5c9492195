"""Leases of shards, who works on which: a lease that its holder renews, and that runs out if it dies.

Times are the database's, so that the clocks of the machines need not agree.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import DateTimeField, ExpressionWrapper, Q
from django.db.models.functions import Now

from judging.models import JudgeRun, Shard

NEVER = datetime(9999, 1, 1, tzinfo=UTC)  # when a lease to an export runs out


def worker_name() -> str:
    """How this process is called in leases and batches: the machine and the process."""
    return f"{socket.gethostname()[:100]}:{os.getpid()}"


def until(seconds: float | None = None) -> ExpressionWrapper:
    """When a lease that begins now runs out: after JUDGE_LEASE_SECONDS, where nothing else is said."""
    lease = timedelta(seconds=settings.JUDGE_LEASE_SECONDS if seconds is None else seconds)
    return ExpressionWrapper(Now() + lease, output_field=DateTimeField())


def free() -> Q:
    """Shards that anybody may take: open, or lent to a worker that has not been heard of."""
    silent = Q(state=Shard.State.LEASED, expires__lt=Now())
    # That they are not done is said as well, so that the index of those is used.
    return ~Q(state=Shard.State.DONE) & (Q(state=Shard.State.OPEN) | silent)


def any_free(run: JudgeRun) -> bool:
    """Whether a shard of this run waits for a worker."""
    return run.shards.filter(free()).exists()


@transaction.atomic
def take(run: JudgeRun, worker: str, seconds: float | None = None) -> Shard | None:
    """The next free shard of a running run, lent to this worker; None if there is none.

    Workers that ask at once get different shards: those that another one is about to take are passed
    over, and where the database cannot do that it lets one ask at a time.
    """
    skip = connection.features.has_select_for_update_skip_locked
    shards = run.shards.filter(free(), run__state=JudgeRun.State.RUNNING).order_by("number")
    if connection.features.has_select_for_update:
        shards = shards.select_for_update(skip_locked=skip, of=("self",))
    shard = shards.first()
    if shard is None:
        return None
    Shard.objects.filter(pk=shard.pk).update(
        state=Shard.State.LEASED, owner=worker, expires=until(seconds)
    )
    return shard


def renew(shards: Collection[int], worker: str) -> set[int]:
    """Keep these shards for another while; returns those that are still this worker's."""
    mine = Shard.objects.filter(pk__in=shards, owner=worker, state=Shard.State.LEASED)
    mine.update(expires=until())
    return set(mine.values_list("pk", flat=True))


def give_back(shards: Collection[int], worker: str) -> None:
    """Leave these shards to others, with what is done in them."""
    Shard.objects.filter(pk__in=shards, owner=worker, state=Shard.State.LEASED).update(
        state=Shard.State.OPEN, owner="", expires=None
    )


def finish(shard: int, worker: str) -> None:
    """Say that all pairs of a shard have an attempt. The owner stays, for who reads the run."""
    Shard.objects.filter(pk=shard).exclude(state=Shard.State.DONE).update(
        state=Shard.State.DONE, owner=worker, expires=None
    )


def held(run: JudgeRun) -> Q:
    """Leases of this run that are alive."""
    return Q(run=run, state=Shard.State.LEASED, expires__gte=Now())


def is_abroad(run: JudgeRun) -> bool:
    """Whether pairs of a run are lent to an export, until they are imported or it is cancelled."""
    return run.is_running and run.shards.filter(expires=NEVER).exists()
