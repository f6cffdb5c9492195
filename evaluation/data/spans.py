"""Nugget spans of all raters as arrays, and their overlap between two raters.

Highlights are rows of arrays: no loop over pairs of raters and items computes an overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import Case, SmallIntegerField, Value, When
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from annotation.models import NuggetSpan
from evaluation.data.ratings import RatingMatrix, ratings_under
from evaluation.stats.estimate import FloatArray, IntArray

LOCATED = tuple(NuggetSpan.Located.values)
ROW = np.dtype(
    [(name, np.int64) for name in ("rater", "text", "question", "start", "end", "located")]
)


@dataclass(frozen=True)
class Evidence:
    """The highlights of a matrix's raters: one row each, in no order.

    `item` is -1 where the pair is no item of the matrix, `column` the rater's place among its
    raters; `start` and `end` count code points and are -1 where the words are not in the text;
    `located` is a place in LOCATED.
    """

    matrix: RatingMatrix
    item: IntArray
    column: IntArray
    start: IntArray
    end: IntArray
    located: IntArray

    def tally(self, column: int) -> dict[str, int]:
        """Count the highlights of a rater by the way in which they were located."""
        counts = np.bincount(self.located[self.column == column], minlength=len(LOCATED))
        return dict(zip(LOCATED, counts.tolist(), strict=True))

    def marked(self) -> NDArray[np.bool_]:
        """The ratings with any highlight, found in the text or not: items x raters."""
        return self._cells(self.item >= 0)

    def not_in_text(self) -> NDArray[np.bool_]:
        """The ratings with a highlight whose words are not in the text: items x raters."""
        return self._cells((self.item >= 0) & (self.start < 0))

    def characters(self, *columns: int) -> IntArray:
        """Count the characters of each item that at least one of these raters marks."""
        rows = np.concatenate([self._in_text_by[column] for column in columns])
        return covered(self.item[rows], self.start[rows], self.end[rows], self.matrix.n_items)

    @cached_property
    def _in_text_by(self) -> list[IntArray]:
        """The rows that mark words of an item's text, rater by rater."""
        in_text = (self.item >= 0) & (self.start >= 0)
        return [
            np.flatnonzero(in_text & (self.column == column))
            for column in range(self.matrix.grades.shape[1])
        ]

    @cached_property
    def _characters_by(self) -> list[IntArray]:
        """The characters of each item that each rater marks, rater by rater."""
        return [self.characters(column) for column in range(self.matrix.grades.shape[1])]

    def have_marks(self, *columns: int) -> bool:
        """Return whether each of these raters has marked words that are in a text."""
        return all(len(self._in_text_by[column]) for column in columns)

    def overlap(self, a: int, b: int) -> FloatArray:
        """Character intersection over union of two raters' marks in each item, 0 to 1.

        NaN for an item in which one of them has nothing in the text. Source: as
        `evaluation.stats.overlap.span_overlap`, which counts one item.
        """
        first, second = self._characters_by[a], self._characters_by[b]
        either = self.characters(a, b)
        both = (first > 0) & (second > 0)
        common = (first + second - either).astype(np.float64)
        return np.divide(common, either, out=np.full(len(both), np.nan), where=both)

    def _cells(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        cells = np.zeros(self.matrix.grades.shape, dtype=bool)
        cells[self.item[mask], self.column[mask]] = True
        return cells


def covered(item: IntArray, start: IntArray, end: IntArray, n_items: int) -> IntArray:
    """Count the characters of each of `n_items` items that its highlights cover, each once.

    One row a highlight, half-open [start, end) with 0 <= start < end; they may overlap.
    """
    order = np.lexsort((start, item))
    length = int(end.max(initial=0)) + 1
    base = item[order] * length  # items one after the other, none reaching into the next
    first, last = base + start[order], base + end[order]
    reached = np.concatenate([[0], np.maximum.accumulate(last)[:-1]]) if len(last) else last
    new = np.maximum(last - np.maximum(first, reached), 0)
    return np.bincount(item[order], weights=new, minlength=n_items).astype(np.int64)


def any_highlights() -> bool:
    """Return whether any rating of the site has a highlight, which the database tells at once."""
    return NuggetSpan.objects.exists()


def load_evidence(matrix: RatingMatrix) -> Evidence:
    """Load the highlights of the matrix's raters under its rubric: one query, two with any."""
    selection = matrix.selection
    raters = [rater.pk for rater in selection.raters]
    spans = NuggetSpan.objects.filter(rating__in=ratings_under(selection, raters))
    # Of a million ratings it takes a second to find out that none has a highlight.
    if not (any_highlights() and NuggetSpan.objects.filter(rating__rater__in=raters).exists()):
        spans = spans.none()
    how = Case(
        *(When(located=name, then=Value(index)) for index, name in enumerate(LOCATED)),
        output_field=SmallIntegerField(),
    )
    values = spans.order_by().values_list(
        "rating__rater_id",
        "rating__text_id",
        "rating__question_id",
        Coalesce("start", -1),
        Coalesce("end", -1),
        how,
    )
    rows: NDArray[Any] = np.fromiter(values.iterator(chunk_size=10_000), dtype=ROW)
    columns = {rater.pk: index for index, rater in enumerate(selection.raters)}
    item = matrix.places(rows["text"], rows["question"])
    column = np.array([columns[pk] for pk in rows["rater"].tolist()], dtype=np.int64)
    # A copied grade is in no cell, though another rater may have read this text itself.
    has_grade = ~np.isnan(matrix.grades[item, column]) if len(rows) else item >= 0
    return Evidence(
        matrix=matrix,
        item=np.where(has_grade, item, -1),
        column=column,
        start=rows["start"],
        end=rows["end"],
        located=rows["located"],
    )


def requires_spans(matrix: RatingMatrix) -> NDArray[np.bool_]:
    """Return a mask of the ratings whose grade requires a highlight: items x raters."""
    span_from = matrix.selection.rubric.span_from
    return np.asarray(matrix.grades >= (np.inf if span_from is None else span_from))


def unmarked_answers(matrix: RatingMatrix, evidence: Evidence) -> NDArray[np.bool_]:
    """Return a mask of the ratings that require a highlight and have none: items x raters."""
    return requires_spans(matrix) & ~evidence.marked()
