"""Two clients at the same time: real threads, each with a database connection of its own.

    first, second = at_once(
        lambda: client.post(address, {"title": "A"}),
        lambda: other_client.post(address, {"title": "B"}),
        after_reading=Campaign,
    )

`after_reading` makes the race happen each time: every call waits, after its first read of that model outside of
a transaction, until the others have read as well. Both then know the same row before either changes it. Where a
later read decides, give a part of its SQL in place of the model. A test needs `django_db(transaction=True)`:
other connections do not see a transaction that is never committed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from threading import Barrier, BrokenBarrierError, Thread
from typing import Any

from django.db import connection, connections, transaction
from django.db.models import Model

LONGEST = 60  # seconds until a thread that waits for the others, or is waited for, is given up

Call = Callable[[], Any]


@dataclass
class Outcome:
    """The result of one call: the value that it returned, or the exception that it raised."""

    value: Any = None
    error: BaseException | None = None

    @property
    def status(self) -> int:
        """The HTTP status of a response; an exception in the view is a 500."""
        return 500 if self.error else self.value.status_code


def at_once(*calls: Call, after_reading: type[Model] | str | None = None) -> list[Outcome]:
    """Run the calls in parallel, released by one barrier, and return their outcomes in order."""
    start, reading = Barrier(len(calls)), Barrier(len(calls))
    outcomes = [Outcome() for _ in calls]

    def run(call: Call, outcome: Outcome) -> None:
        wrapper = _WaitAfterReading(after_reading, reading) if after_reading else None
        try:
            start.wait(LONGEST)
            with connection.execute_wrapper(wrapper) if wrapper else nullcontext():
                outcome.value = call()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            outcome.error = error
        finally:
            if wrapper and not wrapper.has_waited:
                reading.abort()  # it never reads: the others need not wait for it
            connections.close_all()

    pairs = zip(calls, outcomes, strict=True)
    threads = [Thread(target=run, args=pair, daemon=True) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST)
        assert not thread.is_alive(), "a client still waits for another: a deadlock?"
    return outcomes


def while_uncommitted(change: Call, call: Call, before_commit: Call | None = None) -> Outcome:
    """Run `change`, and commit it once `call` of another thread waits for it or has ended.

    It forces the order of two writers: a call that reads under a lock sees the change; one that reads
    without the lock has read the old values before it waits. `before_commit` runs first: it is in a
    deadlock if it needs a row that the call has locked.
    """
    outcome = Outcome()

    def run() -> None:
        try:
            outcome.value = call()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            outcome.error = error
        finally:
            connections.close_all()

    thread = Thread(target=run, daemon=True)
    with transaction.atomic():
        change()
        thread.start()
        # SQLite has one writer at a time, and needs no such wait.
        until = time.monotonic() + LONGEST
        while connection.vendor == "postgresql" and thread.is_alive() and not _blocks_another():
            assert time.monotonic() < until, "the call neither ends nor waits"
            time.sleep(0.02)
        if before_commit:
            before_commit()
    thread.join(LONGEST)
    assert not thread.is_alive(), "the call still waits: a deadlock?"
    return outcome


def _blocks_another() -> bool:
    """Return whether another connection waits for a lock of this one, on PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select exists(select 1 from pg_locks"
            " where not granted and pg_backend_pid() = any(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])


def rounds(
    times: int,
    prepare: Callable[[int], Sequence[Call]],
    after_reading: type[Model] | str | None = None,
) -> Iterator[list[Outcome]]:
    """Repeat `at_once` with the calls that `prepare` returns for each round: 0, 1 and so on."""
    for number in range(times):
        yield at_once(*prepare(number), after_reading=after_reading)


class _WaitAfterReading:
    """Query wrapper that waits for the others after its first read of a table.

    Within a transaction it never waits: SQLite lets one client at a time into one.
    """

    def __init__(self, read: type[Model] | str, barrier: Barrier) -> None:
        self.part = read if isinstance(read, str) else f'"{read._meta.db_table}"'
        self.barrier = barrier
        self.has_waited = False

    def __call__(self, execute: Any, sql: str, params: Any, executemany: bool, context: Any) -> Any:
        result = execute(sql, params, executemany, context)
        is_read = sql.startswith("SELECT") and self.part in sql
        if is_read and not self.has_waited and not context["connection"].in_atomic_block:
            self.has_waited = True
            with suppress(BrokenBarrierError):  # another one has ended without reading
                self.barrier.wait(LONGEST)
        return result
