"""List of the pairs behind a number: filtered, strongest disagreement first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.models import Rubric
from evaluation.data.columns import Column
from evaluation.data.corpus import TextRow
from evaluation.data.process_cache import RATING_MATRICES
from evaluation.data.ratings import RatingMatrix, load
from evaluation.data.selection import Selection
from evaluation.data.spans import Evidence, load_evidence
from evaluation.pairs.notes import counts
from evaluation.pairs.query import MISSING_GRADE, PairQuery, matching_items, valid_params
from evaluation.pairs.weights import evidence_distance, grade_distance, strongest_first
from evaluation.stats.estimate import FloatArray, IntArray


@dataclass(frozen=True)
class GradeCell:
    """Displayed grade: its number and its shade; None and no shade where it is missing.

    A grade that is a name has that name, and no shade, which would put it above others.
    """

    title: str
    grade: int | None
    shade: int | None
    name: str = ""


@dataclass(frozen=True)
class PairRow:
    """Row of a pair in the list.

    `weight` is the distance of its grades, None where a single grade leaves nothing to compare;
    `evidence` that of the highlights, None where no two raters marked it answerable.
    """

    text: TextRow
    question: int
    number: int
    topic: str
    grades: tuple[GradeCell, ...]
    judge: GradeCell | None
    weight: float | None
    evidence: float | None
    n_notes: int

    @property
    def key(self) -> tuple[int, int]:
        return self.text.pk, self.question


@dataclass(frozen=True)
class PairList:
    """Pairs of a filter, in order; rows are made only for those that are shown."""

    matrix: RatingMatrix
    filter: PairQuery
    order: IntArray
    weight: FloatArray
    evidence: FloatArray
    n_ratings: int
    """The ratings that fit the filter; a pair may have several."""

    def __len__(self) -> int:
        return len(self.order)

    @property
    def n_missing(self) -> int:
        """Number of missing grades of people, where these are what the filter asks for."""
        lists_missing = self.filter.kind == MISSING_GRADE
        return int(np.isnan(self.matrix.grades[self.order]).sum()) if lists_missing else 0

    def query(self, **changes: object) -> str:
        """Return the selection and the filter as a query string, with changes; None drops one."""
        return self.matrix.selection.query(**(self.filter.params() | changes))

    def find(self, text: int, question: int) -> int | None:
        """Return the index of a pair in the list, None if the filter excludes it."""
        matrix = self.matrix
        mask = (matrix.text[self.order] == text) & (matrix.question[self.order] == question)
        matches = np.flatnonzero(mask)
        return int(matches[0]) if len(matches) else None

    def key(self, index: int) -> tuple[int, int]:
        item = self.order[index]
        return int(self.matrix.text[item]), int(self.matrix.question[item])

    def rows(self, start: int, stop: int) -> list[PairRow]:
        """Return the rows of the pairs from index `start` to `stop`."""
        items = self.order[start:stop].tolist()
        keys = [(int(self.matrix.text[item]), int(self.matrix.question[item])) for item in items]
        of_notes = counts(self.matrix.selection.dataset, keys)
        return [self._row(item, of_notes[key]) for item, key in zip(items, keys, strict=True)]

    def _row(self, item: int, n_notes: int) -> PairRow:
        matrix, selection = self.matrix, self.matrix.selection
        question = matrix.questions[int(matrix.question[item])]
        return PairRow(
            text=matrix.texts[int(matrix.text[item])],
            question=question.pk,
            number=question.position + 1,
            topic=question.topic_name,
            grades=tuple(
                grade_cell(rater, float(grade), selection.rubric)
                for rater, grade in zip(selection.raters, matrix.grades[item], strict=True)
                if not (selection.is_crowd and np.isnan(grade))
            ),
            judge=grade_cell(
                selection.judge,
                float(matrix.judge[item]),
                selection.judge_rubric,
            )
            if selection.judge
            else None,
            weight=_defined(self.weight[item]),
            evidence=_defined(self.evidence[item]),
            n_notes=n_notes,
        )


def grade_cell(rater: Column, grade: float | None, rubric: Rubric) -> GradeCell:
    """Return a grade with its name, or its shade: 0 to 5, lowest to highest level."""
    if grade is None or np.isnan(grade):
        return GradeCell(rater.title, None, None)
    if not rubric.has_order:
        return GradeCell(rater.title, int(grade), None, rubric.name_of(int(grade)))
    levels = rubric.grades()
    return GradeCell(
        rater.title, int(grade), round(5 * (grade - levels[0]) / (levels[-1] - levels[0]))
    )


def pair_list(selection: Selection, params: Mapping[str, str]) -> PairList:
    """Return the pairs that these parameters ask for. Raises SelectionError.

    A form that was filled in for another rubric keeps the parts of its filter that this one has.
    """
    matrix, evidence = _load_cached(selection)
    if params.get("of_rubric", selection.rubric.slug) != selection.rubric.slug:
        params = valid_params(matrix, params)
    criteria = PairQuery(matrix, params).parse()
    chosen, ratings = matching_items(matrix, evidence, criteria)
    weight, distance = grade_distance(matrix), evidence_distance(matrix, evidence)
    return PairList(
        matrix=matrix,
        filter=criteria,
        # Items already are in the order of topic, text and question, which ties keep.
        order=strongest_first(np.flatnonzero(chosen), weight, distance),
        weight=weight,
        evidence=distance,
        n_ratings=int(ratings[chosen].sum()),
    )


def _load_cached(selection: Selection) -> tuple[RatingMatrix, Evidence]:
    """Return grades and highlights of a selection, cached for paging through its list."""

    def load_both() -> tuple[RatingMatrix, Evidence]:
        matrix = load(selection)
        return matrix, load_evidence(matrix)

    return RATING_MATRICES.until_db_write((*selection.key, selection.judge_reason), load_both)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
