"""Read replica of the database, for pages of results: DATABASE_REPLICA_URL."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.models import Model

from annotation.models import (
    ApiToken,
    Invitation,
    Membership,
    RequestCount,
    SharedLink,
    User,
)

REPLICA = "replica"
WAIT_SECONDS = 0.5
"""How long a page waits for a replica to have what was written before the request."""
_READ_APPS = ("annotation", "evaluation", "judging", "building")
# Access is decided by the newest rows.
_NEVER_READ = (ApiToken, Invitation, Membership, RequestCount, SharedLink, User)
_STATE = """
select pg_last_wal_replay_lsn() >= %s::pg_lsn, pg_last_xact_replay_timestamp()
"""
_LOG = logging.getLogger(__name__)
_reads_replica = ContextVar("whether this context reads the replica", default=False)


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """State of the replica that a page read."""

    is_current: bool | None
    """Whether it has everything that was written before the page; None if it is no standby."""
    last_commit: datetime | None
    """Time of its newest transaction."""


class ReplicaRouter:
    """Database router: queries within `results_database` read the replica."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        may_read = model._meta.app_label in _READ_APPS and model not in _NEVER_READ
        return REPLICA if may_read and _reads_replica.get() else DEFAULT_DB_ALIAS

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: Model, second: Model, **hints: Any) -> bool:
        return True  # the same rows

    def allow_migrate(self, database: str, app_label: str, **hints: Any) -> bool:
        return database == DEFAULT_DB_ALIAS


@contextmanager
def results_database() -> Iterator[ReplicaState | None]:
    """Read the replica within this context; yield its state.

    None without a replica, and if it does not answer: the primary is read then.
    """
    state = _read_state() if REPLICA in settings.DATABASES else None
    token = _reads_replica.set(state is not None)
    try:
        yield state
    finally:
        _reads_replica.reset(token)


def _read_state() -> ReplicaState | None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("select pg_current_wal_insert_lsn()")
        [written] = cursor.fetchone()
    deadline = time.monotonic() + WAIT_SECONDS
    try:
        with connections[REPLICA].cursor() as cursor:
            while True:
                cursor.execute(_STATE, [written])
                state = ReplicaState(*cursor.fetchone())
                if state.is_current is not False or time.monotonic() > deadline:
                    return state
                time.sleep(0.02)
    except OperationalError as error:
        _LOG.warning("the replica does not answer, results are read from the primary: %s", error)
        return None
