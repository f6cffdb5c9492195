"""What the page of a run shows: its progress in numbers, and the geometry of what is drawn of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from judging.engine.background import GOING, TURN
from judging.engine.choosing import seconds_of
from judging.engine.leases import held
from judging.engine.progress import (
    FailureKind,
    Progress,
    ShardState,
    failures_of,
    last_replies,
    progress_of,
)
from judging.models import Attempt, JudgeRun, Shard
from judging.tasks import JUDGING, work

MOST_CELLS = 100  # of the strip of shards; with more shards than this a cell stands for several
WIDTH, TOP, BOTTOM = 230, 14, 65  # of the drawing of the rate, in units of its viewBox
PATIENCE = timedelta(seconds=10)  # an idle worker looks for tasks every second


@dataclass(frozen=True)
class ShardCell:
    """One shard, or several that follow each other, in the strip."""

    first: int
    last: int
    state: str
    words: str


@dataclass(frozen=True)
class RateLine:
    """The rate of the last minutes as the points of a line, from 0 to `most` pairs a second."""

    points: str
    most: float


@dataclass(frozen=True)
class RepliedPair:
    """A reply beside the probability that the model gave to its grade, None where it told none."""

    attempt: Attempt
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
    waits_for: str
    """See the function of this name."""
    can_retry: bool
    is_idle: bool
    reply_seconds: int | None
    """That a reply may take; None for a judge that asks no server."""

    @property
    def is_live(self) -> bool:
        return self.run.state in GOING

    @property
    def lowered_to(self) -> int | None:
        """Requests at once that the servers take, where those are fewer than wished for; else None."""
        now = self.run.current_concurrency
        return now if now is not None and now < self.run.concurrency else None

    @property
    def percent(self) -> int:
        """Whole percents of what was planned, rounded down: 100 means all of it."""
        planned = self.run.n_planned
        return min(100, 100 * self.progress.n_done // planned) if planned else 0

    @property
    def is_grouped(self) -> bool:
        return len(self.cells) < len(self.progress.shards)


def run_page(run: JudgeRun) -> RunPage:
    """All of it in some ten queries, whose cost does not grow with the attempts that have a grade."""
    progress = progress_of(run)
    kinds = failures_of(run)
    most = max((kind.n for kind in kinds), default=0)
    return RunPage(
        run=run,
        progress=progress,
        cells=shard_cells(progress.shards),
        rate=rate_line(progress.rates),
        failures=[FailureRow(kind, f"{100 * kind.n / most:.1f}") for kind in kinds],
        replies=[_replied(run, attempt) for attempt in last_replies(run)],
        waits_for=waits_for(run, progress),
        can_retry=bool(kinds) and _can_retry(run),
        is_idle=is_idle(run),
        reply_seconds=seconds_of(run),
    )


def shard_cells(shards: Sequence[ShardState]) -> list[ShardCell]:
    """The strip of shards: a cell each, or at most MOST_CELLS groups of nearly the same size.

    A group is done when all of it is, and at work when some of it is, or is done.
    """
    size = -(-len(shards) // MOST_CELLS) or 1
    return [_cell(shards[start : start + size]) for start in range(0, len(shards), size)]


def _cell(some: Sequence[ShardState]) -> ShardCell:
    first, last = some[0], some[-1]
    if len(some) == 1:
        owner = f" by {first.owner}" if first.state == Shard.State.LEASED else ""
        return ShardCell(
            first.number, last.number, first.state, f"shard {first.number} {first.state}{owner}"
        )
    states = {shard.state for shard in some}
    n_done = sum(shard.state == Shard.State.DONE for shard in some)
    state = states.pop() if len(states) == 1 else Shard.State.LEASED
    words = f"shards {first.number} to {last.number}: {n_done} of {len(some)} done"
    return ShardCell(first.number, last.number, state, words)


def rate_line(rates: Sequence[float]) -> RateLine:
    """The points of the line; at 0 along the axis while there is nothing."""
    most = max(rates, default=0.0)
    step = WIDTH / max(len(rates) - 1, 1)
    points = [
        f"{index * step:.0f},{BOTTOM - (BOTTOM - TOP) * (rate / most if most else 0):.1f}"
        for index, rate in enumerate(rates)
    ]
    return RateLine(" ".join(points), most)


def waits_for(run: JudgeRun, progress: Progress) -> str:
    """What a run that should go on waits for: a "worker", where none is there, or its "turn"; or ""."""
    now = timezone.now()
    if run.state == JudgeRun.State.PLANNING:
        is_held = run.planning_until is not None and run.planning_until > now
    else:
        is_held = bool(progress.workers)
    if run.state not in GOING or is_held:
        return ""
    late = Q(run_after__lt=now - PATIENCE) | Q(run_after__year=9999)  # put off until then, or never
    waiting = DBTaskResult.objects.ready().filter(
        late,
        task_path=work.module_path,
        args_kwargs__args=[run.pk],
        enqueued_at__lt=now - PATIENCE,
    )
    if not waiting.exists():
        return ""
    lately = now - timedelta(seconds=TURN + settings.JUDGE_LEASE_SECONDS)
    busy = DBTaskResult.objects.running().filter(task_path=work.module_path, started_at__gte=lately)
    return "turn" if busy.exists() else "worker"


def is_idle(run: JudgeRun) -> bool:
    """Return True if a run is under way and nobody works at it: its process has died, or no worker runs.

    A run that was started or written to in the last PATIENCE is not idle.
    """
    if run.state not in GOING or run.is_being_planned() or held(run).exists():
        return False
    lately = timezone.now() - PATIENCE
    if run.created > lately or run.batches.filter(created__gt=lately).exists():
        return False
    return not JUDGING.alive(run).filter(status=TaskResultStatus.RUNNING).exists()


def state_of_workers() -> str:
    """Of those that fill judge runs: "not needed", where nothing is to do, "at work" or "missing"."""
    going = JudgeRun.objects.filter(state__in=GOING)
    waits = [waits_for(run, progress_of(run)) for run in going]
    return ("missing" if "worker" in waits else "at work") if waits else "not needed"


def _can_retry(run: JudgeRun) -> bool:
    """Whether pairs of this run still have no grade, and no run of its judge is open."""
    failed = Attempt.objects.filter(batch__run=run, counts=True).exclude(state="graded")
    others = JudgeRun.objects.filter(judge=run.judge_id, dataset=run.dataset_id)
    return failed.exists() and not others.filter(state__in=JudgeRun.OPEN).exists()


def _replied(run: JudgeRun, attempt: Attempt) -> RepliedPair:
    grades = [grade for grade, _ in run.judge.levels]
    told = attempt.probabilities or []
    chance = None
    if attempt.grade in grades and len(told) == len(grades):
        chance = told[grades.index(attempt.grade)]
    return RepliedPair(attempt, chance)
