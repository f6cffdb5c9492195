"""Progress of runs, read from batches and shards, never from single attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, QuerySet, Sum
from django.utils import timezone

from annotation.models import Dataset, Rater, User
from annotation.models.projects import visibility_filter
from judging.models import Attempt, Batch, Judge, JudgeRun, JudgeTestReply, Shard

MINUTE = timedelta(minutes=1)
CHART_SPAN = timedelta(minutes=4)
STEP = 10  # seconds of a point in the drawing of the rate


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Attempts of a run without a grade, of one kind, with an example."""

    failure: str
    n: int
    example: Attempt | JudgeTestReply


@dataclass(frozen=True, slots=True)
class ShardState:
    number: int
    state: str
    owner: str


@dataclass(frozen=True)
class Progress:
    """Progress of a run in numbers.

    Pairs are cells of the matrix; a rate is in pairs a second.
    """

    n_planned: int
    n_done: int
    n_graded: int
    n_sent: int
    prompt_tokens: int
    completion_tokens: int
    money: float
    drift: float | None
    """Mean of the expected grade minus the grade; None where no expected grade is known."""
    n_expected: int
    """Graded replies with an expected grade: those that the drift is a mean over."""
    rate: float | None
    """Of the last minute; None while nothing came in it."""
    rates: Sequence[float]
    """Of every ten seconds of the last four minutes, oldest first."""
    remaining: timedelta | None
    ends: datetime | None
    shards: Sequence[ShardState]
    workers: Sequence[str]
    """Those that hold a lease which is alive."""
    heard: datetime | None
    """When something was last written."""

    @property
    def n_failed(self) -> int:
        return self.n_done - self.n_graded

    @property
    def n_without_expected(self) -> int:
        """Graded replies without an expected grade, of a run in which others have one."""
        return self.n_graded - self.n_expected if self.n_expected else 0

    @property
    def n_left(self) -> int:
        return max(0, self.n_planned - self.n_done)

    @property
    def share(self) -> float:
        """Return the share of planned pairs that are done, 0..1; 1 if none was planned."""
        return self.n_done / self.n_planned if self.n_planned else 1.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def tells_tokens(self) -> bool:
        """Return whether the server counts tokens, as far as is known.

        A prompt always has tokens, so 0 after a sent pair means that none are counted.
        """
        return self.tokens > 0 or not self.n_sent

    @property
    def n_shards(self) -> dict[str, int]:
        """Return the number of shards by state."""
        return {
            state: sum(shard.state == state for shard in self.shards)
            for state in Shard.State.values
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "planned": self.n_planned,
            "done": self.n_done,
            "graded": self.n_graded,
            "failed": self.n_failed,
            "sent": self.n_sent,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "money": self.money,
            "rate": self.rate,
            "remaining_seconds": None if self.remaining is None else self.remaining.total_seconds(),
            "expected_minus_grade": self.drift,
            "shards": self.n_shards,
            "workers": list(self.workers),
        }


def progress_of(run: JudgeRun) -> Progress:
    """Return the progress of a run, in five queries of constant cost.

    The cost does not depend on the number of attempts.
    """
    now = timezone.now()
    total = run.batches.aggregate(
        n=Sum("n_attempts", default=0),
        graded=Sum("n_graded", default=0),
        sent=Sum("n_sent", default=0),
        prompt=Sum("prompt_tokens", default=0),
        completion=Sum("completion_tokens", default=0),
        n_expected=Sum("n_expected", default=0),
        drift=Sum("sum_drift", default=0.0),
        heard=Max("created"),
    )
    recent = list(
        run.batches.filter(created__gte=now - CHART_SPAN)
        .order_by("created")
        .values_list("created", "n_attempts")
    )
    rate = _rate(recent, now) if run.is_running else None
    n_left = max(0, run.n_planned - total["n"])
    remaining = timedelta(seconds=n_left / rate) if rate else None
    shards = [
        ShardState(number, state, owner)
        for number, state, owner in run.shards.values_list("number", "state", "owner")
    ]
    return Progress(
        n_planned=run.n_planned,
        n_done=total["n"],
        n_graded=total["graded"],
        n_sent=total["sent"],
        prompt_tokens=total["prompt"],
        completion_tokens=total["completion"],
        money=run.money(total["prompt"], total["completion"]),
        drift=total["drift"] / total["n_expected"] if total["n_expected"] else None,
        n_expected=total["n_expected"],
        rate=rate,
        rates=_rates(recent, now),
        remaining=remaining,
        ends=now + remaining if remaining is not None else None,
        shards=shards,
        workers=sorted(
            set(
                run.shards.filter(state=Shard.State.LEASED, expires__gte=now).values_list(
                    "owner", flat=True
                )
            )
        ),
        heard=total["heard"],
    )


def _rate(recent: Sequence[tuple[datetime, int]], now: datetime) -> float | None:
    lately = [(created, n) for created, n in recent if created >= now - MINUTE]
    done = sum(n for _, n in lately)
    if not done:
        return None
    if any(now - 2 * MINUTE <= created < now - MINUTE for created, _ in recent):
        return done / MINUTE.total_seconds()
    # It began, or went on, in this minute. Its first batch was worked on before it was written: it says
    # when to begin, and not how fast.
    first, n = lately[0]
    seconds = (now - first).total_seconds()
    return (done - n) / seconds if done > n and seconds >= 1 else None


def _rates(recent: Sequence[tuple[datetime, int]], now: datetime) -> list[float]:
    points = [0] * int(CHART_SPAN.total_seconds() // STEP)
    for created, n in recent:
        index = len(points) - 1 - int((now - created).total_seconds() // STEP)
        if 0 <= index < len(points):
            points[index] += n
    return [n / STEP for n in points]


def replies_of(run: JudgeRun) -> QuerySet[Any]:
    """Return the replies of a run: its attempts, or the replies of a test."""
    if run.test:
        replies = JudgeTestReply.objects.filter(run=run)
        return replies.select_related("batch", "attempt__text", "attempt__question")
    attempts = Attempt.objects.filter(batch__run=run)
    return attempts.select_related("batch", "text", "question")


def failed_replies(run: JudgeRun) -> QuerySet[Any]:
    """Return the replies of a run without a grade."""
    return replies_of(run).exclude(state="graded")


def failures_of(run: JudgeRun) -> list[FailureKind]:
    """Count the failures of a run by kind, most frequent first, each with its newest example.

    Attempts that were asked again since, by a later run, are among them.
    """
    rows = (
        failed_replies(run).order_by().values("failure").annotate(n=Count("pk"), newest=Max("pk"))
    )
    examples = replies_of(run).in_bulk([row["newest"] for row in rows])
    kinds = [FailureKind(row["failure"], row["n"], examples[row["newest"]]) for row in rows]
    return sorted(kinds, key=lambda kind: (-kind.n, kind.failure))


def last_replies(run: JudgeRun, n: int = 10) -> list[Attempt | JudgeTestReply]:
    """Return the newest replies of a run, newest first."""
    newest = list(
        Batch.objects.filter(run=run, n_attempts__gt=0)
        .order_by("-id")
        .values_list("pk", flat=True)[:n]
    )
    return list(replies_of(run).filter(batch__in=newest).order_by("-id")[:n])


@dataclass(frozen=True)
class Tally:
    """Counts of replies.

    `last` is when the newest was written.
    """

    n_replies: int = 0
    n_graded: int = 0
    n_runs: int = 0
    last: datetime | None = None

    @property
    def n_failed(self) -> int:
        return self.n_replies - self.n_graded


NOTHING = Tally()


def by_judge(user: User) -> dict[int, Tally]:
    """Count the replies of each judge, over all its runs that a user sees but tests."""
    batches = Batch.objects.filter(visibility_filter("run__dataset", user), run__test="")
    return _tallies(batches, "run__judge")


def by_run(runs: Iterable[JudgeRun]) -> dict[int, Tally]:
    return _tallies(Batch.objects.filter(run__in=[run.pk for run in runs]), "run")


def by_dataset(judge: Judge, user: User) -> list[tuple[Dataset, Tally]]:
    """Count the replies of a judge on each dataset that a user sees, by dataset name.

    Replies of tests are left out.
    """
    tallies = _tallies(Batch.objects.filter(run__judge=judge, run__test=""), "run__dataset")
    visible = Dataset.objects.visible_to(user).filter(pk__in=tallies)
    return [(dataset, tallies[dataset.pk]) for dataset in visible]


def last_runs(user: User) -> dict[int, JudgeRun]:
    """Return the newest run of each judge that a user sees, by judge; tests are left out."""
    runs = JudgeRun.objects.visible_to(user).filter(test="")
    newest = runs.order_by().values("judge").annotate(newest=Max("pk"))
    return {
        run.judge_id: run
        for run in JudgeRun.objects.select_related("dataset").filter(pk__in=newest.values("newest"))
    }


def imported(user: User) -> list[Rater]:
    """Return raters with imported grades and no judge, of datasets that a user sees.

    `n_graded` are their pairs.

    They are raters without a judge: nothing is known here of their prompt and their replies.
    """
    unlinked = Rater.objects.filter(
        visibility_filter("dataset", user),
        kind__in=[Rater.Kind.MODEL, Rater.Kind.BASELINE],
        judge=None,
        dataset__isnull=False,
    )
    counted = unlinked.annotate(n_graded=Count("ratings")).filter(n_graded__gt=0)
    return list(counted.select_related("dataset").order_by("dataset__title", "name"))


def _tallies(batches: QuerySet[Batch], of: str) -> dict[int, Tally]:
    rows: Iterable[dict[str, Any]] = (
        batches.order_by()
        .values(of)
        .annotate(
            n=Sum("n_attempts"),
            graded=Sum("n_graded"),
            runs=Count("run", distinct=True),
            last=Max("created"),
        )
    )
    return {row[of]: Tally(row["n"], row["graded"], row["runs"], row["last"]) for row in rows}
