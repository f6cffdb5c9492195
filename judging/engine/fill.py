"""A worker at a run: shards in, replies out, everything written as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.conf import settings

from judging.engine import leases, runs, states
from judging.engine.shown import Shown
from judging.engine.storing import Copies, store, store_copies
from judging.graders.base import IN_VAIN, Grader, GraderError, InVain
from judging.grading.pairs import Pair, Reply
from judging.models import Attempt, Batch, Judge, JudgeRun, Shard

BATCH = 64  # replies written at once: what a killed worker loses, beside the requests in flight
SECONDS = 1.0  # and no reply waits longer than this for others
LOADING = 1_800.0  # seconds that a model may take to come into this process
Key = tuple[int, int]


@dataclass
class Done:
    """What one worker did, in pairs."""

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
) -> Done:
    """Work on a run until nothing of it is free, it is no longer running, or `seconds` are over.

    Any number of workers may pump one run. Replies are written in batches of `batch`, or after a second;
    what is in flight when the run is paused, cancelled or over its budget is still waited for and kept.
    A worker that is killed loses what it had not written, and its shards are free when their leases
    run out. Raises what the grader raises when it cannot go on, and GraderError if it does not give one
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
        self.done = Done()
        self.is_stopping = False
        self.room: int | None = None  # pairs that the budget still has for this worker
        self.lent: dict[int, Shard] = {}  # to this worker
        self.ahead: list[Shard] = []  # lent before the grader was ready
        self.left: dict[int, set[Key]] = {}  # pairs of a lent shard without a stored reply
        self.asked: dict[Key, Shard] = {}  # pairs in flight
        self.waiting: list[tuple[Shard, Reply]] = []  # not yet written
        self.twins: dict[Key, list[int]] = {}
        self.in_vain = InVain(IN_VAIN)
        self.looked = self.renewed = time.monotonic()
        self.renew_after = settings.JUDGE_LEASE_SECONDS / 4

    def run_to_end(self) -> Done:
        self.ask_whether_to_stop()
        if self.run.judge.backend == Judge.Backend.VLLM:
            self.hold_one()
        replies = self.grader.replies(self.pairs())
        try:
            for reply in replies:
                if reply is not None:
                    self.receive(reply)
                self.look_up()
        finally:
            # Also when the grader gives up or somebody presses Ctrl-C: what is here was paid for.
            self.leave(replies)
        if self.asked:
            raise GraderError(f"The grader gave no reply to {len(self.asked):,} pairs.")
        runs.finish_if_done(self.run)
        return self.done

    def hold_one(self) -> None:
        """Be seen at the run while the model is loaded, which lets nothing else happen here.

        Or else the run would look as if nobody worked at it: a worker without a GPU would be woken, and
        pause the run because it has none.
        """
        if self.may_ask and (shard := leases.take(self.run, self.worker, LOADING)):
            self.ahead.append(shard)
            self.lent[shard.pk], self.left[shard.pk] = shard, set()

    def next_shard(self) -> Shard | None:
        return self.ahead.pop() if self.ahead else leases.take(self.run, self.worker)

    def pairs(self) -> Iterator[Pair]:
        """Pairs of one shard after another, each leased when the grader is ready for it."""
        while self.may_ask and (shard := self.next_shard()):
            pairs = self.load(shard)
            self.lent[shard.pk] = shard
            self.left[shard.pk] = {_key(pair) for pair in pairs}
            if not pairs:
                self.close(shard.pk)
            # A shard whose lease was lost, and which nobody else took, may come back to us.
            here = self.asked.keys() | {_key(reply.pair) for _, reply in self.waiting}
            for pair in pairs:
                if _key(pair) in here:
                    continue
                if not self.may_ask:
                    return
                if shard.pk not in self.lent:
                    break  # its lease was lost: another worker asks
                self.asked[_key(pair)] = shard
                yield pair

    @property
    def may_ask(self) -> bool:
        if self.is_stopping or (self.ends is not None and time.monotonic() > self.ends):
            return False
        return self.room is None or len(self.asked) + len(self.waiting) < self.room

    def load(self, shard: Shard) -> list[Pair]:
        """The pairs of a shard that have no reply: its last holder may have done some.

        Where another run has asked about one of the texts that are asked alike, its reply is copied.
        """
        shown = Shown(
            self.run.judge.spec,
            {text for group in shard.groups for text in group[0]},
            {question for group in shard.groups for question in group[1]},
        )
        settled = Attempt.objects.settled_for(self.run).filter(text_id__in=shown.texts.keys())
        replied = {
            (text, question): attempt
            for text, question, attempt in settled.values_list(
                "text_id", "question_id", "pk"
            ).order_by()
        }
        pairs: list[Pair] = []
        copies: Copies = []
        for group, asked in shard.groups:
            there = [text for text in group if text in shown.texts]  # not deleted since
            for question in asked:
                lacking = [text for text in there if (text, question) not in replied]
                if question not in shown.questions or not lacking:
                    continue
                known = (replied.get((text, question)) for text in there)
                source = None if self.run.is_retry else next(filter(None, known), None)
                if source:
                    copies += [(source, text) for text in lacking]
                    continue
                first, *others = lacking
                if others:
                    self.twins[first, question] = others
                pairs.append(shown.pair(first, question))
        store_copies(self.run, self.worker, copies)
        return pairs

    def receive(self, reply: Reply) -> None:
        shard = self.asked.pop(_key(reply.pair), None)
        if shard is None:
            raise GraderError(
                f"The grader gave a second reply, or one to a pair that it was not asked: "
                f"text {reply.pair.text_id}, question {reply.pair.question_id}."
            )
        self.waiting.append((shard, reply))
        self.in_vain.look_at(reply)

    def look_up(self) -> None:
        """Write what has come, keep the leases, and see whether the run still goes on."""
        now = time.monotonic()
        if len(self.waiting) >= self.batch or (self.waiting and now - self.looked >= SECONDS):
            self.write()
        if now - self.looked >= SECONDS:
            self.ask_whether_to_stop()
        if now - self.renewed >= self.renew_after:
            for lost in self.lent.keys() - leases.renew(self.run, self.lent, self.worker):
                del self.lent[lost], self.left[lost]
            self.renewed = now

    def ask_whether_to_stop(self) -> None:
        self.looked = time.monotonic()
        self.is_stopping = self.is_stopping or not states.goes_on(self.run)
        if self.run.max_pairs is not None:
            self.room = self.run.max_pairs - self.run.spent().asked

    def write(self) -> None:
        self.waiting.sort(key=_number)
        for _, held in groupby(list(self.waiting), key=_number):
            shards, replies = zip(*held, strict=True)
            stored = store(self.run, shards[0], self.worker, replies, self.twins)
            del self.waiting[: len(replies)]
            self.note(shards[0].pk, replies, stored)
        self.ask_whether_to_stop()

    def note(self, shard: int, replies: Sequence[Reply], stored: Batch) -> None:
        self.done.sent += stored.n_sent
        self.done.graded += stored.n_graded
        self.done.failed += stored.n_attempts - stored.n_graded
        for reply in replies:
            self.twins.pop(_key(reply.pair), None)
        if shard in self.left:
            self.left[shard].difference_update(_key(reply.pair) for reply in replies)
            if not self.left[shard]:
                self.close(shard)
        if self.on_batch:
            self.on_batch(stored)

    def close(self, shard: int) -> None:
        leases.finish(self.run, shard, self.worker)
        del self.lent[shard], self.left[shard]

    def leave(self, replies: Iterator[Reply | None]) -> None:
        try:
            if isinstance(replies, Generator):
                replies.close()
        finally:
            try:
                self.write()
            finally:
                leases.give_back(self.run, self.lent, self.worker)


def _number(held: tuple[Shard, Reply]) -> int:
    return held[0].number


def _key(pair: Pair) -> Key:
    return pair.text_id, pair.question_id
