"""Which pairs a list shows: the filter in a URL, and the items that it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from django import forms
from numpy.typing import NDArray

from annotation.models import SubQuestion
from evaluation.data.query import EachOf, OneOf, QueryForm
from evaluation.data.ratings import RatingMatrix
from evaluation.data.selection import Selection, SelectionError
from evaluation.data.slices import called_by
from evaluation.data.spans import Evidence, unmarked_answers
from evaluation.pairs.notes import noted
from evaluation.stats.clusters import binary
from evaluation.stats.majority import majority_of

BoolArray = NDArray[np.bool_]

ALL = "all"
KINDS = {
    ALL: "all pairs",
    "compared": "two grades or more",
    "differ": "grades differ",
    "across": "on both sides of η",
    "both-answerable-no-overlap": "both answerable, different evidence",
    "same": "grades are the same",
    "answerable": "a rater says answerable",
    "missing": "a grade is missing",
    "unmarked": "a highlight is missing",
    "not-in-text": "a highlight is not in the text",
    "judge-differs": "the judge differs from a rater",
    "no-judge": "without the judge’s grade",
    "noted": "with a note",
}
# Kinds that take more of a rubric than grades: see evaluation.data.measures.
TAKES = {
    "across": "answerable",
    "answerable": "answerable",
    "both-answerable-no-overlap": "span_overlap",
    "unmarked": "span_overlap",
    "not-in-text": "span_overlap",
}
OF_JUDGE = ("judge-differs", "no-judge")  # kinds that are counted against a judge
MOST = "most"  # before the name of a rater: most of the others
CELLS = {
    "tp": "both answerable",
    "fp": "judge alone answerable",
    "fn": "raters alone answerable",
    "tn": "neither answerable",
}


@dataclass(frozen=True)
class PairFilter:
    """Which pairs are listed. `cell` and the two grades look for one rater who fits; `words` are
    in the sub-question, in capitals or not. `gave` holds sides with their grades, RATER:GRADE, or
    most:RATER:GRADE for the majority of those other than a rater: all of them fit, and of `either`
    one at least. `called` is a grade of the rater whom the selection is sliced by."""

    kind: str
    system: str | None
    topic: str | None
    words: str
    cell: tuple[str, ...]
    text: int | None
    human_grade: int | None
    judge_grade: int | None
    gave: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    called: int | None = None

    def params(self) -> dict[str, str | None]:
        """As parameters of a URL, None where nothing is asked."""
        kind = None if self.kind == ALL else self.kind
        words = asdict(self) | {"kind": kind}
        words |= {name: ",".join(words[name]) for name in ("cell", "gave", "either")}
        return {name: None if value in (None, "") else str(value) for name, value in words.items()}


class PairForm(QueryForm):
    """The parameters of a filter, checked against the pairs that there are."""

    kind = OneOf("kind of pairs", KINDS, initial=ALL)
    cell = EachOf("cell", CELLS)
    system = OneOf("system")
    topic = OneOf("topic")
    words = forms.CharField(required=False)
    text = OneOf("text with the number", coerce=int)
    human_grade = OneOf("grade", coerce=int)
    judge_grade = OneOf("grade", coerce=int)
    gave = EachOf("side with a grade, called")
    either = EachOf("side with a grade, called")
    called = OneOf("grade by whom the pairs are sliced, called", coerce=int)

    def __init__(self, matrix: RatingMatrix, query: Mapping[str, str]) -> None:
        super().__init__(query)
        selection = matrix.selection
        self.judge, self.measures = selection.judge, selection.measures
        sides = [
            f"{side}{rater.name}:{grade}"
            for rater in selection.raters
            for side in ("", f"{MOST}:")
            for grade in selection.levels
        ]
        self.offer(
            gave=sides,
            either=sides,
            called=selection.by.rubric.grades() if selection.by else (),
            kind=_kinds(selection),
            system=matrix.systems,
            topic=matrix.topic_names.values(),
            text=matrix.texts,
            human_grade=matrix.selection.levels,
            judge_grade=matrix.selection.judge_rubric.grades(),
        )

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        of_judge = asked.get("kind") in OF_JUDGE
        if asked.get("cell") and "answerable" not in self.measures:
            raise SelectionError("No grade of this rubric says answerable: it has no such cells.")
        if not self.judge and (of_judge or asked.get("cell") or self.data.get("judge_grade")):
            raise SelectionError("These pairs are counted against a judge: choose one.")
        return asked


def kinds(selection: Selection) -> dict[str, str]:
    """The kinds of pairs that a page offers, with their words: those of a judge where one is chosen."""
    there = _kinds(selection)
    return {kind: there[kind] for kind in there if selection.judge or kind not in OF_JUDGE}


def _kinds(selection: Selection) -> dict[str, str]:
    """The kinds of pairs that there are under the selection's rubric."""
    return {
        kind: words
        for kind, words in KINDS.items()
        if kind not in TAKES or TAKES[kind] in selection.measures
    }


def pair_filter(matrix: RatingMatrix, query: Mapping[str, str]) -> PairFilter:
    """The filter that these parameters ask for.

    Raises SelectionError for a kind, system, topic, cell or grade that is not there, and for what
    needs a judge where none is chosen.
    """
    return PairFilter(**PairForm(matrix, query).asked())


def carried(matrix: RatingMatrix, query: Mapping[str, str]) -> dict[str, str]:
    """What of the filter of another rubric there is under this one, too."""
    kept = {}
    for name in PairForm.base_fields:
        if name in query:
            with suppress(SelectionError):
                pair_filter(matrix, {name: query[name]})
                kept[name] = query[name]
    return kept


def fitting(
    matrix: RatingMatrix, evidence: Evidence, wanted: PairFilter
) -> tuple[BoolArray, BoolArray]:
    """The items that a filter leaves, and the ratings that fit it: items, items x raters."""
    ratings = ~np.isnan(matrix.grades)
    if wanted.cell or wanted.human_grade is not None or wanted.judge_grade is not None:
        ratings &= _ratings(matrix, wanted)
    chosen = ratings.any(axis=1) & _of_kind(matrix, evidence, wanted.kind)
    if wanted.system:
        chosen &= matrix.system == wanted.system
    if wanted.text is not None:
        chosen &= matrix.text == wanted.text
    for side in wanted.gave:
        chosen &= _gave(matrix, side)
    if wanted.either:
        chosen &= np.any([_gave(matrix, side) for side in wanted.either], axis=0)
    if wanted.called is not None and matrix.selection.by:
        chosen &= called_by(matrix.selection.by, matrix) == wanted.called
    if wanted.topic:
        (topic,) = [pk for pk, name in matrix.topic_names.items() if name == wanted.topic]
        chosen &= matrix.topic == topic
    if wanted.words:
        asked = SubQuestion.objects.filter(
            topic__dataset=matrix.selection.dataset, body__icontains=wanted.words
        )
        chosen &= np.isin(matrix.question, list(asked.order_by().values_list("pk", flat=True)))
    return chosen, ratings


def _gave(matrix: RatingMatrix, side: str) -> BoolArray:
    """The items to which a side gave its grade, as a filter has it."""
    *most, name, grade = side.split(":")
    selection = matrix.selection
    column = next(place for place, rater in enumerate(selection.raters) if rater.name == name)
    if not most:
        return np.asarray(matrix.grades[:, column] == int(grade))
    others = np.delete(matrix.grades, column, axis=1)
    return np.asarray(majority_of(others, selection.levels, selection.majority) == int(grade))


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
        return _spans_apart(matrix, evidence)
    if kind == "noted":
        return _noted(matrix)
    ratings = {
        ALL: lambda: ~np.isnan(grades),
        "answerable": lambda: grades >= selection.threshold,
        "missing": lambda: np.isnan(grades),
        "unmarked": lambda: unmarked_answers(matrix, evidence),
        "not-in-text": evidence.not_in_text,
        "judge-differs": lambda: _says_otherwise(matrix),
    }
    return np.asarray(ratings[kind]().any(axis=1))


def _says_otherwise(matrix: RatingMatrix) -> BoolArray:
    """The ratings on the other side of eta than the judge's, or without one other ratings: items x raters."""
    selection = matrix.selection
    if "answerable" not in selection.measures:
        other = matrix.grades != matrix.judge[:, np.newaxis]
        return np.asarray(other & ~np.isnan(matrix.grades) & ~np.isnan(matrix.judge)[:, np.newaxis])
    says = binary(matrix.grades, selection.threshold)
    judge = binary(matrix.judge, selection.judge_threshold)[:, np.newaxis]
    return np.asarray((says != judge) & ~np.isnan(says) & ~np.isnan(judge))


def _ratings(matrix: RatingMatrix, wanted: PairFilter) -> BoolArray:
    """The ratings in the cells, and with the grades, that the filter asks for: items x raters."""
    selection = matrix.selection
    judge = matrix.judge[:, np.newaxis]
    fits = np.ones(matrix.grades.shape, dtype=bool)
    if wanted.cell:
        says, means = matrix.grades >= selection.threshold, judge >= selection.judge_threshold
        masks = {
            "tp": says & means,
            "fp": ~says & means,
            "fn": says & ~means,
            "tn": ~says & ~means,
        }
        fits &= np.any([masks[cell] for cell in wanted.cell], axis=0) & ~np.isnan(judge)
    if wanted.human_grade is not None:
        fits &= matrix.grades == wanted.human_grade
    if wanted.judge_grade is not None:
        fits &= judge == wanted.judge_grade
    return fits


def _spans_apart(matrix: RatingMatrix, evidence: Evidence) -> BoolArray:
    """The items that two raters call answerable and mark, without a character in common."""
    apart = np.zeros(matrix.n_items, dtype=bool)
    says = matrix.grades >= matrix.selection.threshold
    for a, b in combinations(range(says.shape[1]), 2):
        apart |= says[:, a] & says[:, b] & (evidence.overlap(a, b) == 0)
    return apart


def _noted(matrix: RatingMatrix) -> BoolArray:
    """The items that somebody of the project left a note on."""
    pairs = noted(matrix.selection.dataset)
    keys = zip(matrix.text.tolist(), matrix.question.tolist(), strict=True)
    return np.fromiter((key in pairs for key in keys), dtype=bool, count=matrix.n_items)
