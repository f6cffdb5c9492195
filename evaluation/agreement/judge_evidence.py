"""The words that a judge quotes as its evidence, beside those that people marked.

The unit is a rating of a person: two people on one pair are two. What is compared are words of the text, so
that a span that ends in the middle of one, or takes its full stop along, counts as the word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.models import NuggetSpan, Text
from evaluation.data.ratings import RatingMatrix
from evaluation.data.spans import Evidence, covered
from evaluation.stats.clusters import share
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

WHY = "undefined, because the judge and a person marked words of no pair in common"
_WORD = re.compile(r"\S+")
Edges = tuple[IntArray, IntArray]  # where each word of a text begins, and where it ends


class Marks(NamedTuple):
    """Half-open pieces of the texts of items: one row each."""

    item: IntArray
    start: IntArray
    end: IntArray


@dataclass(frozen=True)
class JudgeEvidence:
    """How far a judge marks what people mark, over the ratings of which both marked words in the text.

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
    """The judge of the matrix's selection beside each of its raters; None if it marked nothing in a text."""
    judges = _judges_marks(matrix)
    if not len(judges.item):
        return None
    in_text = (evidence.item >= 0) & (evidence.start >= 0)
    texts = matrix.text[np.concatenate([judges.item, evidence.item[in_text]])]
    edges = word_edges(set(texts.tolist()))
    judge = _in_words(judges, matrix, edges)
    sides = []
    for column, rater in enumerate(matrix.selection.raters):
        if matrix.selection.judge and rater.pk == matrix.selection.judge.pk:
            continue
        here = in_text & (evidence.column == column)
        marks = Marks(evidence.item[here], evidence.start[here], evidence.end[here])
        sides.append(_beside(judge, _in_words(marks, matrix, edges), matrix))
    return _means(*(np.concatenate(parts) for parts in zip(*sides, strict=True)))


def _beside(
    judge: Marks, person: Marks, matrix: RatingMatrix
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Of each item that either marked: the words of the person, of both, of the judge; and its topic."""
    n = matrix.n_items
    either = Marks(*(np.concatenate(parts) for parts in zip(judge, person, strict=True)))
    by_judge, by_person, by_either = (covered(*marks, n) for marks in (judge, person, either))
    here = by_either > 0
    both = by_judge + by_person - by_either
    return by_person[here], both[here], by_judge[here], matrix.topic[here]


def _means(person: IntArray, common: IntArray, judge: IntArray, topics: IntArray) -> JudgeEvidence:
    by_person = person > 0
    judge_alone = int((~by_person).sum())
    person, common, judge, topics = (part[by_person] for part in (person, common, judge, topics))
    both = judge > 0

    def mean(part: IntArray, of: IntArray) -> Estimate:
        values: FloatArray = np.divide(part, of, out=np.zeros(len(of)), where=both)
        return share(values, both, topics, WHY)

    return JudgeEvidence(
        precision=mean(common, judge),
        recall=mean(common, person),
        overlap=mean(common, judge + person - common),
        meet=share(common > 0, both, topics, WHY),
        n_judge_alone=judge_alone,
    )


def _judges_marks(matrix: RatingMatrix) -> Marks:
    """What the judge marked in the texts of the matrix's items."""
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
    there = item >= 0
    return Marks(item[there], rows[there, 2], rows[there, 3])


def word_edges(texts: set[int]) -> Mapping[int, Edges]:
    """Where the words of each text begin and end: runs of what is no white space."""
    edges: dict[int, Edges] = {}
    bodies = Text.objects.filter(pk__in=texts, body__isnull=False).order_by()
    for pk, body in bodies.values_list("pk", "body").iterator():
        words = [match.span() for match in _WORD.finditer(body or "")]
        starts, ends = np.array(words, dtype=np.int64).reshape(-1, 2).T
        edges[pk] = starts, ends
    return edges


def _in_words(marks: Marks, matrix: RatingMatrix, edges: Mapping[int, Edges]) -> Marks:
    """Marks in words of their text, counted from 0; each word that a mark touches is in it."""
    text = matrix.text[marks.item]
    first, end = marks.start.copy(), marks.end.copy()
    for pk in np.unique(text).tolist():
        starts, ends = edges[pk]
        here = text == pk
        first[here] = np.searchsorted(ends, marks.start[here], side="right")
        end[here] = np.searchsorted(starts, marks.end[here], side="left")
    return Marks(marks.item, first, end)
