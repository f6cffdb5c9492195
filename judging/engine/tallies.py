"""What judges and runs have done so far, for lists: read from batches, never from attempts one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, QuerySet, Sum

from annotation.models import Dataset, Rater
from judging.models import Batch, Judge, JudgeRun


@dataclass(frozen=True)
class Tally:
    """Replies counted. `last` is when the newest was written."""

    n_replies: int = 0
    n_graded: int = 0
    n_runs: int = 0
    last: datetime | None = None

    @property
    def n_failed(self) -> int:
        return self.n_replies - self.n_graded


NOTHING = Tally()


def by_judge() -> dict[int, Tally]:
    """What each judge said, over all its runs."""
    return _tallies(Batch.objects.all(), "run__judge")


def by_run(runs: Iterable[JudgeRun]) -> dict[int, Tally]:
    return _tallies(Batch.objects.filter(run__in=[run.pk for run in runs]), "run")


def by_dataset(judge: Judge) -> list[tuple[Dataset, Tally]]:
    """What a judge said on each dataset, by the dataset's name."""
    found = _tallies(Batch.objects.filter(run__judge=judge), "run__dataset")
    return [(one, found[one.pk]) for one in Dataset.objects.filter(pk__in=found)]


def last_runs() -> dict[int, JudgeRun]:
    """The newest run of each judge, by judge."""
    newest = JudgeRun.objects.order_by().values("judge").annotate(newest=Max("pk"))
    return {
        run.judge_id: run
        for run in JudgeRun.objects.select_related("dataset").filter(pk__in=newest.values("newest"))
    }


def imported() -> list[Rater]:
    """Judges whose grades came in files, by dataset and name; `n_graded` are their pairs.

    They are raters without a judge: nothing is known here of their prompt and their replies.
    """
    others = Rater.objects.exclude(kind=Rater.Kind.HUMAN).filter(judge=None, dataset__isnull=False)
    counted = others.annotate(n_graded=Count("ratings")).filter(n_graded__gt=0)
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
