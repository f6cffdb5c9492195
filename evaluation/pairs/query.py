"""Query of the list of pairs: a filter, and the items that match."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
from django import forms
from numpy.typing import NDArray

from annotation.models import SubQuestion
from evaluation.data.contradictions import contradicting_pairs, declarations
from evaluation.data.filter_line import Phrase
from evaluation.data.query import OneOf, PageQuery, SubsetOf, parameter
from evaluation.data.ratings import RatingMatrix
from evaluation.data.selection import Selection, SelectionError
from evaluation.data.slices import grades_of_slice
from evaluation.data.spans import Evidence, unmarked_answers
from evaluation.pairs.notes import noted
from evaluation.stats.clusters import binary
from evaluation.stats.majority import majority_of

BoolArray = NDArray[np.bool_]

ALL_PAIRS = "all"
CONTRADICTING = "contradicts"
MISSING_GRADE = "missing"
KINDS = {
    ALL_PAIRS: "all pairs",
    "compared": "at least two grades",
    "differ": "grades differ",
    "across": "on both sides of η",
    "both-answerable-no-overlap": "both answerable, different evidence",
    "same": "grades are the same",
    "answerable": "answerable by a rater",
    MISSING_GRADE: "a grade is missing",
    "unmarked": "a highlight is missing",
    "not-in-text": "a highlight is not in the text",
    "judge-differs": "the judge differs from a rater",
    "no-judge": "without the judge’s grade",
    "noted": "with a note",
    CONTRADICTING: "contradicts another rubric",
}
# Kinds that need a measure of the rubric: see evaluation.data.measures.
TAKES = {
    "across": "answerable",
    "answerable": "answerable",
    "both-answerable-no-overlap": "span_overlap",
    "unmarked": "span_overlap",
    "not-in-text": "span_overlap",
}
OF_JUDGE = ("judge-differs", "no-judge")  # kinds that are counted against a judge
MAJORITY_PREFIX = "most"  # before the name of a rater: most of the others
CELLS = {
    "tp": "answerable by both",
    "fp": "answerable only by the judge",
    "fn": "answerable only by the raters",
    "tn": "answerable by neither",
}


class PairQuery(PageQuery):
    """Criteria of the list, validated against the pairs of the matrix.

    `cell` and the two grades look for one rater who fits. `words` are in the sub-question, in capitals or
    not. `gave` holds sides with their grades, RATER:GRADE, or most:RATER:GRADE for the majority of those
    other than a rater: all of them fit, and of `either` one at least. `called` is a grade of the rater
    whom the selection is sliced by.
    """

    kind: str = parameter(OneOf("kind of pairs", KINDS, initial=ALL_PAIRS))
    system: str | None = parameter(OneOf("system"))
    topic: str | None = parameter(OneOf("topic"))
    words: str = parameter(forms.CharField(required=False))
    cell: tuple[str, ...] = parameter(SubsetOf("cell", CELLS))
    text: int | None = parameter(OneOf("text with the number", coerce=int))
    human_grade: int | None = parameter(OneOf("grade", coerce=int))
    judge_grade: int | None = parameter(OneOf("grade", coerce=int))
    gave: tuple[str, ...] = parameter(SubsetOf("side with a grade, called"))
    either: tuple[str, ...] = parameter(SubsetOf("side with a grade, called"))
    called: int | None = parameter(OneOf("grade by whom the pairs are sliced, called", coerce=int))

    def __init__(self, matrix: RatingMatrix, params: Mapping[str, Any]) -> None:
        self.selection = selection = matrix.selection
        sides = [
            f"{side}{rater.name}:{grade}"
            for rater in selection.raters
            for side in ("", f"{MAJORITY_PREFIX}:")
            for grade in matrix.levels
        ]
        super().__init__(
            params,
            gave=sides,
            either=sides,
            called=selection.by.rubric.grades() if selection.by else (),
            kind=_kinds(selection),
            system=matrix.systems,
            topic=matrix.topic_names.values(),
            text=matrix.texts,
            human_grade=matrix.levels,
            judge_grade=selection.judge_rubric.grades()
            if not selection.one_scale
            else matrix.levels,
        )

    def filter_phrases(self) -> Iterator[Phrase]:
        yield from self.selection.filter_phrases()
        yield Phrase(self.labels["kind"])
        yield from (Phrase(name) for name in (self.system, self.topic) if name)
        if self.words:
            yield Phrase(f"“{self.words}” in the question")

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        of_judge = values["kind"] in OF_JUDGE or values["judge_grade"] is not None
        if values["cell"] and "answerable" not in self.selection.measures:
            raise SelectionError(
                "No grade of this rubric means answerable, so it has no such cells."
            )
        if not self.selection.judge and (of_judge or values["cell"]):
            raise SelectionError("This filter needs a judge: choose one.")
        return values

    def params(self, **changes: Any) -> dict[str, Any]:
        kind = None if self.kind == ALL_PAIRS else self.kind
        return super().params(**{"kind": kind, **changes})


def kinds(selection: Selection) -> dict[str, str]:
    """Return the kinds of pairs that a page offers; those of a judge where one is chosen."""
    available = _kinds(selection)
    return {kind: available[kind] for kind in available if selection.judge or kind not in OF_JUDGE}


def _kinds(selection: Selection) -> dict[str, str]:
    """Return the kinds of pairs with their labels under the selection's rubric."""
    available = {
        kind: label
        for kind, label in KINDS.items()
        if kind not in TAKES or TAKES[kind] in selection.measures
    }
    if not declarations(selection.dataset, selection.rubric, selection.rubrics):
        del available[CONTRADICTING]
    return available


def valid_params(matrix: RatingMatrix, params: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of another rubric's filter that are valid under this one."""
    valid = {}
    for name in PairQuery.base_fields:
        if name in params:
            with suppress(SelectionError):
                PairQuery(matrix, {name: params[name]}).parse()
                valid[name] = params[name]
    return valid


def matching_items(
    matrix: RatingMatrix, evidence: Evidence, criteria: PairQuery
) -> tuple[BoolArray, BoolArray]:
    """Return the items that match a filter, and the ratings that fit it.

    Masks: items, items x raters.
    """
    ratings = ~np.isnan(matrix.grades)
    if criteria.cell or criteria.human_grade is not None or criteria.judge_grade is not None:
        ratings &= _matching_ratings(matrix, criteria)
    chosen = ratings.any(axis=1) & _of_kind(matrix, evidence, criteria.kind)
    if criteria.system:
        chosen &= matrix.system == criteria.system
    if criteria.text is not None:
        chosen &= matrix.text == criteria.text
    for side in criteria.gave:
        chosen &= _items_with_grade(matrix, side)
    if criteria.either:
        chosen &= np.any([_items_with_grade(matrix, side) for side in criteria.either], axis=0)
    if criteria.called is not None and matrix.selection.by:
        chosen &= grades_of_slice(matrix.selection.by, matrix) == criteria.called
    if criteria.topic:
        (topic,) = [pk for pk, name in matrix.topic_names.items() if name == criteria.topic]
        chosen &= matrix.topic == topic
    if criteria.words:
        questions = SubQuestion.objects.filter(
            topic__dataset=matrix.selection.dataset, body__icontains=criteria.words
        )
        chosen &= np.isin(matrix.question, list(questions.order_by().values_list("pk", flat=True)))
    return chosen, ratings


def _items_with_grade(matrix: RatingMatrix, side: str) -> BoolArray:
    """Return a mask of the items to which a side of a filter gave its grade."""
    *prefix, name, grade = side.split(":")
    selection = matrix.selection
    column = next(index for index, rater in enumerate(selection.raters) if rater.name == name)
    if not prefix:
        return np.asarray(matrix.grades[:, column] == int(grade))
    other_grades = np.delete(matrix.grades, column, axis=1)
    return np.asarray(majority_of(other_grades, matrix.levels, selection.majority) == int(grade))


def _of_kind(matrix: RatingMatrix, evidence: Evidence, kind: str) -> BoolArray:
    grades, selection = matrix.grades, matrix.selection
    if kind in ("differ", "same", "across"):
        values = grades if kind != "across" else binary(grades, selection.threshold)
        filled_low = np.where(np.isnan(values), np.inf, values).min(axis=1, initial=np.inf)
        filled_high = np.where(np.isnan(values), -np.inf, values).max(axis=1, initial=-np.inf)
        comparable = (~np.isnan(values)).sum(axis=1) >= 2
        return comparable & ((filled_low == filled_high) == (kind == "same"))
    if kind == "compared":
        return np.asarray((~np.isnan(grades)).sum(axis=1) >= 2)
    if kind == "no-judge":
        return np.isnan(matrix.judge)
    if kind == "both-answerable-no-overlap":
        return _disjoint_spans(matrix, evidence)
    if kind == "noted":
        return _mask_of(matrix, noted(selection.dataset))
    if kind == CONTRADICTING:
        raters = [rater.pk for rater in selection.raters]
        pairs = contradicting_pairs(selection.dataset, selection.rubric, selection.rubrics, raters)
        return _mask_of(matrix, pairs)
    ratings = {
        ALL_PAIRS: lambda: ~np.isnan(grades),
        "answerable": lambda: grades >= selection.threshold,
        MISSING_GRADE: lambda: np.isnan(grades),
        "unmarked": lambda: unmarked_answers(matrix, evidence),
        "not-in-text": evidence.not_in_text,
        "judge-differs": lambda: _disagreements_with_judge(matrix),
    }
    return np.asarray(ratings[kind]().any(axis=1))


def _disagreements_with_judge(matrix: RatingMatrix) -> BoolArray:
    """Return a mask of ratings on the other side of eta than the judge's: items x raters.

    Without an eta, of ratings that differ from the judge's.
    """
    selection = matrix.selection
    if "answerable" not in selection.measures:
        differs = matrix.grades != matrix.judge[:, np.newaxis]
        return np.asarray(
            differs & ~np.isnan(matrix.grades) & ~np.isnan(matrix.judge)[:, np.newaxis]
        )
    answerable = binary(matrix.grades, selection.threshold)
    judge = binary(matrix.judge, selection.judge_threshold)[:, np.newaxis]
    return np.asarray((answerable != judge) & ~np.isnan(answerable) & ~np.isnan(judge))


def _matching_ratings(matrix: RatingMatrix, criteria: PairQuery) -> BoolArray:
    """Return a mask of ratings with the filter's cells and grades: items x raters."""
    selection = matrix.selection
    judge = matrix.judge[:, np.newaxis]
    fits = np.ones(matrix.grades.shape, dtype=bool)
    if criteria.cell:
        rater_yes, judge_yes = (
            matrix.grades >= selection.threshold,
            judge >= selection.judge_threshold,
        )
        masks = {
            "tp": rater_yes & judge_yes,
            "fp": ~rater_yes & judge_yes,
            "fn": rater_yes & ~judge_yes,
            "tn": ~rater_yes & ~judge_yes,
        }
        fits &= np.any([masks[cell] for cell in criteria.cell], axis=0) & ~np.isnan(judge)
    if criteria.human_grade is not None:
        fits &= matrix.grades == criteria.human_grade
    if criteria.judge_grade is not None:
        fits &= judge == criteria.judge_grade
    return fits


def _disjoint_spans(matrix: RatingMatrix, evidence: Evidence) -> BoolArray:
    """Return a mask of items that two raters call answerable and mark without overlap."""
    disjoint = np.zeros(matrix.n_items, dtype=bool)
    answerable = matrix.grades >= matrix.selection.threshold
    for a, b in combinations(range(answerable.shape[1]), 2):
        disjoint |= answerable[:, a] & answerable[:, b] & (evidence.overlap(a, b) == 0)
    return disjoint


def _mask_of(matrix: RatingMatrix, pairs: Collection[tuple[int, int]]) -> BoolArray:
    """Return a mask of the items of these pairs, by the keys of text and question."""
    keys = zip(matrix.text.tolist(), matrix.question.tolist(), strict=True)
    return np.fromiter((key in pairs for key in keys), dtype=bool, count=matrix.n_items)
