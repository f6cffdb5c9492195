"""Values of each report of a system by each rater who finished it: input of the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.data.measures import TAKES, UNDEFINED_REASONS
from evaluation.data.process_cache import SYSTEM_VALUES
from evaluation.data.ratings import RatingMatrix, load
from evaluation.data.selection import Selection, SelectionError
from evaluation.scoring.report_coverage import finished_coverage, report_rows
from evaluation.stats.estimate import FloatArray

COVERAGE, GRADE = "coverage", "grade"
OUTCOMES = {COVERAGE: "coverage", GRADE: "mean grade"}


@dataclass(frozen=True)
class SystemValues:
    """Values with the names of their system, topic and rater; one row a text and rater.

    `n_missing` counts the texts x raters that are not rated throughout: they have no row.
    """

    values: FloatArray
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    raters: tuple[str, ...]
    n_missing: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The systems, by name."""
        return tuple(sorted(set(self.systems)))

    @cached_property
    def by_topic(self) -> dict[str, FloatArray]:
        """By system one mean over raters for each topic, NaN where it has none."""
        topic_index = {name: index for index, name in enumerate(dict.fromkeys(self.topics))}
        topic = np.array([topic_index[name] for name in self.topics], dtype=np.int64)
        means = {}
        for name in self.names:
            of_system = np.array([system == name for system in self.systems], dtype=bool)
            n = np.bincount(topic[of_system], minlength=len(topic_index))
            sums = np.bincount(
                topic[of_system], weights=self.values[of_system], minlength=len(topic_index)
            )
            means[name] = np.divide(sums, n, out=np.full(len(topic_index), np.nan), where=n > 0)
        return means


def outcomes(selection: Selection) -> tuple[str, ...]:
    """Return the outcomes that can be modelled under the rubric.

    For yes and no the mean is the coverage.

    Raises SelectionError where its grades are neither answerable or not nor numbers with a mean.
    """
    measures = selection.measures
    candidates = [(COVERAGE, "coverage"), (GRADE, "mean_grade")]
    available = tuple(name for name, measure in candidates if measure in measures)
    if not available:
        reason = " and ".join(UNDEFINED_REASONS[TAKES[measure]] for _, measure in candidates)
        raise SelectionError(f"Under {selection.rubric.title} systems have no value: {reason}.")
    return available


def system_values(selection: Selection, outcome: str) -> SystemValues:
    """Coverage of each report (see `report_rows`), or the mean of its grades, by each rater.

    Texts that no system wrote, which are passages and references, are left out.
    """
    return SYSTEM_VALUES.until_db_write(
        (*selection.key, outcome), lambda: _system_values(selection, outcome)
    )


def _system_values(selection: Selection, outcome: str) -> SystemValues:
    matrix = load(selection, with_copies=True)
    rows = _coverages(matrix) if outcome == COVERAGE else _grades(matrix)
    finished = [row for row in rows if not np.isnan(row[3])]
    systems, topics, raters, values = zip(*finished, strict=True) if finished else ((),) * 4
    return SystemValues(
        np.array(values, dtype=np.float64), systems, topics, raters, len(rows) - len(finished)
    )


Row = tuple[str, str, str, float]


def _coverages(matrix: RatingMatrix) -> list[Row]:
    rows = [row for row in report_rows(matrix) if matrix.texts[row.text].system]
    names = [rater.name for rater in matrix.selection.raters]
    return [
        (row.system, row.topic, name, share)
        for row, shares in zip(rows, finished_coverage(rows).tolist(), strict=True)
        for name, share in zip(names, shares, strict=False)  # the judge's is last
    ]


def _grades(matrix: RatingMatrix) -> list[Row]:
    texts, first, inverse = np.unique(matrix.text, return_index=True, return_inverse=True)
    topics = [matrix.topic_names[topic] for topic in matrix.topic[first].tolist()]
    rows: list[Row] = []
    for column, rater in enumerate(matrix.selection.raters):
        # One grade that is missing makes the mean NaN: the rater has not finished the text.
        sums = np.bincount(inverse, weights=matrix.grades[:, column], minlength=len(texts))
        means = (sums / np.bincount(inverse, minlength=len(texts))).tolist()
        for text, topic, mean in zip(texts.tolist(), topics, means, strict=True):
            system = matrix.texts[text].system
            if system:
                rows.append((system, topic, rater.name, mean))
    return rows
