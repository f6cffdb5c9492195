"""Summary of a dataset: agreement, rating coverage, the next step, and running work."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from annotation.models import Campaign, Dataset, Rubric
from crux_site.datasets.page import Overview, RatingCoverage
from evaluation.agreement.report import AgreementReport, cached_report, report_if_cached
from evaluation.data.selection import select
from judging.execution.background import ACTIVE_STATES
from judging.models import JudgeRun

CHEAP = 2000  # ratings of people, whose report takes less than a second

Next = Literal["texts", "grades", "runs", "people", "judge", "differ"]


@dataclass(frozen=True)
class BestCoverage:
    """Best coverage of texts of one kind under one rubric, by a person and by a judge."""

    rubric: Rubric
    texts: str
    fills: tuple[RatingCoverage, ...]


@dataclass(frozen=True)
class DatasetSummary:
    """Summary of a dataset; `report` is None if it is not cached and would be slow.

    The report is that of the default selection.
    """

    report: AgreementReport | None
    fullest: tuple[BestCoverage, ...]
    campaigns: tuple[Campaign, ...]
    runs: tuple[JudgeRun, ...]
    next: Next


def dataset_summary(dataset: Dataset, counts: Overview) -> DatasetSummary:
    """Summarize a dataset with these counts; agreement is computed of few ratings alone."""
    campaigns = tuple(dataset.campaigns.filter(state=Campaign.State.OPEN))
    at_work = dataset.judge_runs.filter(state__in=ACTIVE_STATES).select_related("judge__rater")
    return DatasetSummary(
        report=_report(dataset, counts) if counts.is_comparable else None,
        fullest=_fullest(counts),
        campaigns=campaigns,
        runs=(runs := tuple(at_work)),
        next=_next(counts, is_at_work=bool(campaigns or runs)),
    )


def _report(dataset: Dataset, counts: Overview) -> AgreementReport | None:
    selection = select(dataset, judge_by_default=True)
    by_people = sum(
        fill.n
        for fill in counts.fills
        if fill.rater.is_person and fill.rubric.pk == selection.rubric.pk
    )
    return cached_report(selection) if by_people <= CHEAP else report_if_cached(selection)


def _fullest(counts: Overview) -> tuple[BestCoverage, ...]:
    ordered = sorted(counts.fills, key=lambda fill: (fill.rubric.slug, fill.kind))
    fullest = []
    for (_, texts), group in groupby(ordered, lambda fill: (fill.rubric.slug, fill.texts)):
        fills = list(group)
        sides = (
            [fill for fill in fills if fill.rater.is_person],
            [fill for fill in fills if fill.rater.is_judge],
        )
        best = tuple(max(side, key=lambda fill: fill.n) for side in sides if side)
        if best:
            fullest.append(BestCoverage(fills[0].rubric, texts, best))
    return tuple(fullest)


def _next(counts: Overview, *, is_at_work: bool) -> Next:
    """Return the next step: texts, grades, people's grades, a judge's, then disagreements."""
    if not counts.texts:
        return "texts"
    if not counts.fills:
        return "runs" if is_at_work else "grades"
    if not any(fill.rater.is_person for fill in counts.fills):
        return "people"
    return "differ" if any(fill.rater.is_judge for fill in counts.fills) else "judge"
