"""Summary of a dataset: agreement, disagreements, cached scores, and running work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotation.models import Campaign, Dataset
from crux_site.datasets.disagreements import Disagreements
from crux_site.datasets.page import Overview
from evaluation.agreement.report import AgreementReport, cached_report, report_if_cached
from evaluation.data.cache import cached_or_none
from evaluation.data.cache_keys import CacheKey
from evaluation.data.selection import Selection, select
from evaluation.retrieval.leaderboard import SAME, leaderboard_if_cached
from evaluation.scoring.options import ScoringQuery
from evaluation.scoring.row_score import REPORTS, RUNS, RowScore
from judging.execution.background import ACTIVE_STATES
from judging.models import JudgeRun

CHEAP = 2000  # ratings of people, whose report takes less than a second


@dataclass(frozen=True)
class BestSystem:
    """System with the best mean coverage of those compared on the same topics."""

    system: RowScore
    n_compared: int


@dataclass(frozen=True)
class PaperProgress:
    """Tables and figures of the paper that could be made, of all, and why another could not."""

    n_made: int
    n: int
    missing: str


@dataclass(frozen=True)
class DatasetSummary:
    """Summary of a dataset under its default selection and scoring options.

    `selection` is None without ratings. `report`, `best_system` and `paper` are None if they are not
    cached and would be slow.
    """

    selection: Selection | None
    report: AgreementReport | None
    disagreements: Disagreements
    best_system: BestSystem | None
    paper: PaperProgress | None
    campaigns: tuple[Campaign, ...]
    runs: tuple[JudgeRun, ...]


def dataset_summary(dataset: Dataset, counts: Overview) -> DatasetSummary:
    """Summarize a dataset with these counts; agreement is computed of few ratings alone."""
    selection = select(dataset, judge_by_default=True) if counts.is_comparable else None
    scoring = ScoringQuery.of_rated(dataset, {}) if counts.fills else None
    at_work = dataset.judge_runs.filter(state__in=ACTIVE_STATES).select_related("judge__rater")
    return DatasetSummary(
        selection=selection,
        report=_report(selection, counts) if selection else None,
        disagreements=counts.disagreements.get(selection.rubric.pk, Disagreements())
        if selection
        else Disagreements(),
        best_system=_best_system(scoring) if scoring else None,
        paper=_paper(scoring) if scoring else None,
        campaigns=tuple(dataset.campaigns.filter(state=Campaign.State.OPEN)),
        runs=tuple(at_work),
    )


def _report(selection: Selection, counts: Overview) -> AgreementReport | None:
    by_people = sum(fill.n for fill in counts.people_fills if fill.rubric.pk == selection.rubric.pk)
    return cached_report(selection) if by_people <= CHEAP else report_if_cached(selection)


def _best_system(scoring: ScoringQuery) -> BestSystem | None:
    board = leaderboard_if_cached(scoring.dataset, scoring.options)
    if board is None:
        return None
    group = RUNS if board.systems(RUNS) else REPORTS
    systems = board.compared(group, SAME)
    scored = [row for row in systems if row.means["coverage"].value is not None]
    if not scored:
        return None
    return BestSystem(max(scored, key=_mean_coverage), len(systems))


def _mean_coverage(row: RowScore) -> float:
    return row.means["coverage"].value or 0.0


def _paper(scoring: ScoringQuery) -> PaperProgress | None:
    """Read the cached parts of all systems: replications are imported by no other package."""
    key = (CacheKey.PAPER_PARTS, scoring.options, ())
    parts: Any = cached_or_none(scoring.dataset, key)
    if parts is None:
        return None
    n_made, reasons = len(parts.parts), list(parts.left_out.values())
    return PaperProgress(n_made, n_made + len(reasons), reasons[0] if reasons else "")
