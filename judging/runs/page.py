"""Page of a judge run: progress in numbers, and the geometry of its charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from judging.engine.grader_choice import seconds_of
from judging.engine.progress import (
    FailureKind,
    Progress,
    ShardState,
    failures_of,
    last_replies,
    progress_of,
)
from judging.execution.background import ACTIVE_STATES, TURN
from judging.execution.leases import leased
from judging.models import Attempt, JudgeRun, JudgeTestReply, Shard
from judging.tasks import JUDGING, work

MOST_CELLS = 100  # of the strip of shards; with more shards than this a cell stands for several
WIDTH, TOP, BOTTOM = 230, 14, 65  # of the drawing of the rate, in units of its viewBox
GRACE_PERIOD = timedelta(seconds=10)  # an idle worker looks for tasks every second


@dataclass(frozen=True)
class ShardCell:
    """Shard, or several consecutive ones, in the strip."""

    first: int
    last: int
    state: str
    words: str


@dataclass(frozen=True)
class RateLine:
    """Rate of the last minutes as points of a line, from 0 to `most` pairs a second."""

    points: str
    most: float


@dataclass(frozen=True)
class RepliedPair:
    """Reply with the probability of its grade, None where the model told none."""

    attempt: Attempt | JudgeTestReply
    chance: float | None


@dataclass(frozen=True)
class FailureRow:
    kind: FailureKind
    percent: str
    """Of the most frequent kind, for the length of its bar."""


@dataclass(frozen=True)
class RunPage:
    run: JudgeRun
    progress: Progress
    cells: Sequence[ShardCell]
    rate: RateLine
    failures: Sequence[FailureRow]
    replies: Sequence[RepliedPair]
    missing_resource: str
    """See the function of this name."""
    can_retry: bool
    is_idle: bool
    reply_seconds: int | None
    """That a reply may take; None for a judge that asks no server."""

    @property
    def is_live(self) -> bool:
        return self.run.state in ACTIVE_STATES

    @property
    def lowered_to(self) -> int | None:
        """Return the concurrency that the servers take, if lower than requested; else None."""
        current = self.run.current_concurrency
        return current if current is not None and current < self.run.concurrency else None

    @property
    def percent(self) -> int:
        """Return whole percents of the planned pairs, rounded down: 100 means all of them."""
        planned = self.run.n_planned
        return min(100, 100 * self.progress.n_done // planned) if planned else 0

    @property
    def is_grouped(self) -> bool:
        return len(self.cells) < len(self.progress.shards)


def run_page(run: JudgeRun) -> RunPage:
    """Return the page of a run, in some ten queries.

    Their cost does not grow with the attempts that have a grade.
    """
    progress = progress_of(run)
    kinds = failures_of(run)
    maximum = max((kind.n for kind in kinds), default=0)
    return RunPage(
        run=run,
        progress=progress,
        cells=shard_cells(progress.shards),
        rate=rate_line(progress.rates),
        failures=[FailureRow(kind, f"{100 * kind.n / maximum:.1f}") for kind in kinds],
        replies=[_replied(run, attempt) for attempt in last_replies(run)],
        missing_resource=blocked_by(run, progress),
        can_retry=bool(kinds) and _can_retry(run),
        is_idle=is_idle(run),
        reply_seconds=seconds_of(run),
    )


def shard_cells(shards: Sequence[ShardState]) -> list[ShardCell]:
    """Return the strip of shards: a cell each, or at most MOST_CELLS groups of similar size.

    A group is done when all of it is, and at work when some of it is, or is done.
    """
    size = -(-len(shards) // MOST_CELLS) or 1
    return [_cell(shards[start : start + size]) for start in range(0, len(shards), size)]


def _cell(shards: Sequence[ShardState]) -> ShardCell:
    first, last = shards[0], shards[-1]
    if len(shards) == 1:
        owner = f" by {first.owner}" if first.state == Shard.State.LEASED else ""
        return ShardCell(
            first.number, last.number, first.state, f"shard {first.number} {first.state}{owner}"
        )
    states = {shard.state for shard in shards}
    n_done = sum(shard.state == Shard.State.DONE for shard in shards)
    state = states.pop() if len(states) == 1 else Shard.State.LEASED
    label = f"shards {first.number} to {last.number}: {n_done} of {len(shards)} done"
    return ShardCell(first.number, last.number, state, label)


def rate_line(rates: Sequence[float]) -> RateLine:
    """Return the points of the line; at 0 along the axis while there is nothing."""
    maximum = max(rates, default=0.0)
    step = WIDTH / max(len(rates) - 1, 1)
    points = [
        f"{index * step:.0f},{BOTTOM - (BOTTOM - TOP) * (rate / maximum if maximum else 0):.1f}"
        for index, rate in enumerate(rates)
    ]
    return RateLine(" ".join(points), maximum)


def blocked_by(run: JudgeRun, progress: Progress) -> str:
    """Return what a run waits for: a "worker", where none is there, its "turn", or ""."""
    now = timezone.now()
    if run.state == JudgeRun.State.PLANNING:
        is_leased = run.planning_until is not None and run.planning_until > now
    else:
        is_leased = bool(progress.workers)
    if run.state not in ACTIVE_STATES or is_leased:
        return ""
    late = Q(run_after__lt=now - GRACE_PERIOD) | Q(
        run_after__year=9999
    )  # put off until then, or never
    waiting = DBTaskResult.objects.ready().filter(
        late,
        task_path=work.module_path,
        args_kwargs__args=[run.pk],
        enqueued_at__lt=now - GRACE_PERIOD,
    )
    if not waiting.exists():
        return ""
    lately = now - timedelta(seconds=TURN + settings.JUDGE_LEASE_SECONDS)
    busy = DBTaskResult.objects.running().filter(task_path=work.module_path, started_at__gte=lately)
    return "turn" if busy.exists() else "worker"


def is_idle(run: JudgeRun) -> bool:
    """Return whether a run is under way and nobody works at it.

    Its process has died, or no worker runs. A run that was started or written to in the last GRACE_PERIOD
    is not idle.
    """
    if run.state not in ACTIVE_STATES or run.is_being_planned() or leased(run).exists():
        return False
    lately = timezone.now() - GRACE_PERIOD
    if run.created > lately or run.batches.filter(created__gt=lately).exists():
        return False
    return not JUDGING.alive(run).filter(status=TaskResultStatus.RUNNING).exists()


def state_of_workers() -> str:
    """Return the state of the judging workers: "not needed", "at work" or "missing"."""
    active = JudgeRun.objects.filter(state__in=ACTIVE_STATES)
    waiting_for = [blocked_by(run, progress_of(run)) for run in active]
    return ("missing" if "worker" in waiting_for else "at work") if waiting_for else "not needed"


def _can_retry(run: JudgeRun) -> bool:
    """Return whether pairs of this run still have no grade, and its judge has no open run.

    Never so of a test: a reply that fails is part of its result.
    """
    if run.test:
        return False
    failed = Attempt.objects.filter(batch__run=run, counts=True).exclude(state="graded")
    runs = JudgeRun.objects.filter(judge=run.judge_id, dataset=run.dataset_id, test="")
    return failed.exists() and not runs.filter(state__in=JudgeRun.OPEN).exists()


def _replied(run: JudgeRun, attempt: Attempt | JudgeTestReply) -> RepliedPair:
    if isinstance(attempt, JudgeTestReply):
        return RepliedPair(attempt, None)
    grades = [grade for grade, _ in run.judge.levels]
    probabilities = attempt.probabilities or []
    chance = None
    if attempt.grade in grades and len(probabilities) == len(grades):
        chance = probabilities[grades.index(attempt.grade)]
    return RepliedPair(attempt, chance)
