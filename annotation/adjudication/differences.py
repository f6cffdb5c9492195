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
    "label": "answerable or not",
    "grade": "grades differ by two or more",
    "spans": "both answerable, different spans",
}
STATES = {"open": "undecided", "decided": "decided"}
GRADE_GAP = 2
Pair = tuple[int, int]  # item, question


@dataclass(frozen=True)
class Difference:
    """A question of an item on which raters differ, with the grade of the decision, if any.

    `far` is the mean distance of two grades as a share of the scale, 0 to 1; `apart` the share of
    the pairs of raters whose spans do not meet, of those who both find it answerable and mark it.
    """

    item: int
    question: int
    grades: tuple[int, ...]
    kinds: tuple[str, ...]
    far: float
    span_distance: float
    decided: int | None

    @property
    def pair(self) -> Pair:
        return self.item, self.question


def kinds_of(rubric: Rubric) -> dict[str, str]:
    """Return the kinds of differences possible under a rubric, with their labels."""
    kinds = dict(KINDS)
    if rubric.eta is None:
        kinds |= {"label": "different grades", "spans": "spans apart"}
    if rubric.is_nominal:
        del kinds["grade"]
    if rubric.span_from is None:
        del kinds["spans"]
    return kinds


def differences(campaign: Campaign, kind: str = "", state: str = "") -> list[Difference]:
    """List the pairs on which raters' newest answers differ, the strongest first.

    Three queries. Training is left out. `kind` is one of KINDS and `state` one of STATES; empty
    means all.
    """
    rubric = campaign.rubric
    levels = rubric.grades()
    grade_range = 1 if rubric.is_nominal or not levels else max(levels[-1] - levels[0], 1)
    by_pair = _answers_by_pair(campaign)
    decided = {
        (item, question): grade
        for item, question, grade in Decision.objects.filter(item__campaign=campaign)
        .order_by("pk")
        .values_list("item_id", "question_id", "grade")
    }
    item_questions = ItemQuestion.objects.filter(item__campaign=campaign).exclude(
        item__purpose=Item.Purpose.TRAINING
    )
    rows = []
    for pair in item_questions.order_by("item__position", "position").values_list(
        "item_id", "question_id"
    ):
        answers = by_pair.get(pair, ())
        if len(answers) < 2:
            continue
        grades = sorted(grade for grade, _ in answers)
        span_distance = _disjoint_share(answers, rubric)
        kinds = tuple(_kinds(grades, span_distance, rubric))
        is_decided = decided.get(pair) is not None
        if not kinds or (kind and kind not in kinds):
            continue
        if state and is_decided != (state == "decided"):
            continue
        grade_distance = (
            _mean([_distance(a, b, rubric) for a, b in combinations(grades, 2)]) / grade_range
        )
        rows.append(
            Difference(
                *pair, tuple(grades), kinds, grade_distance, span_distance, decided.get(pair)
            )
        )
    # The order of the items is kept among equals.
    return sorted(rows, key=lambda row: (-row.far, -row.span_distance))


def _answers_by_pair(campaign: Campaign) -> dict[Pair, list[tuple[int, str]]]:
    """Return the grade and stored spans of each rater's newest graded answer, by pair."""
    rows = (
        Answer.objects.filter(assignment__participant__campaign=campaign)
        .filter(question__isnull=False, rubric=None)  # further rubrics are not adjudicated
        .filter(assignment__repeats=None)
        .exclude(late=Answer.Late.EXCLUDED)
        .order_by("-late", "pk")  # what counts goes over what came too late
        # Spans stay as they are stored: of most answers nobody needs to know them here.
        .annotate(words=Cast("spans", TextField()))
        .values_list("assignment_id", "assignment__item_id", "question_id", "grade", "words")
    )
    newest: dict[tuple[int, int, int], tuple[int | None, str]] = {}
    for assignment, item, question, grade, stored_spans in rows.iterator(chunk_size=10_000):
        newest[assignment, item, question or 0] = grade, stored_spans
    by_pair: dict[Pair, list[tuple[int, str]]] = defaultdict(list)
    for (_, item, question), (grade, stored_spans) in newest.items():
        if grade is not None:
            by_pair[item, question].append((grade, stored_spans))
    return by_pair


def grades_differ(grades: Sequence[int], rubric: Rubric) -> bool:
    """Return whether grades alone put a pair on the list of differences."""
    return bool(grades) and any(_kinds(sorted(grades), 0.0, rubric))


def _kinds(grades: Sequence[int], span_distance: float, rubric: Rubric) -> Iterable[str]:
    if not rubric.agrees(grades[0], grades[-1]):
        yield "label"
    if not rubric.is_nominal and grades[-1] - grades[0] >= GRADE_GAP:
        yield "grade"
    if span_distance:
        yield "spans"


def _distance(grade: int, other_grade: int, rubric: Rubric) -> float:
    """Return the distance of two grades; 0 or 1 where they are nominal, for sets Jaccard's."""
    if rubric.is_multi_label and grade | other_grade:
        return 1 - (grade & other_grade).bit_count() / (grade | other_grade).bit_count()
    return int(grade != other_grade) if rubric.is_nominal else abs(other_grade - grade)


def _disjoint_share(answers: Iterable[tuple[int, str]], rubric: Rubric) -> float:
    marked = [
        stored_spans
        for grade, stored_spans in answers
        if stored_spans != "[]" and (rubric.eta is None or rubric.answers(grade))
    ]
    if len(marked) < 2 or len(set(marked)) == 1:
        return 0.0
    spans: list[list[dict[str, Any]]] = [json.loads(stored_spans) for stored_spans in marked]
    return _mean([not _overlap(a, b) for a, b in combinations(spans, 2)])


def _overlap(a: Iterable[dict[str, Any]], b: Sequence[dict[str, Any]]) -> bool:
    """Return whether two raters' spans share a character."""
    return any(
        span_a["start"] < span_b["end"] and span_b["start"] < span_a["end"]
        for span_a in a
        for span_b in b
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
