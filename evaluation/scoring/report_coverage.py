"""Coverage of each report by each rater, and correlations of the raters' coverages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from evaluation.data.columns import JUDGE, Column
from evaluation.data.ratings import RatingMatrix, key_positions, look_up
from evaluation.metrics.grades import NO_ANSWERABLE
from evaluation.stats import correlation
from evaluation.stats.correlation import Correlation
from evaluation.stats.correlation_intervals import leave_one_out_correlations, pearson_from_sums
from evaluation.stats.estimate import Estimate, FloatArray, IntArray
from evaluation.stats.jackknife import jackknife_interval

# Signs of differences that the intervals of rank correlations are made of, over all pairs of raters.
SIGNS = 60_000_000
_NO_TOPIC = 0  # keys begin with 1
CountArray = NDArray[np.int32]
"""Counts of questions: half the memory of int64."""
UNRATED = "undefined, because none of it is rated"


class ReportRow(NamedTuple):
    """Coverage of one report by each rater, in the raters' order, and by the judge.

    Counts, from which estimates are made when they are read. `n` of a coverage counts the questions that are
    not filtered, `missing` the unrated ones among them, which answer nothing: with `missing` above 0 the
    value may be too low.
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
    def mean_of_raters(self) -> Estimate:
        """The mean coverage of the raters who have one; `n` counts them."""
        n = sum(n_unrated < self.n_questions for n_unrated in self.n_unrated[: self.n_raters])
        return Estimate(self.mean, UNRATED if self.mean is None else None, n)

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


@dataclass(frozen=True, eq=False)
class ReportRows(Sequence[ReportRow]):
    """Coverage of many reports in arrays; the row of a report is made when it is read.

    The columns of `n_answered` and `n_unrated` are the raters and then the judge, if there is one.
    """

    texts: IntArray
    names: tuple[str, ...]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    n_questions: CountArray
    n_answered: CountArray
    n_unrated: CountArray
    means: FloatArray
    """Mean coverage of the raters who have one; NaN = none has."""
    n_raters: int

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> ReportRow: ...
    @overload
    def __getitem__(self, index: slice) -> ReportRows: ...
    def __getitem__(self, index: int | slice) -> ReportRow | ReportRows:
        if isinstance(index, slice):
            return self.take(range(len(self))[index])
        mean = float(self.means[index])
        return ReportRow(
            text=int(self.texts[index]),
            name=self.names[index],
            system=self.systems[index],
            topic=self.topics[index],
            n_questions=int(self.n_questions[index]),
            n_answered=tuple(self.n_answered[index].tolist()),
            n_unrated=tuple(self.n_unrated[index].tolist()),
            n_raters=self.n_raters,
            mean=None if np.isnan(mean) else mean,
        )

    def take(self, indices: Sequence[int]) -> ReportRows:
        """Return some of the reports, in this order."""
        chosen = np.asarray(indices, dtype=np.intp)
        return replace(
            self,
            texts=self.texts[chosen],
            names=tuple(self.names[index] for index in indices),
            systems=tuple(self.systems[index] for index in indices),
            topics=tuple(self.topics[index] for index in indices),
            n_questions=self.n_questions[chosen],
            n_answered=self.n_answered[chosen],
            n_unrated=self.n_unrated[chosen],
            means=self.means[chosen],
        )

    def by_system(self) -> dict[str, list[int]]:
        """Return the indices of the reports of each system, the systems in alphabetical order."""
        indices: dict[str, list[int]] = {}
        for index, system in enumerate(self.systems):
            indices.setdefault(system, []).append(index)
        return dict(sorted(indices.items()))

    @property
    def finished_coverage(self) -> FloatArray:
        """Coverage of reports that were rated throughout: reports x columns, NaN for others."""
        n = self.n_questions[:, np.newaxis]
        is_finished = (self.n_unrated == 0) & (n > 0)
        undefined = np.full(self.n_answered.shape, np.nan)
        return np.divide(self.n_answered, n, out=undefined, where=is_finished)

    @property
    def judge_coverage(self) -> FloatArray | None:
        """Coverage by the judge, NaN where undefined; None without a judge."""
        if self.n_answered.shape[1] == self.n_raters:
            return None
        is_rated = self.n_unrated[:, -1] < self.n_questions
        undefined = np.full(len(self), np.nan)
        return np.divide(self.n_answered[:, -1], self.n_questions, out=undefined, where=is_rated)


@dataclass(frozen=True, eq=False)
class CoverageColumns:
    """Coverage of reports, a column for each rater and the judge, to be correlated.

    `values` is reports x columns, NaN where a rater has not finished the report; `topic` numbers the topic
    of each report.
    """

    values: FloatArray
    topic: IntArray
    n_topics: int
    ranked: bool
    """Whether rank correlations have intervals: their time grows with the square of the reports."""

    @cached_property
    def pearson(self) -> FloatArray:
        """Pearson's r of all pairs of columns, NaN where undefined: columns x columns."""
        rated = ~np.isnan(self.values)
        present = rated.astype(np.float64)
        # Around 0, so that no large numbers cancel.
        mean = self.values[rated].mean() if rated.any() else 0.0
        values = np.where(rated, self.values - mean, 0.0)
        sums, squares = values.T @ present, (values**2).T @ present
        products = values.T @ values
        terms = (present.T @ present, sums, sums.T, squares, squares.T, products)
        return pearson_from_sums(np.stack(terms, axis=-1))


@dataclass(frozen=True, eq=False)
class Correlations:
    """Correlations of report coverage by two raters, over the reports that both finished.

    Each is computed when it is first read: a study of twenty raters has 210 pairs, and its page shows 30.
    """

    a: Column
    b: Column
    coverage: CoverageColumns
    columns: tuple[int, int]

    @property
    def names(self) -> str:
        """The raters, as a URL names them; the judge has a place of its own there."""
        return ",".join(rater.name for rater in (self.a, self.b) if rater.place != JUDGE)

    @property
    def r(self) -> float | None:
        """The value of `pearson`, without its interval and p."""
        r = float(self.coverage.pearson[self.columns])
        return None if np.isnan(r) else r

    @cached_property
    def pearson(self) -> Correlation:
        x, y, topics = self._finished_by_both()
        n_topics = self.coverage.n_topics
        deleted = leave_one_out_correlations(x, y, topics, ranked=False, n_topics=n_topics)
        return self._with_jackknife(correlation.pearson(x, y), deleted.pearson)

    @property
    def spearman(self) -> Correlation:
        return self._ranked[0]

    @property
    def kendall(self) -> Correlation:
        return self._ranked[1]

    @cached_property
    def _ranked(self) -> tuple[Correlation, Correlation]:
        x, y, topics = self._finished_by_both()
        rho, tau = correlation.spearman(x, y), correlation.kendall_tau_b(x, y)
        if not self.coverage.ranked:
            return self._with_jackknife(rho, None), self._with_jackknife(tau, None)
        deleted = leave_one_out_correlations(x, y, topics, n_topics=self.coverage.n_topics)
        return (
            self._with_jackknife(rho, deleted.spearman),
            self._with_jackknife(tau, deleted.kendall),
        )

    def _finished_by_both(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the coverages of the reports that both finished, and their topics."""
        a, b = (self.coverage.values[:, column] for column in self.columns)
        both = ~(np.isnan(a) | np.isnan(b))
        return a[both], b[both], self.coverage.topic[both]

    def _with_jackknife(self, estimate: Correlation, deleted: FloatArray | None) -> Correlation:
        n_reports = len(self.coverage.values)
        estimate = replace(estimate, missing=n_reports - estimate.n)
        if deleted is None:
            reason = (
                f"no interval, because {n_reports} reports are too many to rank again and again"
            )
            return replace(estimate, interval_reason=reason)
        with_interval = jackknife_interval(estimate, deleted, fisher=True)
        assert isinstance(with_interval, Correlation)
        return with_interval


def report_rows(matrix: RatingMatrix) -> ReportRows:
    """Return the coverage of all rated reports and references: share of questions answered.

    Source: as `evaluation.metrics.coverage.coverage`, which computes one report.
    """
    topic_of, selection = matrix.rated_texts, matrix.selection
    texts = [pk for pk in topic_of if matrix.texts[pk].kind != "passage"]
    if not texts:
        return no_report_rows(len(selection.raters))
    n_questions = _question_counts(matrix, [topic_of[pk] for pk in texts])
    n_rated, n_answered = _counts_by_text(matrix, texts)
    n_unrated = n_questions[:, np.newaxis] - n_rated
    raters = slice(len(selection.raters))
    has_rated = n_rated[:, raters] > 0
    shares = n_answered[:, raters] / np.maximum(n_questions, 1)[:, np.newaxis]
    n_means = has_rated.sum(axis=1)
    means = (shares * has_rated).sum(axis=1) / np.maximum(n_means, 1)
    names, topic_names = _names(matrix, texts), matrix.topic_names
    return ReportRows(
        texts=np.array(texts, dtype=np.int64),
        names=tuple(names[pk] for pk in texts),
        systems=tuple(matrix.texts[pk].group for pk in texts),
        topics=tuple(topic_names[topic_of[pk]] for pk in texts),
        n_questions=n_questions,
        n_answered=n_answered,
        n_unrated=n_unrated,
        means=np.where(n_means > 0, means, np.nan),
        n_raters=len(selection.raters),
    )


def no_report_rows(n_raters: int) -> ReportRows:
    """Return the coverage of no reports."""
    counts, none = np.zeros((0, n_raters), dtype=np.int32), np.zeros(0, dtype=np.int32)
    return ReportRows(
        np.zeros(0, np.int64), (), (), (), none, counts, counts, np.zeros(0), n_raters
    )


def _question_counts(matrix: RatingMatrix, topics: Sequence[int]) -> CountArray:
    """Return the number of unfiltered questions of each given topic."""
    n = Counter(
        question.topic for question in matrix.questions.values() if not question.is_filtered
    )
    return np.array([n[topic] for topic in topics], dtype=np.int32)


def _counts_by_text(matrix: RatingMatrix, texts: Sequence[int]) -> tuple[CountArray, CountArray]:
    """Count the rated and the answered questions of texts: texts x (raters, then the judge).

    Of the unfiltered questions of a text's topic, whether a pair is an item or not.
    """
    selection, topic_of = matrix.selection, matrix.rated_texts
    text_topics = np.array([topic_of[pk] for pk in texts])
    sides = [(matrix.rows, [rater.pk for rater in selection.raters], selection.threshold)]
    if selection.judge:
        sides.append((matrix.judge_rows, [selection.judge.pk], selection.judge_threshold))
    n_rated: list[CountArray] = []
    n_answered: list[CountArray] = []
    for rows, raters, threshold in sides:
        rater, text = key_positions(raters, rows["rater"]), key_positions(texts, rows["text"])
        topic = look_up(rows["question"].to_numpy(), lambda pk: _topic_of(matrix, pk), np.int64)
        counted = (rater >= 0) & (text >= 0)
        counted[counted] = topic[counted] == text_topics[text[counted]]
        cells = text * len(raters) + rater
        is_answered = counted & (rows["grade"].to_numpy() >= threshold)
        for counts, mask in ((n_rated, counted), (n_answered, is_answered)):
            n = np.bincount(cells[mask], minlength=len(texts) * len(raters))
            counts.append(n.reshape(len(texts), len(raters)).astype(np.int32))
    return np.hstack(n_rated), np.hstack(n_answered)


def _topic_of(matrix: RatingMatrix, question: int) -> int:
    """Return the topic of a question; of one that is left out, none."""
    row = matrix.questions[question]
    return _NO_TOPIC if row.is_filtered else row.topic


def _names(matrix: RatingMatrix, texts: Sequence[int]) -> dict[int, str]:
    """The reports' names; where two systems use the same one, with the system."""
    rows = [matrix.texts[pk] for pk in texts]
    name_counts = Counter(row.name for row in rows)
    return {
        row.pk: row.name if name_counts[row.name] == 1 else f"{row.group}/{row.name}"
        for row in rows
    }


def correlations(matrix: RatingMatrix, reports: ReportRows) -> tuple[Correlations, ...]:
    """Return the correlations of coverage for all pairs of raters, and with the judge.

    Over the reports that both finished. A report whose grades are copies is no further one.
    """
    selection = matrix.selection
    reports = reports.take(np.flatnonzero(np.isin(reports.texts, matrix.text)).tolist())
    if not len(reports):
        return ()
    names, topic = np.unique(np.array(reports.topics, dtype=np.str_), return_inverse=True)
    columns = selection.columns
    pairs = list(combinations(range(len(columns)), 2))
    ranked = len(pairs) * len(reports) ** 2 <= SIGNS
    coverage = CoverageColumns(reports.finished_coverage, topic, len(names), ranked)
    return tuple(Correlations(columns[a], columns[b], coverage, (a, b)) for a, b in pairs)


def mean_coverage(reports: ReportRows, n_columns: int) -> dict[str, tuple[Estimate, ...]]:
    """Return each system's mean coverage of finished reports by each rater, then the judge.

    `n_columns` leaves out the judge, who is last, where it is also a rater.
    """
    coverage = reports.finished_coverage[:, :n_columns]
    return {
        system: tuple(map(_mean, coverage[indices].T))
        for system, indices in reports.by_system().items()
    }


def mean_of_raters(reports: ReportRows) -> dict[str, Estimate]:
    """Return each system's mean over reports of the coverage by the raters who finished them.

    `n` counts the reports that a rater has finished, `missing` the others.
    """
    coverage = reports.finished_coverage[:, : reports.n_raters]
    n_finished = (~np.isnan(coverage)).sum(axis=1)
    means = np.nansum(coverage, axis=1) / np.maximum(n_finished, 1)
    return {
        system: _mean(np.where(n_finished > 0, means, np.nan)[indices])
        for system, indices in reports.by_system().items()
    }


def _mean(values: FloatArray) -> Estimate:
    """Return the mean of the coverages of finished reports, NaN for others."""
    finished = values[~np.isnan(values)]
    if not len(finished):
        return Estimate(None, "undefined, because no report is finished", 0, len(values))
    return Estimate(float(finished.mean()), None, len(finished), len(values) - len(finished))
