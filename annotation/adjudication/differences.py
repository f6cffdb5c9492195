"""Differences between raters of a campaign: the list from which an expert adjudicates."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast

from annotation.models import Answer, Campaign, Decision, Item, ItemQuestion, Rubric

KINDS = {
    "label": "answerable to one, not to another",
    "grade": "grades two or more apart",
    "spans": "both answerable, spans apart",
}
STATES = {"open": "to be decided", "decided": "decided"}
TWO_APART = 2
Pair = tuple[int, int]  # item, question


@dataclass(frozen=True)
class Difference:
    """A question of an item on which raters differ, and the decision about it that counts, if any.

    `far` is the mean distance of two grades as a share of the scale, 0 to 1; `apart` the share of
    the pairs of raters whose spans do not meet, of those who both find it answerable and mark it.
    """

    item: int
    question: int
    grades: tuple[int, ...]
    kinds: tuple[str, ...]
    far: float
    apart: float
    decided: int | None

    @property
    def pair(self) -> Pair:
        return self.item, self.question


def kinds_of(rubric: Rubric) -> dict[str, str]:
    """The kinds of differences that there can be under a rubric, in words."""
    kinds = dict(KINDS)
    if rubric.eta is None:
        kinds |= {"label": "different grades", "spans": "spans apart"}
    if rubric.is_nominal:
        del kinds["grade"]
    if rubric.span_from is None:
        del kinds["spans"]
    return kinds


def differences(campaign: Campaign, kind: str = "", state: str = "") -> list[Difference]:
    """The pairs on which raters' newest answers differ, the strongest first: three queries.

    Training is no part of it. `kind` is one of KINDS and `state` one of STATES; empty means all.
    """
    rubric = campaign.rubric
    levels = rubric.grades()
    reach = 1 if rubric.is_nominal or not levels else max(levels[-1] - levels[0], 1)
    by_pair = _given(campaign)
    decided = {
        (item, question): grade
        for item, question, grade in Decision.objects.filter(item__campaign=campaign)
        .order_by("pk")
        .values_list("item_id", "question_id", "grade")
    }
    asked = ItemQuestion.objects.filter(item__campaign=campaign).exclude(
        item__purpose=Item.Purpose.TRAINING
    )
    rows = []
    for pair in asked.order_by("item__position", "position").values_list("item_id", "question_id"):
        answers = by_pair.get(pair, ())
        if len(answers) < 2:
            continue
        grades = sorted(grade for grade, _ in answers)
        apart = _apart(answers, rubric)
        kinds = tuple(_kinds(grades, apart, rubric))
        is_decided = decided.get(pair) is not None
        if not kinds or (kind and kind not in kinds):
            continue
        if state and is_decided != (state == "decided"):
            continue
        far = _mean([_distance(a, b, rubric) for a, b in combinations(grades, 2)]) / reach
        rows.append(Difference(*pair, tuple(grades), kinds, far, apart, decided.get(pair)))
    # The order of the items is kept among equals.
    return sorted(rows, key=lambda row: (-row.far, -row.apart))


def _given(campaign: Campaign) -> dict[Pair, list[tuple[int, str]]]:
    """By pair, the grade and the stored spans of every rater's newest answer that has a grade."""
    rows = (
        Answer.objects.filter(assignment__participant__campaign=campaign)
        .filter(question__isnull=False, rubric=None)  # further rubrics are not adjudicated
        .exclude(late=Answer.Late.SET_ASIDE)
        .order_by("-late", "pk")  # what counts goes over what came too late
        # Spans stay as they are stored: of most answers nobody needs to know them here.
        .annotate(words=Cast("spans", TextField()))
        .values_list("assignment_id", "assignment__item_id", "question_id", "grade", "words")
    )
    newest: dict[tuple[int, int, int], tuple[int | None, str]] = {}
    for assignment, item, question, grade, words in rows.iterator(chunk_size=10_000):
        newest[assignment, item, question or 0] = grade, words
    by_pair: dict[Pair, list[tuple[int, str]]] = defaultdict(list)
    for (_, item, question), (grade, words) in newest.items():
        if grade is not None:
            by_pair[item, question].append((grade, words))
    return by_pair


def _kinds(grades: Sequence[int], apart: float, rubric: Rubric) -> Iterable[str]:
    if not rubric.reads_alike(grades[0], grades[-1]):
        yield "label"
    if not rubric.is_nominal and grades[-1] - grades[0] >= TWO_APART:
        yield "grade"
    if apart:
        yield "spans"


def _distance(one: int, other: int, rubric: Rubric) -> int:
    """How far two grades are apart; grades that are names are the same or not."""
    return int(one != other) if rubric.is_nominal else abs(other - one)


def _apart(answers: Iterable[tuple[int, str]], rubric: Rubric) -> float:
    marks = [
        words
        for grade, words in answers
        if words != "[]" and (rubric.eta is None or rubric.answers(grade))
    ]
    if len(marks) < 2 or len(set(marks)) == 1:
        return 0.0
    spans: list[list[dict[str, Any]]] = [json.loads(words) for words in marks]
    return _mean([not _meet(a, b) for a, b in combinations(spans, 2)])


def _meet(a: Iterable[dict[str, Any]], b: Sequence[dict[str, Any]]) -> bool:
    """Whether two raters' spans share a character."""
    return any(
        span["start"] < other["end"] and other["start"] < span["end"] for span in a for other in b
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
