"""The one bridge from Rating rows to arrays.

One pass over the rows per kind of row (people, other raters, the judge), whatever their number; no
statistic is computed here. What the raters marked in the texts is read in `evidence`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.models import Rating, SubQuestion, Text
from annotation.models.rating import RatingQuerySet
from evaluation.data.selection import Selection
from evaluation.stats.estimate import FloatArray, IntArray

ROW = np.dtype([("rater", np.int64), ("text", np.int64), ("question", np.int64), ("grade", float)])


@dataclass(frozen=True, slots=True)
class TextRow:
    """A rated text, without its words."""

    pk: int
    name: str
    kind: str
    system: str

    @property
    def group(self) -> str:
        """The system that wrote it; for passages and references, which have none, their kind."""
        return self.system or {"passage": "passages", "reference": "references"}[self.kind]


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question, without its words. `order` is its place among all questions of the dataset."""

    pk: int
    topic: int
    topic_name: str
    position: int
    is_filtered: bool
    order: int


@dataclass(frozen=True)
class RatingMatrix:
    """The pairs that were rated (items), and who gave them which grade.

    `grades` is items x raters in the selection's order, `judge` one value per item; NaN = no
    rating. An item is a (text, question) pair that at least one chosen person rated; only where no
    person was chosen do other raters make items, since a model fills every cell. `missing` counts
    the cells of items x raters without a rating. Items are in the order of topic, text, question.
    """

    selection: Selection
    text: IntArray
    question: IntArray
    grades: FloatArray
    judge: FloatArray
    rows: NDArray[Any]
    judge_rows: NDArray[Any]
    """Every rating of these texts that was read, also those of pairs that are no items."""
    texts: Mapping[int, TextRow]
    questions: Mapping[int, QuestionRow]

    @property
    def n_items(self) -> int:
        return len(self.text)

    @property
    def n_missing(self) -> int:
        return int(np.isnan(self.grades).sum())

    @cached_property
    def topic(self) -> IntArray:
        """The topic of each item: the cluster that intervals are computed over."""
        return np.array([self.questions[pk].topic for pk in self.question.tolist()], np.int64)

    @cached_property
    def system(self) -> NDArray[np.str_]:
        """The system of each item, or its kind of text where that has none."""
        return np.array([self.texts[pk].group for pk in self.text.tolist()], dtype=np.str_)

    @cached_property
    def topic_names(self) -> dict[int, str]:
        """The topics that have items, in the order of the dataset."""
        there = set(self.topic.tolist())
        return {q.topic: q.topic_name for q in self.questions.values() if q.topic in there}

    @cached_property
    def systems(self) -> list[str]:
        return sorted(set(self.system.tolist()))

    def places(self, rows: NDArray[Any]) -> IntArray:
        """The item of each row of a `text` and a `question`, -1 where the pair is not one."""
        return _Places(self.text, self.question).of(rows)


def load(selection: Selection) -> RatingMatrix:
    """The matrix of a selection: four queries, five with raters that are not people."""
    ratings = Rating.objects.of_dataset(selection.dataset).filter(rubric=selection.rubric)
    if selection.leaves_out_filtered:
        ratings = ratings.filter(question__filtered_because="")
    people = [rater.pk for rater in selection.raters if rater.is_person]
    others = [rater.pk for rater in selection.raters if not rater.is_person]
    makers = ratings.filter(rater__in=people or others)
    item_rows = _rows(makers)
    texts = makers.order_by().values("text_id")
    rows, judged = [item_rows], np.empty(0, dtype=ROW)
    if people and others:
        rows.append(_rows(ratings.filter(rater__in=others, text__in=texts)))
    all_questions = _questions(selection)
    all_texts = {
        pk: TextRow(pk, name, kind, system)
        for pk, name, kind, system in Text.objects.filter(pk__in=texts)
        .order_by()
        .values_list("pk", "name", "kind", "system")
    }
    text, question = _items(item_rows, all_questions)
    at = _Places(text, question)
    grades = np.full((len(text), len(selection.raters)), np.nan)
    columns = {rater.pk: column for column, rater in enumerate(selection.raters)}
    for found in rows:
        place = at.of(found)
        column = np.array([columns[pk] for pk in found["rater"].tolist()], dtype=np.int64)
        grades[place[place >= 0], column[place >= 0]] = found["grade"][place >= 0]
    judge = np.full(len(text), np.nan)
    if selection.judge:
        judged = _rows(
            Rating.objects.filter(
                rater=selection.judge.pk, rubric=selection.judge_rubric, text__in=texts
            )
        )
        place = at.of(judged)
        judge[place[place >= 0]] = judged["grade"][place >= 0]
    return RatingMatrix(
        selection=selection,
        text=text,
        question=question,
        grades=grades,
        judge=judge,
        rows=np.concatenate(rows),
        judge_rows=judged,
        texts=all_texts,
        questions=all_questions,
    )


def _rows(ratings: RatingQuerySet) -> NDArray[Any]:
    values = ratings.order_by().values_list("rater_id", "text_id", "question_id", "grade")
    return np.fromiter(values.iterator(chunk_size=10_000), dtype=ROW)


def _questions(selection: Selection) -> dict[int, QuestionRow]:
    found = (
        SubQuestion.objects.filter(topic__dataset=selection.dataset)
        .order_by("topic__position", "topic_id", "position")
        .values_list("pk", "topic_id", "topic__name", "position", "filtered_because")
    )
    return {
        pk: QuestionRow(pk, topic, name, position, bool(why), order)
        for order, (pk, topic, name, position, why) in enumerate(found)
    }


def _items(rows: NDArray[Any], questions: Mapping[int, QuestionRow]) -> tuple[IntArray, IntArray]:
    """The distinct pairs of the rows, by topic, then text, then question."""
    pks = np.fromiter(questions, dtype=np.int64)
    topic = np.array([question.topic for question in questions.values()], dtype=np.int64)
    # Questions come topic by topic, so a topic's rank is how often the topic has changed so far.
    rank = np.concatenate([[0], np.cumsum(topic[1:] != topic[:-1])]).astype(np.int64)
    by_pk = np.argsort(pks)
    place = by_pk[np.searchsorted(pks, rows["question"], sorter=by_pk)]
    order = np.lexsort((place, rows["text"], rank[place]))
    text, place = rows["text"][order], place[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (text[1:] != text[:-1]) | (place[1:] != place[:-1])
    return text[new], pks[place[new]]


class _Places:
    """Where the pair of a row stands among the items."""

    def __init__(self, text: IntArray, question: IntArray) -> None:
        self._base = int(np.max(question, initial=0)) + 1
        keys = text * self._base + question
        self._order = np.argsort(keys)
        self._keys = keys[self._order]

    def of(self, rows: NDArray[Any]) -> IntArray:
        """The item of each row, -1 where the pair is not one."""
        if not len(self._keys):
            return np.full(len(rows), -1)
        keys = rows["text"] * self._base + rows["question"]
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        there = (self._keys[at] == keys) & (rows["question"] < self._base)
        return np.where(there, self._order[at], -1)


def question_grid(matrix: RatingMatrix, texts: Sequence[int]) -> FloatArray:
    """Grades of whole texts, whether a pair is an item or not: what coverage is computed from.

    Returns texts x (raters, then the judge) x positions of the topic's questions, NaN = no rating.
    """
    text_at = {pk: at for at, pk in enumerate(texts)}
    rater_at = {rater.pk: at for at, rater in enumerate(matrix.selection.raters)}
    width = max((q.position for q in matrix.questions.values()), default=-1) + 1
    grid = np.full((len(text_at), len(rater_at) + 1, width), np.nan)
    for rows, columns in ((matrix.rows, rater_at), (matrix.judge_rows, {})):
        if not len(rows):
            continue
        text = np.array([text_at.get(pk, -1) for pk in rows["text"].tolist()])
        column = np.array([columns.get(pk, len(rater_at)) for pk in rows["rater"].tolist()])
        position = np.array([matrix.questions[pk].position for pk in rows["question"].tolist()])
        here = text >= 0
        grid[text[here], column[here], position[here]] = rows["grade"][here]
    return grid
