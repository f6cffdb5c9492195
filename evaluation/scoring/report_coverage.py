"""Coverage of each report by each rater, and correlations of the raters' coverages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.data.columns import JUDGE, Column
from evaluation.data.ratings import RatingMatrix, question_grid
from evaluation.metrics.grades import NO_ANSWERABLE
from evaluation.stats import correlation
from evaluation.stats.correlation import Correlation
from evaluation.stats.correlation_intervals import leave_one_out_correlations
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval

# Signs of differences that the intervals of rank correlations are made of, over all pairs of raters.
SIGNS = 60_000_000
UNRATED = "undefined, because none of it is rated"


class ReportRow(NamedTuple):
    """Coverage of one report by each rater, in the raters' order, and by the judge.

    Counts, from which estimates are made when they are read: a study has a million of them. `n` of a
    coverage counts the questions that are not filtered, `missing` the unrated ones among them, which
    answer nothing: with `missing` above 0 the value may be too low.
    """

    text: int
    name: str
    system: str
    topic: str
    n_questions: int
    """The questions of the topic that are not filtered."""
    n_answered: tuple[int, ...]
    """Of these, those that the report answers: by each rater, then by the judge, if there is one."""
    n_unrated: tuple[int, ...]
    """Of these, those without a grade, in the same order."""
    n_raters: int
    mean: float | None
    """Mean coverage of the raters who have one."""

    @property
    def coverage(self) -> tuple[Estimate, ...]:
        return tuple(map(self._estimate, range(self.n_raters)))

    @property
    def judge(self) -> Estimate | None:
        return self._estimate(-1) if len(self.n_answered) > self.n_raters else None

    def _estimate(self, column: int) -> Estimate:
        n, n_unrated = self.n_questions, self.n_unrated[column]
        if not n:
            return Estimate(None, NO_ANSWERABLE, 0)
        # Coverage of what nobody rated would be a 0 that nobody gave.
        if n_unrated == n:
            return Estimate(None, UNRATED, n, n_unrated)
        return Estimate(self.n_answered[column] / n, None, n, n_unrated)


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
    columns = slice(None if selection.judge else -1)
    n_answered = (answered & mask).sum(axis=2)[:, columns]
    n_unrated = (np.isnan(grid) & mask).sum(axis=2)[:, columns]
    n_questions = mask.sum(axis=2)
    raters = slice(len(selection.raters))
    has_rated = (n_unrated < n_questions)[:, raters]
    shares = n_answered[:, raters] / np.maximum(n_questions, 1)
    n_means = has_rated.sum(axis=1)
    means = (shares * has_rated).sum(axis=1) / np.maximum(n_means, 1)
    names, topic_names = _names(matrix, texts), matrix.topic_names
    return tuple(
        ReportRow(
            text=pk,
            name=names[pk],
            system=matrix.texts[pk].group,
            topic=topic_names[topic_of[pk]],
            n_questions=n_asked,
            n_answered=tuple(counts),
            n_unrated=tuple(gaps),
            n_raters=len(selection.raters),
            mean=mean if n else None,
        )
        for pk, (n_asked,), counts, gaps, mean, n in zip(
            texts,
            n_questions.tolist(),
            n_answered.tolist(),
            n_unrated.tolist(),
            means.tolist(),
            n_means.tolist(),
            strict=True,
        )
    )


def _question_mask(matrix: RatingMatrix, topics: Sequence[int], width: int) -> NDArray[np.bool_]:
    """Return a mask of the unfiltered questions by position: one row for each given topic."""
    row_of = {topic: row for row, topic in enumerate(dict.fromkeys(topics))}
    mask = np.zeros((len(row_of), width), dtype=bool)
    for question in matrix.questions.values():
        if not question.is_filtered and question.topic in row_of:
            mask[row_of[question.topic], question.position] = True
    return mask[[row_of[topic] for topic in topics]]


def _names(matrix: RatingMatrix, texts: Sequence[int]) -> dict[int, str]:
    """The reports' names; where two systems use the same one, with the system."""
    rows = [matrix.texts[pk] for pk in texts]
    name_counts = Counter(row.name for row in rows)
    return {
        row.pk: row.name if name_counts[row.name] == 1 else f"{row.group}/{row.name}"
        for row in rows
    }


def finished_coverage(reports: Sequence[ReportRow]) -> FloatArray:
    """Coverage of the reports that were rated throughout: reports x columns, NaN for others."""
    if not reports:
        return np.zeros((0, 0))
    n = np.array([report.n_questions for report in reports], dtype=np.float64)[:, np.newaxis]
    answered = np.array([report.n_answered for report in reports], dtype=np.float64)
    unrated = np.array([report.n_unrated for report in reports])
    is_finished = (unrated == 0) & (n > 0)
    return np.divide(answered, n, out=np.full(answered.shape, np.nan), where=is_finished)


def correlations(matrix: RatingMatrix, reports: Sequence[ReportRow]) -> tuple[Correlations, ...]:
    """Return the correlations of coverage for all pairs of raters, and with the judge.

    Over the reports that both finished. A report whose grades are copies is no further one.
    """
    selection, read_texts = matrix.selection, set(matrix.text.tolist())
    reports = [report for report in reports if report.text in read_texts]
    names, topics = np.unique(
        np.array([report.topic for report in reports], dtype=np.str_), return_inverse=True
    )
    columns = (*selection.raters, *filter(None, [selection.judge]))
    pairs = (
        list(combinations(zip(columns, finished_coverage(reports).T, strict=True), 2))
        if reports
        else []
    )
    ranked = len(pairs) * len(reports) ** 2 <= SIGNS
    return tuple(_correlations(a, b, topics, len(names), ranked) for a, b in pairs)


def _correlations(
    first: tuple[Column, FloatArray],
    second: tuple[Column, FloatArray],
    topics: IntArray,
    n_topics: int,
    ranked: bool,
) -> Correlations:
    (a, x), (b, y) = first, second
    both = ~(np.isnan(x) | np.isnan(y))
    n_missing, x, y = int((~both).sum()), x[both], y[both]
    leave_one_out = leave_one_out_correlations(x, y, topics[both], ranked=ranked, n_topics=n_topics)

    def with_jackknife(estimate: Correlation, deleted: FloatArray | None) -> Correlation:
        estimate = replace(estimate, missing=n_missing)
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


def mean_coverage(reports: Sequence[ReportRow]) -> dict[str, tuple[Estimate, ...]]:
    """Return each system's mean coverage of finished reports by each rater, then the judge."""

    def mean(values: FloatArray) -> Estimate:
        finished = values[~np.isnan(values)]
        if not len(finished):
            return Estimate(None, "undefined, because no report is finished", 0, len(values))
        return Estimate(float(finished.mean()), None, len(finished), len(values) - len(finished))

    by_system: dict[str, list[ReportRow]] = {}
    for report in reports:
        by_system.setdefault(report.system, []).append(report)
    return {
        system: tuple(map(mean, finished_coverage(of_system).T))
        for system, of_system in sorted(by_system.items())
    }
