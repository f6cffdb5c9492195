"""The pairs behind a number: filtered, and the strongest disagreement first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.models import Rubric
from evaluation.data.columns import Column
from evaluation.data.held import Held
from evaluation.data.ratings import RatingMatrix, TextRow, load
from evaluation.data.selection import Selection
from evaluation.data.spans import Evidence, load_evidence
from evaluation.pairs.notes import counts
from evaluation.pairs.params import PairFilter, carried, fitting, pair_filter
from evaluation.pairs.weights import evidence_distance, grade_distance, strongest_first
from evaluation.stats.estimate import FloatArray, IntArray

_READ = Held(3)  # of half a million ratings one takes some 60 MB


@dataclass(frozen=True)
class GradeCell:
    """A grade as it is shown: its number and its shade; None and no shade where it is missing.

    A grade that is a name has that name, and no shade, which would put it above others.
    """

    title: str
    grade: int | None
    shade: int | None
    name: str = ""


@dataclass(frozen=True)
class PairRow:
    """One pair of the list.

    `weight` is how far its grades are apart, None where a single grade leaves nothing to compare;
    `evidence` how far the highlights are, None where no two raters marked it answerable.
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
    """The pairs of a filter, in order; rows are made only for those that are shown."""

    matrix: RatingMatrix
    filter: PairFilter
    order: IntArray
    weight: FloatArray
    evidence: FloatArray
    n_ratings: int
    """The ratings that fit the filter; a pair may have several."""

    def __len__(self) -> int:
        return len(self.order)

    def query(self, **changes: object) -> str:
        """The selection and the filter as a URL's query, with changes; None drops one."""
        return self.matrix.selection.query(**(self.filter.params() | changes))

    def find(self, text: int, question: int) -> int | None:
        """The place of a pair in the list, None if the filter leaves it out."""
        matrix = self.matrix
        here = (matrix.text[self.order] == text) & (matrix.question[self.order] == question)
        places = np.flatnonzero(here)
        return int(places[0]) if len(places) else None

    def key(self, place: int) -> tuple[int, int]:
        item = self.order[place]
        return int(self.matrix.text[item]), int(self.matrix.question[item])

    def rows(self, start: int, stop: int) -> list[PairRow]:
        """The rows of the pairs at these places."""
        items = self.order[start:stop].tolist()
        keys = [(int(self.matrix.text[item]), int(self.matrix.question[item])) for item in items]
        of_notes = counts(keys)
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
    """A grade with its shade, 0 to 5 from the lowest level of its scale to the highest; or its name."""
    if grade is None or np.isnan(grade):
        return GradeCell(rater.title, None, None)
    if not rubric.has_order:
        return GradeCell(rater.title, int(grade), None, rubric.names()[int(grade)])
    levels = rubric.grades()
    return GradeCell(
        rater.title, int(grade), round(5 * (grade - levels[0]) / (levels[-1] - levels[0]))
    )


def pair_list(selection: Selection, words: Mapping[str, str]) -> PairList:
    """The pairs that these parameters ask for. Raises SelectionError as `pair_filter`.

    A form that was filled in for another rubric asks for what there is under this one of its filter.
    """
    matrix, evidence = _read(selection)
    if words.get("of_rubric", selection.rubric.slug) != selection.rubric.slug:
        words = carried(matrix, words)
    wanted = pair_filter(matrix, words)
    chosen, ratings = fitting(matrix, evidence, wanted)
    weight, apart = grade_distance(matrix), evidence_distance(matrix, evidence)
    return PairList(
        matrix=matrix,
        filter=wanted,
        # Items already are in the order of topic, text and question, which ties keep.
        order=strongest_first(np.flatnonzero(chosen), weight, apart),
        weight=weight,
        evidence=apart,
        n_ratings=int(ratings[chosen].sum()),
    )


def _read(selection: Selection) -> tuple[RatingMatrix, Evidence]:
    """What the raters of a selection gave and marked, read once for a way through its list."""

    def read() -> tuple[RatingMatrix, Evidence]:
        matrix = load(selection)
        return matrix, load_evidence(matrix)

    return _READ.while_unwritten((*selection.key, selection.why_judge), read)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
