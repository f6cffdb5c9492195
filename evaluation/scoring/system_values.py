"""Values of each report of a system by each rater who finished it: input of the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.data.measures import TAKES, UNDEFINED_REASONS
from evaluation.data.process_cache import SYSTEM_VALUES
from evaluation.data.ratings import RatingMatrix, load
from evaluation.data.selection import Selection, SelectionError
from evaluation.metrics.grades import BoolArray
from evaluation.scoring.report_coverage import report_rows
from evaluation.stats.estimate import FloatArray, IntArray

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
    def _system_index(self) -> IntArray:
        index_of = {name: index for index, name in enumerate(self.names)}
        return np.array([index_of[name] for name in self.systems], dtype=np.int64)

    def of_system(self, name: str) -> BoolArray:
        """Return a mask of the values of a system."""
        return np.asarray(self._system_index == self.names.index(name))

    @cached_property
    def by_topic(self) -> dict[str, FloatArray]:
        """By system one mean over raters for each topic, NaN where it has none."""
        topic_index = {name: index for index, name in enumerate(dict.fromkeys(self.topics))}
        topic = np.array([topic_index[name] for name in self.topics], dtype=np.int64)
        means = {}
        for name in self.names:
            of_system = self.of_system(name)
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
    # The order decides last digits: coverages are by report, grades by rater.
    if outcome == COVERAGE:
        texts, values = _coverages(matrix)
        text, rater = np.nonzero(~np.isnan(values))
    else:
        texts, values = _grades(matrix)
        rater, text = np.nonzero(~np.isnan(values.T))
    systems = [system for system, _ in texts]
    topics = [topic for _, topic in texts]
    names = [column.name for column in selection.raters]
    return SystemValues(
        values[text, rater],
        tuple(systems[row] for row in text.tolist()),
        tuple(topics[row] for row in text.tolist()),
        tuple(names[column] for column in rater.tolist()),
        n_missing=values.size - len(text),
    )


Values = tuple[list[tuple[str, str]], FloatArray]
"""System and topic of each text, and its values: texts x raters, NaN where a rater has not finished it."""


def _coverages(matrix: RatingMatrix) -> Values:
    rows = report_rows(matrix)
    texts = rows.texts.tolist()
    rows = rows.take([n for n, text in enumerate(texts) if matrix.texts[text].system])
    # The judge's column is after those of the raters.
    coverages = rows.finished_coverage[:, : rows.n_raters]
    return list(zip(rows.systems, rows.topics, strict=True)), coverages


def _grades(matrix: RatingMatrix) -> Values:
    texts, first, inverse = np.unique(matrix.text, return_index=True, return_inverse=True)
    has_system = np.array([bool(matrix.texts[text].system) for text in texts.tolist()], dtype=bool)
    topics = [matrix.topic_names[topic] for topic in matrix.topic[first].tolist()]
    n_items = np.bincount(inverse, minlength=len(texts))
    means = [
        # One grade that is missing makes the mean NaN: the rater has not finished the text.
        np.bincount(inverse, weights=grades, minlength=len(texts)) / n_items
        for grades in matrix.grades[:, : len(matrix.selection.raters)].T
    ]
    of_texts = zip(texts.tolist(), topics, strict=True)
    system_topics = [(matrix.texts[text].system, topic) for text, topic in of_texts]
    values = np.array(means).reshape(len(means), len(texts)).T[has_system]
    return [
        names for names, has in zip(system_topics, has_system.tolist(), strict=True) if has
    ], values
