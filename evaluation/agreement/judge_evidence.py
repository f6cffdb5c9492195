"""Overlap of the words that a judge quotes as evidence with those that people marked.

The unit is a rating of a person: two people on one pair are two. Words of the text are compared, so
a span that ends in the middle of a word, or takes its full stop along, counts as the word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.models import NuggetSpan, Text
from evaluation.data.ratings import RatingMatrix
from evaluation.data.spans import Evidence, any_highlights, covered
from evaluation.stats.clusters import share
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

NO_COMMON_MARKS = "undefined, because the judge and a person marked words of no pair in common"
_WORD = re.compile(r"\S+")
Edges = tuple[IntArray, IntArray]  # start and end of each word of a text


class Marks(NamedTuple):
    """Half-open pieces of the texts of items: one row each."""

    item: IntArray
    start: IntArray
    end: IntArray


@dataclass(frozen=True)
class JudgeEvidence:
    """Word overlap of judge and people, over the ratings where both marked words in the text.

    Means over ratings: `precision` is the share of the judge's words that the person marked too, `recall`
    the share of the person's that the judge has, `overlap` their intersection over union, `meet` the share
    with a word in common. `missing` of each counts the ratings of which the person alone marked words.
    Intervals: jackknife over topics.
    """

    precision: Estimate
    recall: Estimate
    overlap: Estimate
    meet: Estimate
    n_judge_alone: int
    """Ratings of people without marked words, on pairs of which the judge marked some."""


def judge_evidence(matrix: RatingMatrix, evidence: Evidence) -> JudgeEvidence | None:
    """Compare the judge's marks with each rater's; None if the judge marked nothing in a text."""
    if not any_highlights():
        return None
    judges = _load_judge_marks(matrix)
    if not len(judges.item):
        return None
    in_text = (evidence.item >= 0) & (evidence.start >= 0)
    texts = matrix.text[np.concatenate([judges.item, evidence.item[in_text]])]
    edges = word_edges(set(texts.tolist()))
    judge = _to_word_indexes(judges, matrix, edges)
    sides = []
    for column, rater in enumerate(matrix.selection.raters):
        if matrix.selection.judge and rater.pk == matrix.selection.judge.pk:
            continue
        by_rater = in_text & (evidence.column == column)
        marks = Marks(evidence.item[by_rater], evidence.start[by_rater], evidence.end[by_rater])
        sides.append(_word_counts(judge, _to_word_indexes(marks, matrix, edges), matrix))
    return _means(*(np.concatenate(parts) for parts in zip(*sides, strict=True)))


def _word_counts(
    judge: Marks, person: Marks, matrix: RatingMatrix
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Count the words of the person, of both, of the judge for each item that either marked.

    The last array has the item's topic.
    """
    n = matrix.n_items
    either = Marks(*(np.concatenate(parts) for parts in zip(judge, person, strict=True)))
    by_judge, by_person, by_either = (covered(*marks, n) for marks in (judge, person, either))
    marked = by_either > 0
    both = by_judge + by_person - by_either
    return by_person[marked], both[marked], by_judge[marked], matrix.topic[marked]


def _means(person: IntArray, common: IntArray, judge: IntArray, topics: IntArray) -> JudgeEvidence:
    by_person = person > 0
    judge_alone = int((~by_person).sum())
    person, common, judge, topics = (part[by_person] for part in (person, common, judge, topics))
    both = judge > 0

    def mean(part: IntArray, of: IntArray) -> Estimate:
        values: FloatArray = np.divide(part, of, out=np.zeros(len(of)), where=both)
        return share(values, both, topics, NO_COMMON_MARKS)

    return JudgeEvidence(
        precision=mean(common, judge),
        recall=mean(common, person),
        overlap=mean(common, judge + person - common),
        meet=share(common > 0, both, topics, NO_COMMON_MARKS),
        n_judge_alone=judge_alone,
    )


def _load_judge_marks(matrix: RatingMatrix) -> Marks:
    """Load the judge's spans in the texts of the matrix's items."""
    selection = matrix.selection
    spans = NuggetSpan.objects.filter(
        rating__rater=selection.judge.pk if selection.judge else None,
        rating__rubric=selection.judge_rubric,
        rating__text__dataset=selection.dataset,
        start__isnull=False,
    )
    values = spans.order_by().values_list("rating__text", "rating__question", "start", "end")
    rows = np.array(list(values.iterator(chunk_size=10_000)), dtype=np.int64).reshape(-1, 4)
    item = matrix.places(rows[:, 0], rows[:, 1])
    in_matrix = item >= 0
    return Marks(item[in_matrix], rows[in_matrix, 2], rows[in_matrix, 3])


def word_edges(texts: set[int]) -> Mapping[int, Edges]:
    """Return start and end offsets of the words of each text, separated by white space."""
    edges: dict[int, Edges] = {}
    bodies = Text.objects.filter(pk__in=texts, body__isnull=False).order_by()
    for pk, body in bodies.values_list("pk", "body").iterator():
        word_spans = [match.span() for match in _WORD.finditer(body or "")]
        starts, ends = np.array(word_spans, dtype=np.int64).reshape(-1, 2).T
        edges[pk] = starts, ends
    return edges


def _to_word_indexes(marks: Marks, matrix: RatingMatrix, edges: Mapping[int, Edges]) -> Marks:
    """Convert marks from character offsets to word indexes from 0.

    Each word that a mark touches is in it.
    """
    text = matrix.text[marks.item]
    first, end = marks.start.copy(), marks.end.copy()
    for pk in np.unique(text).tolist():
        starts, ends = edges[pk]
        in_text = text == pk
        first[in_text] = np.searchsorted(ends, marks.start[in_text], side="right")
        end[in_text] = np.searchsorted(starts, marks.end[in_text], side="left")
    return Marks(marks.item, first, end)
