"""Coverage of each report by each rater, and correlations of the raters' coverages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluation.data.columns import JUDGE, Column
from evaluation.data.ratings import RatingMatrix, question_grid
from evaluation.data.selection import Selection
from evaluation.metrics.grades import NO_ANSWERABLE
from evaluation.stats import correlation
from evaluation.stats.correlation import Correlation
from evaluation.stats.correlation_intervals import leave_one_out_correlations
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval

# Signs of differences that the intervals of rank correlations are made of, over all pairs of raters.
SIGNS = 60_000_000
UNRATED = "undefined, because none of it is rated"


@dataclass(frozen=True, slots=True)
class ReportRow:
    """Coverage of one report by each rater, in the raters' order, and by the judge.

    `n` of a coverage counts the questions that are not filtered, `missing` the unrated ones among
    them, which answer nothing: with `missing` above 0 the value may be too low.
    """

    text: int
    name: str
    system: str
    topic: str
    coverage: tuple[Estimate, ...]
    judge: Estimate | None

    @property
    def mean(self) -> float | None:
        """Mean coverage of the raters who have one."""
        values = [share.value for share in self.coverage if share.value is not None]
        return sum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True)
class Correlations:
    """Correlations of report coverage by two raters, over the reports that both finished."""

    a: Column
    b: Column
    pearson: Correlation
    spearman: Correlation
    kendall: Correlation

    @property
    def names(self) -> str:
        """The raters, as a URL names them; the judge has a place of its own there."""
        return ",".join(rater.name for rater in (self.a, self.b) if rater.place != JUDGE)


def report_rows(matrix: RatingMatrix) -> tuple[ReportRow, ...]:
    """Return the coverage of all rated reports and references: share of questions answered.

    Source: as `evaluation.metrics.coverage.coverage`, which computes one report.
    """
    topic_of = matrix.rated_texts
    texts = [pk for pk in topic_of if matrix.texts[pk].kind != "passage"]
    if not texts:
        return ()
    grid, selection = question_grid(matrix, texts), matrix.selection
    mask = _question_mask(matrix, [topic_of[pk] for pk in texts], grid.shape[2])[:, np.newaxis]
    thresholds = [selection.threshold] * len(selection.raters) + [selection.judge_threshold]
    answered = grid >= np.array(thresholds)[:, np.newaxis]
    covered = _estimates(
        (answered & mask).sum(axis=2), mask.sum(axis=2), (np.isnan(grid) & mask).sum(axis=2)
    )
    names = _names(matrix, texts)
    return tuple(
        ReportRow(
            text=pk,
            name=names[pk],
            system=matrix.texts[pk].group,
            topic=matrix.topic_names[topic_of[pk]],
            coverage=tuple(row[:-1]),
            judge=row[-1] if selection.judge else None,
        )
        for pk, row in zip(texts, covered, strict=True)
    )


def _question_mask(matrix: RatingMatrix, topics: Sequence[int], width: int) -> NDArray[np.bool_]:
    """Return a mask of the unfiltered questions by position: one row for each given topic."""
    row_of = {topic: row for row, topic in enumerate(dict.fromkeys(topics))}
    mask = np.zeros((len(row_of), width), dtype=bool)
    for question in matrix.questions.values():
        if not question.is_filtered and question.topic in row_of:
            mask[row_of[question.topic], question.position] = True
    return mask[[row_of[topic] for topic in topics]]


def _estimates(covered: IntArray, n_questions: IntArray, missing: IntArray) -> list[list[Estimate]]:
    def estimate(hits: int, n: int, gaps: int) -> Estimate:
        if not n:
            return Estimate(None, NO_ANSWERABLE, 0)
        # Coverage of what nobody rated would be a 0 that nobody gave.
        if gaps == n:
            return Estimate(None, UNRATED, n, gaps)
        return Estimate(hits / n, None, n, gaps)

    return [
        [estimate(hits, n, gaps) for hits, gaps in zip(row, open_, strict=True)]
        for row, (n,), open_ in zip(
            covered.tolist(), n_questions.tolist(), missing.tolist(), strict=True
        )
    ]


def _names(matrix: RatingMatrix, texts: Sequence[int]) -> dict[int, str]:
    """The reports' names; where two systems use the same one, with the system."""
    rows = [matrix.texts[pk] for pk in texts]
    name_counts = Counter(row.name for row in rows)
    return {
        row.pk: row.name if name_counts[row.name] == 1 else f"{row.group}/{row.name}"
        for row in rows
    }


def _finished(values: Sequence[Estimate | None]) -> FloatArray:
    """Coverage of the reports that were rated throughout; NaN for the others."""
    return np.array(
        [
            np.nan
            if estimate is None or estimate.value is None or estimate.missing
            else estimate.value
            for estimate in values
        ]
    )


def correlations(matrix: RatingMatrix, reports: Sequence[ReportRow]) -> tuple[Correlations, ...]:
    """Return the correlations of coverage for all pairs of raters, and with the judge.

    Over the reports that both finished. A report whose grades are copies is no further one.
    """
    selection, read_texts = matrix.selection, set(matrix.text.tolist())
    reports = [report for report in reports if report.text in read_texts]
    topics = np.array([report.topic for report in reports], dtype=np.str_)
    columns = [
        (rater, _finished([report.coverage[index] for report in reports]))
        for index, rater in enumerate(selection.raters)
    ]
    if selection.judge:
        columns.append((selection.judge, _finished([report.judge for report in reports])))
    pairs = list(combinations(columns, 2)) if reports else []
    ranked = len(pairs) * len(reports) ** 2 <= SIGNS
    return tuple(_correlations(a, b, topics, ranked) for a, b in pairs)


def _correlations(
    first: tuple[Column, FloatArray],
    second: tuple[Column, FloatArray],
    topics: NDArray[np.str_],
    ranked: bool,
) -> Correlations:
    (a, x), (b, y) = first, second
    leave_one_out = leave_one_out_correlations(x, y, topics, ranked=ranked)

    def with_jackknife(estimate: Correlation, deleted: FloatArray | None) -> Correlation:
        if deleted is None:
            reason = (
                f"no interval, because {len(topics)} reports are too many to rank again and again"
            )
            return replace(estimate, interval_reason=reason)
        with_interval = jackknife_interval(estimate, deleted, fisher=True)
        assert isinstance(with_interval, Correlation)
        return with_interval

    return Correlations(
        a,
        b,
        with_jackknife(correlation.pearson(x, y), leave_one_out.pearson),
        with_jackknife(correlation.spearman(x, y), leave_one_out.spearman),
        with_jackknife(correlation.kendall_tau_b(x, y), leave_one_out.kendall),
    )


def mean_coverage(
    selection: Selection, reports: Sequence[ReportRow]
) -> dict[str, tuple[Estimate, ...]]:
    """Return each system's mean coverage of finished reports by each rater, then the judge."""

    def mean(values: FloatArray) -> Estimate:
        finished = values[~np.isnan(values)]
        if not len(finished):
            return Estimate(None, "undefined, because no report is finished", 0, len(values))
        return Estimate(float(finished.mean()), None, len(finished), len(values) - len(finished))

    means: dict[str, tuple[Estimate, ...]] = {}
    for system in sorted({report.system for report in reports}):
        of_system = [report for report in reports if report.system == system]
        columns = [
            [report.coverage[index] for report in of_system]
            for index in range(len(selection.raters))
        ]
        judged: list[Sequence[Estimate | None]] = [*columns]
        if selection.judge:
            judged.append([report.judge for report in of_system])
        means[system] = tuple(mean(_finished(column)) for column in judged)
    return means
