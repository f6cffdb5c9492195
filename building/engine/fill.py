"""Worker of a generation run: leases orders and stores each draft when it arrives."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator

from django.conf import settings

from building.engine import writings
from building.engine.choosing import backend_of
from building.engine.sources import brought_by, source_of
from building.engine.storing import store
from building.models import Draft, Order, Writing
from building.writers.base import Ask, Outcome, WriterBackend
from building.writing.outputs import Failure
from building.writing.tasks import TASKS
from judging.engine.fill import LOADING
from judging.execution import leases, states
from judging.llm.errors import BackendError
from judging.llm.errors import Failure as ServerFailure

SECONDS = 1.0  # between checks whether the run is still running
_ORDER_FAILURES = (ServerFailure.TOO_LONG.value, Failure.REFUSED.value)
MAX_ERRORS_IN_A_ROW = 20  # server errors in a row after which a worker stops


def fill(run: Writing, on_draft: Callable[[Draft], None] = lambda draft: None) -> None:
    """Work on a generation run, beside other workers, until it ends.

    Orders that others hold are waited for, in case their holders have died. Raises BackendError where this
    process cannot go on; the writing then says why.
    """
    worker = leases.worker_name()
    with states.giving_up(run, worker):
        writer = backend_of(run)
        while run.is_running:
            pump(run, writer, worker, on_draft=on_draft)
            while run.is_running and not leases.any_free(run):
                time.sleep(1)
                writings.finish_if_done(run)


def pump(
    run: Writing,
    writer: WriterBackend,
    worker: str,
    *,
    seconds: float | None = None,
    on_draft: Callable[[Draft], None] = lambda draft: None,
) -> None:
    """Work until no order is free, the run is no longer running, or `seconds` are over.

    What is in flight then is still waited for and kept. A worker that is killed loses what was in flight,
    and its orders are free when their leases run out. Raises what the writer raises when it cannot go on,
    and BackendError where a server fails at everything.
    """
    _Pump(run, writer, worker, seconds, on_draft).run_to_end()


class _Pump:
    def __init__(
        self,
        run: Writing,
        writer: WriterBackend,
        worker: str,
        seconds: float | None,
        on_draft: Callable[[Draft], None],
    ) -> None:
        self.run, self.writer, self.worker = run, writer, worker
        self.on_draft = on_draft
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.in_flight: dict[int, Order] = {}
        # Loading a model blocks this thread, so the first lease must outlast it.
        self.first_lease = LOADING if run.writer.is_in_process else None
        self.n_errors = 0
        self.messages_left: int | None = None  # messages left in the budget
        self.is_stopping = False
        self.last_checked = self.last_renewed = time.monotonic()

    def run_to_end(self) -> None:
        self.check_stop()
        outcomes = self.writer.outcomes(self.asks())
        try:
            for outcome in outcomes:
                if outcome is not None:
                    self.receive(outcome)
                self.check_in()
        finally:
            # Also when the writer gives up or somebody presses Ctrl-C.
            if isinstance(outcomes, Generator):
                outcomes.close()
            leases.give_back(self.run, self.in_flight, self.worker)
        writings.finish_if_done(self.run)

    def asks(self) -> Iterator[Ask]:
        """Lease orders one by one, each when the writer is ready for it."""
        while self.may_ask and (order := leases.take(self.run, self.worker, self.first_lease)):
            self.first_lease = None
            self.in_flight[order.pk] = order
            yield _ask(self.run, order)

    @property
    def may_ask(self) -> bool:
        if self.is_stopping or (self.deadline is not None and time.monotonic() > self.deadline):
            return False
        return self.messages_left is None or len(self.in_flight) < self.messages_left

    def receive(self, outcome: Outcome) -> None:
        draft = store(outcome, self.worker)  # None if the order was deleted
        self.in_flight.pop(outcome.ask.order, None)
        if self.messages_left is not None:
            self.messages_left -= 1
        if draft is None:
            return
        self.on_draft(draft)
        self.n_errors = self.n_errors + 1 if _is_server_error(outcome) else 0
        if self.n_errors >= MAX_ERRORS_IN_A_ROW:
            raise BackendError(
                f"{MAX_ERRORS_IN_A_ROW} replies in a row were errors. The last: {outcome.detail}"
            )

    def check_in(self) -> None:
        """Renew the leases, and check whether the run is still running."""
        instant = time.monotonic()
        if instant - self.last_checked >= SECONDS:
            self.check_stop()
        if instant - self.last_renewed >= settings.JUDGE_LEASE_SECONDS / 4:
            leases.renew(self.run, self.in_flight, self.worker)
            self.last_renewed = instant

    def check_stop(self) -> None:
        self.last_checked = time.monotonic()
        self.is_stopping = self.is_stopping or not states.goes_on(self.run)
        if self.run.max_messages is not None:
            self.messages_left = self.run.max_messages - self.run.spending().requests


def _is_server_error(outcome: Outcome) -> bool:
    """Return whether the server failed for a reason other than this order alone.

    Failures of the order itself are a document that is too long, and a refusal.
    """
    return bool(outcome.failure) and outcome.failure not in _ORDER_FAILURES


def _ask(run: Writing, order: Order) -> Ask:
    task = TASKS[run.writer.task]
    # A prompt that does not list existing items asks for all of them again, not for the rest.
    brought, missing = (brought_by(order), order.missing) if task.shows_existing else ((), 0)
    source = source_of(order.topic, order.document, order.inputs, brought, missing)
    number = order.drafts.filter(counts=True).count() + 1
    return Ask(
        order=order.pk,
        number=number,
        task=task,
        source=source,
        messages=writings.messages_of(run.writer, source),
        max_tokens=order.inputs.get("max_tokens", 0),
        seed=int(order.messages_hash[:7], 16) + 1_000 * order.sample + number,
    )
