"""A worker at a writing: orders in, drafts out, each written as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator

from django.conf import settings

from building.engine import writings
from building.engine.choosing import at_work
from building.engine.sources import brought_by, source_of
from building.engine.storing import store
from building.models import Draft, Order, Writing
from building.writers.base import Ask, Outcome, WriterAtWork
from building.writing.products import Failure
from building.writing.tasks import TASKS
from judging.engine import leases, states
from judging.engine.fill import LOADING
from judging.graders.base import GraderError
from judging.grading.pairs import Failure as ServerFailure

SECONDS = 1.0  # between looks at whether the writing still goes on
_OF_THE_ORDER = (ServerFailure.TOO_LONG.value, Failure.REFUSED.value)
IN_VAIN = 20  # failures of the server in a row after which a worker stops


def fill(run: Writing, on_draft: Callable[[Draft], None] = lambda draft: None) -> None:
    """Work at a writing, beside whoever else does, until it stands still.

    Orders that others hold are waited for, in case their holders have died. Raises GraderError where this
    process cannot go on; the writing then says why.
    """
    worker = leases.worker_name()
    with states.giving_up(run, worker):
        writer = at_work(run)
        while run.is_running:
            pump(run, writer, worker, on_draft=on_draft)
            while run.is_running and not leases.any_free(run):
                time.sleep(1)
                writings.finish_if_done(run)


def pump(
    run: Writing,
    writer: WriterAtWork,
    worker: str,
    *,
    seconds: float | None = None,
    on_draft: Callable[[Draft], None] = lambda draft: None,
) -> None:
    """Work until nothing is free, the writing is no longer running, or `seconds` are over.

    What is in flight then is still waited for and kept. A worker that is killed loses what was in flight,
    and its orders are free when their leases run out. Raises what the writer raises when it cannot go on,
    and GraderError where a server fails at everything.
    """
    _Pump(run, writer, worker, seconds, on_draft).run_to_end()


class _Pump:
    def __init__(
        self,
        run: Writing,
        writer: WriterAtWork,
        worker: str,
        seconds: float | None,
        on_draft: Callable[[Draft], None],
    ) -> None:
        self.run, self.writer, self.worker = run, writer, worker
        self.on_draft = on_draft
        self.ends = None if seconds is None else time.monotonic() + seconds
        self.lent: dict[int, Order] = {}  # in flight
        # While a model is loaded nothing else happens here, and somebody must be seen at the writing.
        self.first_lease = LOADING if run.writer.is_in_process else None
        self.in_vain = 0
        self.room: int | None = None  # messages that the budget still has
        self.is_stopping = False
        self.looked = self.renewed = time.monotonic()

    def run_to_end(self) -> None:
        self.ask_whether_to_stop()
        outcomes = self.writer.outcomes(self.asks())
        try:
            for outcome in outcomes:
                if outcome is not None:
                    self.receive(outcome)
                self.look_up()
        finally:
            # Also when the writer gives up or somebody presses Ctrl-C.
            if isinstance(outcomes, Generator):
                outcomes.close()
            leases.give_back(self.run, self.lent, self.worker)
        writings.finish_if_done(self.run)

    def asks(self) -> Iterator[Ask]:
        """One order after another, each leased when the writer is ready for it."""
        while self.may_ask and (order := leases.take(self.run, self.worker, self.first_lease)):
            self.first_lease = None
            self.lent[order.pk] = order
            yield _ask(self.run, order)

    @property
    def may_ask(self) -> bool:
        if self.is_stopping or (self.ends is not None and time.monotonic() > self.ends):
            return False
        return self.room is None or len(self.lent) < self.room

    def receive(self, outcome: Outcome) -> None:
        draft = store(outcome, self.worker)  # None where the order is gone
        self.lent.pop(outcome.ask.order, None)
        if self.room is not None:
            self.room -= 1
        if draft is None:
            return
        self.on_draft(draft)
        self.in_vain = self.in_vain + 1 if _is_in_vain(outcome) else 0
        if self.in_vain >= IN_VAIN:
            raise GraderError(f"{IN_VAIN} replies in a row were errors. The last: {outcome.detail}")

    def look_up(self) -> None:
        """Keep the leases, and see whether the writing still goes on."""
        now = time.monotonic()
        if now - self.looked >= SECONDS:
            self.ask_whether_to_stop()
        if now - self.renewed >= settings.JUDGE_LEASE_SECONDS / 4:
            leases.renew(self.run, self.lent, self.worker)
            self.renewed = now

    def ask_whether_to_stop(self) -> None:
        self.looked = time.monotonic()
        self.is_stopping = self.is_stopping or not states.goes_on(self.run)
        if self.run.max_messages is not None:
            self.room = self.run.max_messages - self.run.spent().asked


def _is_in_vain(outcome: Outcome) -> bool:
    """Whether the server failed, and not at this alone: at a document that is too long, or by refusing it."""
    return bool(outcome.failure) and outcome.failure not in _OF_THE_ORDER


def _ask(run: Writing, order: Order) -> Ask:
    task = TASKS[run.writer.task]
    # Whose prompt shows nothing that is there is asked for all anew, not for the rest.
    brought, missing = (brought_by(order), order.missing) if task.shows_have else ((), 0)
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
