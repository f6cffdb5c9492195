"""The pairs behind a number: filtered, and the strongest disagreement first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluation.agreement.estimate import FloatArray, IntArray
from evaluation.agreement.overlap import span_overlap
from evaluation.clusters import binary
from evaluation.matrices import RatingMatrix, Spans, TextRow, load, load_spans
from evaluation.selection import Column, Selection, SelectionError, one_of

KINDS = {
    "all": "all pairs",
    "compared": "two grades or more",
    "differ": "grades differ",
    "same": "grades are the same",
    "across": "on both sides of η",
    "both-answerable-no-overlap": "both answerable, spans apart",
    "missing": "a grade is missing",
    "judge-differs": "the judge differs from a rater",
    "no-judge": "without the judge’s grade",
}
CELLS = {
    "tp": "both answerable",
    "fp": "judge alone answerable",
    "fn": "raters alone answerable",
    "tn": "neither answerable",
}


@dataclass(frozen=True)
class PairFilter:
    """Which pairs are listed. `cells` and the two grades look for one rater who fits."""

    kind: str = "all"
    system: str = ""
    topic: str = ""
    cells: tuple[str, ...] = ()
    human_grade: int | None = None
    judge_grade: int | None = None
    text: int | None = None

    def params(self) -> dict[str, str | None]:
        """As parameters of a URL, None where nothing is asked."""
        return {
            "kind": None if self.kind == "all" else self.kind,
            "system": self.system or None,
            "topic": self.topic or None,
            "cell": ",".join(self.cells) or None,
            "text": None if self.text is None else str(self.text),
            "human_grade": None if self.human_grade is None else str(self.human_grade),
            "judge_grade": None if self.judge_grade is None else str(self.judge_grade),
        }


@dataclass(frozen=True)
class GradeCell:
    """A grade as it is shown: its number and its shade; None and no shade where it is missing."""

    title: str
    grade: int | None
    shade: int | None


@dataclass(frozen=True)
class PairRow:
    """One pair of the list. `weight` is None where a single grade leaves nothing to compare."""

    text: TextRow
    question: int
    number: int
    topic: str
    grades: tuple[GradeCell, ...]
    judge: GradeCell | None
    weight: float | None

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
        found = np.flatnonzero(here)
        return int(found[0]) if len(found) else None

    def key(self, at: int) -> tuple[int, int]:
        item = self.order[at]
        return int(self.matrix.text[item]), int(self.matrix.question[item])

    def rows(self, start: int, stop: int) -> list[PairRow]:
        """The rows of the pairs at these places."""
        return [self._row(item) for item in self.order[start:stop].tolist()]

    def _row(self, item: int) -> PairRow:
        matrix, selection = self.matrix, self.matrix.selection
        question = matrix.questions[int(matrix.question[item])]
        weight = float(self.weight[item])
        return PairRow(
            text=matrix.texts[int(matrix.text[item])],
            question=question.pk,
            number=question.position + 1,
            topic=question.topic_name,
            grades=tuple(
                grade_cell(rater, float(grade), selection.levels)
                for rater, grade in zip(selection.raters, matrix.grades[item], strict=True)
            ),
            judge=grade_cell(
                selection.judge,
                float(matrix.judge[item]),
                tuple(selection.judge_rubric.grades()),
            )
            if selection.judge
            else None,
            weight=None if np.isnan(weight) else weight,
        )


def grade_cell(rater: Column, grade: float | None, levels: tuple[int, ...]) -> GradeCell:
    """A grade with one of six shades, from the lowest level of its scale to the highest."""
    if grade is None or np.isnan(grade):
        return GradeCell(rater.title, None, None)
    return GradeCell(
        rater.title, int(grade), round(5 * (grade - levels[0]) / (levels[-1] - levels[0]))
    )


def parse_filter(matrix: RatingMatrix, words: Mapping[str, str]) -> PairFilter:
    """The filter that these parameters ask for.

    Raises SelectionError for a kind, system, topic, cell or grade that is not there, and for what
    needs a judge where none is chosen.
    """
    selection = matrix.selection
    kind = words.get("kind") or "all"
    cells = tuple(part for part in words.get("cell", "").split(",") if part)
    one_of("kind of pairs", kind, KINDS)
    for cell in cells:
        one_of("cell", cell, CELLS)
    needs_judge = cells or words.get("judge_grade") or kind in ("judge-differs", "no-judge")
    if needs_judge and not selection.judge:
        raise SelectionError("These pairs are counted against a judge: choose one.")
    system, topic = words.get("system", ""), words.get("topic", "")
    if system:
        one_of("system", system, matrix.systems)
    if topic:
        one_of("topic", topic, matrix.topic_names.values())
    text = words.get("text", "")
    if text:
        one_of("text with the number", text, map(str, matrix.texts))
    return PairFilter(
        kind=kind,
        system=system,
        topic=topic,
        cells=cells,
        text=int(text) if text else None,
        human_grade=_grade(words.get("human_grade"), selection.levels),
        judge_grade=_grade(words.get("judge_grade"), tuple(selection.judge_rubric.grades())),
    )


def pair_list(selection: Selection, words: Mapping[str, str]) -> PairList:
    """The pairs that these parameters ask for. Spans are read only where the filter needs them."""
    matrix = load(selection)
    wanted = parse_filter(matrix, words)
    ratings = ~np.isnan(matrix.grades)
    if wanted.cells or wanted.human_grade is not None or wanted.judge_grade is not None:
        ratings &= _fitting(matrix, wanted)
    chosen = ratings.any(axis=1) & _of_kind(matrix, wanted.kind)
    if wanted.system:
        chosen &= matrix.system == wanted.system
    if wanted.text is not None:
        chosen &= matrix.text == wanted.text
    if wanted.topic:
        names = [matrix.topic_names[pk] for pk in matrix.topic.tolist()]
        chosen &= np.array(names, dtype=np.str_) == wanted.topic
    weight = _weights(matrix)
    items = np.flatnonzero(chosen)
    # Items already are in the order of topic, text and question; a stable sort keeps it for ties.
    order = items[np.argsort(-np.nan_to_num(weight[items], nan=-1.0), kind="stable")]
    return PairList(
        matrix=matrix,
        filter=wanted,
        order=order,
        weight=weight,
        n_ratings=int(ratings[chosen].sum()),
    )


def _grade(value: str | None, levels: tuple[int, ...]) -> int | None:
    return int(one_of("grade", value, map(str, levels))) if value else None


def _of_kind(matrix: RatingMatrix, kind: str) -> NDArray[np.bool_]:
    grades, selection = matrix.grades, matrix.selection
    if kind in ("differ", "same", "across"):
        values = grades if kind != "across" else binary(grades, selection.threshold)
        filled_low = np.where(np.isnan(values), np.inf, values).min(axis=1, initial=np.inf)
        filled_high = np.where(np.isnan(values), -np.inf, values).max(axis=1, initial=-np.inf)
        comparable = (~np.isnan(values)).sum(axis=1) >= 2
        return comparable & ((filled_low == filled_high) == (kind == "same"))
    if kind == "compared":
        return np.asarray((~np.isnan(grades)).sum(axis=1) >= 2)
    if kind == "missing":
        return np.asarray(np.isnan(grades).any(axis=1))
    if kind == "no-judge":
        return np.isnan(matrix.judge)
    if kind == "judge-differs":
        return np.asarray(_says_otherwise(matrix).any(axis=1))
    if kind == "both-answerable-no-overlap":
        return _spans_apart(matrix, load_spans(selection))
    return np.ones(matrix.n_items, dtype=bool)


def _says_otherwise(matrix: RatingMatrix) -> NDArray[np.bool_]:
    """The ratings on the other side of eta than the judge's: items x raters."""
    selection = matrix.selection
    says = binary(matrix.grades, selection.threshold)
    judge = binary(matrix.judge, selection.judge_threshold)[:, np.newaxis]
    return np.asarray((says != judge) & ~np.isnan(says) & ~np.isnan(judge))


def _fitting(matrix: RatingMatrix, wanted: PairFilter) -> NDArray[np.bool_]:
    """The ratings in the cells, and with the grades, that the filter asks for: items x raters."""
    selection = matrix.selection
    judge = matrix.judge[:, np.newaxis]
    fits = np.ones(matrix.grades.shape, dtype=bool)
    if wanted.cells:
        says, means = matrix.grades >= selection.threshold, judge >= selection.judge_threshold
        masks = {
            "tp": says & means,
            "fp": ~says & means,
            "fn": says & ~means,
            "tn": ~says & ~means,
        }
        fits &= np.any([masks[cell] for cell in wanted.cells], axis=0) & ~np.isnan(judge)
    if wanted.human_grade is not None:
        fits &= matrix.grades == wanted.human_grade
    if wanted.judge_grade is not None:
        fits &= judge == wanted.judge_grade
    return fits


def _spans_apart(matrix: RatingMatrix, spans: Spans) -> NDArray[np.bool_]:
    """The items that two raters call answerable and mark, without a character in common."""
    apart = np.zeros(matrix.n_items, dtype=bool)
    says = matrix.grades >= matrix.selection.threshold
    for item in np.flatnonzero(says.sum(axis=1) >= 2).tolist():
        cell = (int(matrix.text[item]), int(matrix.question[item]))
        raters = [matrix.selection.raters[at].pk for at in np.flatnonzero(says[item])]
        marks = [spans.located[(pk, *cell)] for pk in raters if (pk, *cell) in spans.located]
        apart[item] = any(span_overlap(a, b).meet is False for a, b in combinations(marks, 2))
    return apart


def _weights(matrix: RatingMatrix) -> FloatArray:
    """How far the grades of each item are apart: 0 the same, 1 as far as the scale allows.

    The mean distance between two grades, over all pairs of raters and of a rater with the judge,
    as a share of the scale. A judge on another scale counts as answerable or not. NaN for an item
    with one grade.
    """
    selection = matrix.selection
    reach = selection.levels[-1] - selection.levels[0]
    graders = (matrix.grades - selection.levels[0]) / reach
    if selection.judge:
        judge = (
            (matrix.judge - selection.levels[0]) / reach
            if selection.one_scale
            else binary(matrix.judge, selection.judge_threshold)
        )
        graders = np.column_stack([graders, judge])
    total, n = np.zeros(matrix.n_items), np.zeros(matrix.n_items)
    for a, b in combinations(range(graders.shape[1]), 2):
        distance = np.abs(graders[:, a] - graders[:, b])
        total += np.nan_to_num(distance)
        n += ~np.isnan(distance)
    return np.divide(total, n, out=np.full(matrix.n_items, np.nan), where=n > 0)
