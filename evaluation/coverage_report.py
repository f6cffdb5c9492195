"""Coverage of each report as each rater sees it, and how far the raters' coverages go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from evaluation.agreement import correlation
from evaluation.agreement.correlation import Correlation
from evaluation.agreement.estimate import Estimate, FloatArray
from evaluation.agreement.jackknife import jackknife
from evaluation.matrices import RatingMatrix, question_grid
from evaluation.metrics.coverage import Coverage, coverage
from evaluation.selection import JUDGE, Column, Selection

# The interval of a correlation recomputes it without each topic, for every pair of raters.
RECOMPUTED = 300


@dataclass(frozen=True, slots=True)
class ReportRow:
    """Coverage of one report by each rater, in the raters' order, and by the judge."""

    text: int
    name: str
    system: str
    topic: str
    coverage: tuple[Coverage, ...]
    judge: Coverage | None


@dataclass(frozen=True, slots=True)
class Correlations:
    """Coverage of the reports by two raters. Reports that either has not finished are left out."""

    a: Column
    b: Column
    pearson: Correlation
    spearman: Correlation
    kendall: Correlation

    @property
    def names(self) -> str:
        """The raters, as a URL names them; the judge has a place of its own there."""
        return ",".join(rater.name for rater in (self.a, self.b) if rater.at != JUDGE)


def report_rows(matrix: RatingMatrix) -> tuple[ReportRow, ...]:
    """Coverage of every rated report and reference: the questions of its topic that it answers."""
    topic_of = dict(zip(matrix.text.tolist(), matrix.topic.tolist(), strict=True))
    texts = [pk for pk in topic_of if matrix.texts[pk].kind != "passage"]
    if not texts:
        return ()
    asked: dict[int, list[int]] = {}
    for question in matrix.questions.values():
        if not question.is_filtered:
            asked.setdefault(question.topic, []).append(question.position)
    grid = question_grid(matrix, texts)
    selection, names = matrix.selection, _names(matrix, texts)
    return tuple(
        ReportRow(
            text=pk,
            name=names[pk],
            system=matrix.texts[pk].group,
            topic=matrix.topic_names[topic_of[pk]],
            coverage=tuple(
                _coverage(cells, asked.get(topic_of[pk], []), selection.threshold)
                for cells in grid[at, :-1]
            ),
            judge=_coverage(grid[at, -1], asked.get(topic_of[pk], []), selection.judge_threshold)
            if selection.judge
            else None,
        )
        for at, pk in enumerate(texts)
    )


def _coverage(cells: FloatArray, asked: Sequence[int], eta: int) -> Coverage:
    found = coverage(cells[np.newaxis], asked, eta)
    # Coverage of what nobody rated would be a 0 that nobody gave.
    if found.n and found.missing == found.n:
        return replace(found, value=None, reason="undefined, because none of it is rated")
    return found


def _names(matrix: RatingMatrix, texts: Sequence[int]) -> dict[int, str]:
    """The reports' names; where two systems use the same one, with the system."""
    rows = [matrix.texts[pk] for pk in texts]
    taken = Counter(row.name for row in rows)
    return {row.pk: row.name if taken[row.name] == 1 else f"{row.group}/{row.name}" for row in rows}


def _finished(values: Sequence[Coverage | None]) -> FloatArray:
    """Coverage of the reports that were rated throughout; NaN for the others."""
    return np.array(
        [
            np.nan if found is None or found.value is None or found.missing else found.value
            for found in values
        ]
    )


def correlations(selection: Selection, reports: Sequence[ReportRow]) -> tuple[Correlations, ...]:
    """Coverage of every two raters, and of each with the judge, over the reports both finished."""
    topics = np.array([report.topic for report in reports], dtype=np.str_)
    columns = [
        (rater, _finished([report.coverage[at] for report in reports]))
        for at, rater in enumerate(selection.raters)
    ]
    if selection.judge:
        columns.append((selection.judge, _finished([report.judge for report in reports])))
    pairs = list(combinations(columns, 2)) if reports else []
    drawn = len(pairs) * len(set(topics.tolist())) <= RECOMPUTED

    def one(
        method: Callable[[FloatArray, FloatArray], Correlation], x: FloatArray, y: FloatArray
    ) -> Correlation:
        if not drawn:
            reason = "no interval, because there are too many pairs of raters: choose fewer"
            return replace(method(x, y), interval_reason=reason)
        both = jackknife(lambda keep: method(x[keep], y[keep]), topics, fisher=True)
        assert isinstance(both, Correlation)
        return both

    return tuple(
        Correlations(
            a,
            b,
            one(correlation.pearson, x, y),
            one(correlation.spearman, x, y),
            one(correlation.kendall_tau_b, x, y),
        )
        for (a, x), (b, y) in pairs
    )


def mean_coverage(
    selection: Selection, reports: Sequence[ReportRow]
) -> dict[str, tuple[Estimate, ...]]:
    """By system, each rater's and then the judge's mean coverage of the reports it finished."""

    def mean(values: FloatArray) -> Estimate:
        found = values[~np.isnan(values)]
        if not len(found):
            return Estimate(None, "undefined, because no report is finished", 0, len(values))
        return Estimate(float(found.mean()), None, len(found), len(values) - len(found))

    means: dict[str, tuple[Estimate, ...]] = {}
    for system in sorted({report.system for report in reports}):
        here = [report for report in reports if report.system == system]
        columns = [[report.coverage[at] for report in here] for at in range(len(selection.raters))]
        judged: list[Sequence[Coverage | None]] = [*columns]
        if selection.judge:
            judged.append([report.judge for report in here])
        means[system] = tuple(mean(_finished(column)) for column in judged)
    return means
