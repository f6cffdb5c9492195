"""Worker of a run: leases shards, asks the grader, and stores replies in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.conf import settings

from annotation.plurals import n_of
from judging.engine import runs
from judging.engine.judge_test_pairs import pairs_to_ask
from judging.engine.pair_loader import PairLoader
from judging.engine.storing import Copies, store, store_copies, store_test_replies
from judging.execution import leases, states
from judging.graders.base import MAX_CONSECUTIVE_ERRORS, ErrorStreak, Grader
from judging.grading.pairs import Pair, Reply
from judging.llm.errors import BackendError
from judging.models import Attempt, Batch, Judge, JudgeRun, Shard

BATCH = 64  # replies written at once: what a killed worker loses, beside the requests in flight
SECONDS = 1.0  # and no reply waits longer than this for others
LOADING = 1_800.0  # seconds that a model may take to come into this process
Key = tuple[int, int, int]  # of text, question and repeat


@dataclass
class WorkerCounts:
    """Counts of one worker, in pairs."""

    sent: int = 0
    graded: int = 0
    failed: int = 0


def pump(
    run: JudgeRun,
    grader: Grader,
    worker: str,
    *,
    batch: int = BATCH,
    seconds: float | None = None,
    on_batch: Callable[[Batch], None] | None = None,
) -> WorkerCounts:
    """Work on a run until no shard is free, it stops, or `seconds` are over.

    Any number of workers may pump one run. Replies are written in batches of `batch`, or after a second;
    what is in flight when the run is paused, cancelled or over its budget is still waited for and kept.
    A worker that is killed loses what it had not written, and its shards are free when their leases
    run out. Raises what the grader raises when it cannot go on, and BackendError if it does not give one
    reply to each pair, or errors alone for a long while; all replies until then are stored, and the shards
    are given back.
    """
    return _Pump(run, grader, worker, batch, seconds, on_batch).run_to_end()


class _Pump:
    def __init__(
        self,
        run: JudgeRun,
        grader: Grader,
        worker: str,
        batch: int,
        seconds: float | None,
        on_batch: Callable[[Batch], None] | None,
    ) -> None:
        self.run, self.grader, self.worker = run, grader, worker
        self.batch, self.on_batch = batch, on_batch
        self.ends = None if seconds is None else time.monotonic() + seconds
        self.done = WorkerCounts()
        self.is_stopping = False
        self.room: int | None = None  # pairs that the budget still has for this worker
        self.leased: dict[int, Shard] = {}  # to this worker, by key
        self.reserved: list[Shard] = []  # leased before the grader was ready
        self.unanswered: dict[int, set[Key]] = {}  # pairs of a leased shard without a stored reply
        self.in_flight: dict[Key, Shard] = {}  # pairs in flight
        self.waiting: list[tuple[Shard, Reply]] = []  # not yet written
        self.duplicates: dict[tuple[int, int], list[int]] = {}
        self.error_streak = ErrorStreak(MAX_CONSECUTIVE_ERRORS)
        self.checked_at = self.renewed_at = time.monotonic()
        self.renew_after = settings.JUDGE_LEASE_SECONDS / 4

    def run_to_end(self) -> WorkerCounts:
        self.check_state()
        if self.run.judge.backend == Judge.Backend.VLLM:
            self.reserve_shard()
        replies = self.grader.replies(self.pairs())
        try:
            for reply in replies:
                if reply is not None:
                    self.receive(reply)
                self.poll()
        finally:
            # Also when the grader gives up or somebody presses Ctrl-C: what is here was paid for.
            self.leave(replies)
        if self.in_flight:
            raise BackendError(
                f"The grader gave no reply to {n_of(len(self.in_flight), 'pair', ',')}."
            )
        runs.finish_if_done(self.run)
        return self.done

    def reserve_shard(self) -> None:
        """Lease a shard before the model is loaded, which lets nothing else happen here.

        Otherwise the run would look as if nobody worked at it: a worker without a GPU would be woken,
        and pause the run because it has none. Or else the run would look as if nobody worked at it: a
        worker without a GPU would be woken, and pause the run because it has none.
        """
        if self.may_ask and (shard := leases.take(self.run, self.worker, LOADING)):
            self.reserved.append(shard)
            self.leased[shard.pk], self.unanswered[shard.pk] = shard, set()

    def next_shard(self) -> Shard | None:
        return self.reserved.pop() if self.reserved else leases.take(self.run, self.worker)

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs of one shard after another, leased when the grader is ready."""
        while self.may_ask and (shard := self.next_shard()):
            pairs = pairs_to_ask(self.run, shard) if self.run.test else self.load(shard)
            self.leased[shard.pk] = shard
            self.unanswered[shard.pk] = {_key(pair) for pair in pairs}
            if not pairs:
                self.close(shard.pk)
            # A shard whose lease was lost, and which nobody else took, may come back to us.
            in_flight = self.in_flight.keys() | {_key(reply.pair) for _, reply in self.waiting}
            for pair in pairs:
                if _key(pair) in in_flight:
                    continue
                if not self.may_ask:
                    return
                if shard.pk not in self.leased:
                    break  # its lease was lost: another worker asks
                self.in_flight[_key(pair)] = shard
                yield pair

    @property
    def may_ask(self) -> bool:
        if self.is_stopping or (self.ends is not None and time.monotonic() > self.ends):
            return False
        return self.room is None or len(self.in_flight) + len(self.waiting) < self.room

    def load(self, shard: Shard) -> list[Pair]:
        """Return the pairs of a shard without a reply: its last holder may have done some.

        Where another run has asked about one of the texts that are asked alike, its reply is copied.
        """
        loader = PairLoader(
            self.run.judge.spec,
            {text for group in shard.groups for text in group[0]},
            {question for group in shard.groups for question in group[1]},
        )
        settled = Attempt.objects.settled_for(self.run).filter(text_id__in=loader.texts.keys())
        replied = {
            (text, question): attempt
            for text, question, attempt in settled.values_list(
                "text_id", "question_id", "pk"
            ).order_by()
        }
        pairs: list[Pair] = []
        copies: Copies = []
        for group, question_ids in shard.groups:
            existing = [text for text in group if text in loader.texts]  # not deleted since
            for question in question_ids:
                lacking = [text for text in existing if (text, question) not in replied]
                if question not in loader.questions or not lacking:
                    continue
                attempts = (replied.get((text, question)) for text in existing)
                source = None if self.run.is_retry else next(filter(None, attempts), None)
                if source:
                    copies += [(source, text) for text in lacking]
                    continue
                first, *duplicates = lacking
                if duplicates:
                    self.duplicates[first, question] = duplicates
                pairs.append(loader.pair(first, question))
        store_copies(self.run, self.worker, copies)
        return pairs

    def receive(self, reply: Reply) -> None:
        shard = self.in_flight.pop(_key(reply.pair), None)
        if shard is None:
            raise BackendError(
                f"The grader gave a second reply, or one to a pair that it was not asked: "
                f"text {reply.pair.text_id}, question {reply.pair.question_id}."
            )
        self.waiting.append((shard, reply))
        self.error_streak.count(reply)

    def poll(self) -> None:
        """Write replies, renew the leases, and check whether the run still goes on."""
        now = time.monotonic()
        if len(self.waiting) >= self.batch or (self.waiting and now - self.checked_at >= SECONDS):
            self.write()
        if now - self.checked_at >= SECONDS:
            self.check_state()
        if now - self.renewed_at >= self.renew_after:
            for shard_id in self.leased.keys() - leases.renew(self.run, self.leased, self.worker):
                del self.leased[shard_id], self.unanswered[shard_id]
            self.renewed_at = now

    def check_state(self) -> None:
        self.checked_at = time.monotonic()
        self.is_stopping = self.is_stopping or not states.goes_on(self.run)
        if self.run.max_pairs is not None:
            self.room = self.run.max_pairs - self.run.spending().requests

    def write(self) -> None:
        self.waiting.sort(key=_number)
        for _, entries in groupby(list(self.waiting), key=_number):
            shards, replies = zip(*entries, strict=True)
            if self.run.test:
                stored = store_test_replies(self.run, shards[0], self.worker, replies)
            else:
                stored = store(self.run, shards[0], self.worker, replies, self.duplicates)
            del self.waiting[: len(replies)]
            self.note(shards[0].pk, replies, stored)
        self.check_state()

    def note(self, shard: int, replies: Sequence[Reply], stored: Batch) -> None:
        self.done.sent += stored.n_sent
        self.done.graded += stored.n_graded
        self.done.failed += stored.n_attempts - stored.n_graded
        for reply in replies:
            self.duplicates.pop((reply.pair.text_id, reply.pair.question_id), None)
        if shard in self.unanswered:
            self.unanswered[shard].difference_update(_key(reply.pair) for reply in replies)
            if not self.unanswered[shard]:
                self.close(shard)
        if self.on_batch:
            self.on_batch(stored)

    def close(self, shard: int) -> None:
        leases.finish(self.run, shard, self.worker)
        del self.leased[shard], self.unanswered[shard]

    def leave(self, replies: Iterator[Reply | None]) -> None:
        try:
            if isinstance(replies, Generator):
                replies.close()
        finally:
            try:
                self.write()
            finally:
                leases.give_back(self.run, self.leased, self.worker)


def _number(entry: tuple[Shard, Reply]) -> int:
    return entry[0].number


def _key(pair: Pair) -> Key:
    return pair.text_id, pair.question_id, pair.repeat
