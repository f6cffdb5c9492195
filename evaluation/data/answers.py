"""Answers of a campaign as arrays: current grades, active time, highlights.

Six queries, whatever the size of the campaign. Ratings are not read: a pilot has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import TextField
from django.db.models.functions import Cast, Coalesce, Length
from numpy.typing import NDArray

from annotation.models import Answer, Assignment, Campaign, Item, ItemQuestion
from annotation.models.participation import shown_state
from annotation.participation.active_time import by_assignment
from evaluation.stats.estimate import IntArray

Spans = list[dict[str, Any]]  # start, end, quote
CHUNK = 10_000
NO_SPANS = "[]"


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A text of the campaign, without its words; `length` in code points."""

    pk: int
    purpose: str
    name: str
    system: str
    length: int

    @property
    def title(self) -> str:
        return f"{self.name} ({self.system})" if self.system else self.name


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """Assignment of an item to a rater, with its active time.

    `active_ms` is all active time on it that counts, idle is not in it; `excess_ms` is what its
    browser claimed beyond what the server's clock allows.
    """

    pk: int
    rater: int
    item: int
    state: str
    check: int | None
    note: str
    active_ms: int
    excess_ms: int


@dataclass(frozen=True)
class CampaignAnswers:
    """Newest answer of every rater to every question under the campaign's own rubric.

    Only answers with a grade.

    `assignment`, `question` and `grade` have one entry for each, in the order in which they were given;
    `assignment` is a place in `assignments`. `checks` has (place there, whether it was passed) for every
    attention check that was answered. Answers that came too late to be ratings are kept and read
    too, where no other answers the question; `n_late` counts them. So are those of raters whose
    work was set aside: `is_set_aside` says which they are. Repeats, which show an item again to the same
    person, are not in it: `evaluation.data.repeats` reads them.
    """

    campaign: Campaign
    names: Mapping[int, str]
    """Every rater of the campaign, also those who have answered nothing, by name."""
    set_aside: frozenset[int]
    """The raters whose work is set aside."""
    n_with_feedback: int
    """Number of raters who have seen decisions of an expert in the campaign."""
    items: Mapping[int, ItemRow]
    assignments: Sequence[AssignmentRow]
    assignment: IntArray
    question: IntArray
    grade: IntArray
    checks: Sequence[tuple[int, bool]]
    n_late: int
    is_set_aside: NDArray[np.bool_]
    expected: Mapping[tuple[int, int], int]
    """Of training and gold items: the grade of the gold source, by item and question."""
    _spans: Sequence[str]

    @cached_property
    def levels(self) -> IntArray:
        """The scale: the rubric's grades, and any that an older form of the rubric had."""
        grades = set(self.campaign.rubric.scale_grades()) | set(self.grade.tolist())
        return np.array(sorted(grades), dtype=np.int64)

    @cached_property
    def rater(self) -> IntArray:
        """The rater of each answer."""
        return np.array([assignment.rater for assignment in self.assignments], dtype=np.int64)[
            self.assignment
        ]

    @cached_property
    def item(self) -> IntArray:
        """The item of each answer."""
        return np.array([assignment.item for assignment in self.assignments], dtype=np.int64)[
            self.assignment
        ]

    @cached_property
    def purpose(self) -> NDArray[np.str_]:
        """The purpose of each answer's item."""
        of_assignment = [self.items[assignment.item].purpose for assignment in self.assignments]
        return np.array(of_assignment, dtype=np.str_)[self.assignment]

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """The answers that say how a rater works: not those in training, which feedback follows."""
        return np.asarray(self.purpose != Item.Purpose.TRAINING, dtype=np.bool_)

    @cached_property
    def agree(self) -> NDArray[np.bool_]:
        """Mask of the answers that agreement is computed from: work of excluded raters is not."""
        return self.counts & ~self.is_set_aside

    @cached_property
    def answerable(self) -> NDArray[np.bool_]:
        """Mask of the answers at or above the rubric's eta; all False where it has none."""
        rubric = self.campaign.rubric
        eta = np.inf if rubric.eta is None or not rubric.has_threshold else rubric.eta
        return np.asarray(self.grade >= eta, dtype=np.bool_)

    def spans(self, indices: Sequence[int]) -> Iterator[tuple[int, Spans]]:
        """Yield the index and the spans of each of these answers that has spans."""
        marked = [index for index in indices if self._spans[index] != NO_SPANS]
        # One parse of all of them is several times as fast as one of each.
        spans = json.loads(f"[{','.join(self._spans[index] for index in marked)}]")
        return zip(marked, spans, strict=True)


def load(campaign: Campaign) -> CampaignAnswers:
    """All of a campaign's answers. Without any, the arrays are empty."""
    participants = list(
        campaign.participants.order_by("rater__name").values_list(
            "rater_id", "rater__name", "set_aside_at", "feedback_opened_at"
        )
    )
    items = {
        row[0]: ItemRow(*row)
        for row in campaign.items.annotate(length=Length(Coalesce("shown_body", "text__body")))
        .order_by("position")
        .values_list("pk", "purpose", "text__name", "text__system", "length")
    }
    expected = ItemQuestion.objects.filter(item__campaign=campaign, expected__isnull=False)
    assignments = list(
        Assignment.objects.filter(participant__campaign=campaign, repeats=None)
        .annotate(is_now=shown_state())
        .order_by("pk")
        .values_list(
            "pk",
            "participant__rater_id",
            "item_id",
            "is_now",
            "check_asked_id",
            "note",
            "check_asked__expected",
        )
    )
    assignment_index = {row[0]: index for index, row in enumerate(assignments)}
    columns = _columns(campaign)
    assignment = np.array([assignment_index[pk] for pk in columns[0]], dtype=np.int64)
    question = np.array([pk or 0 for pk in columns[1]], dtype=np.int64)
    times = by_assignment(campaign.participants.order_by().values("pk"))
    is_late = np.array([bool(late) for late in columns[4]], dtype=np.bool_)
    is_set_aside = np.array([late == Answer.Late.EXCLUDED for late in columns[4]], dtype=np.bool_)
    newest = _newest(assignment, question, is_late)
    answered = newest[[columns[2][index] is not None for index in newest.tolist()]]
    grade = np.array([columns[2][index] for index in answered.tolist()], dtype=np.int64)
    is_check = question[answered] == 0
    rated = answered[~is_check]
    check_answers = zip(
        assignment[answered[is_check]].tolist(), grade[is_check].tolist(), strict=True
    )
    return CampaignAnswers(
        campaign=campaign,
        names={rater: name for rater, name, _, _ in participants},
        set_aside=frozenset(rater for rater, _, since, _ in participants if since),
        n_with_feedback=sum(opened is not None for _, _, _, opened in participants),
        items=items,
        assignments=[
            AssignmentRow(*row[:6], active_ms=times[row[0]].ms, excess_ms=times[row[0]].excess_ms)
            for row in assignments
        ],
        assignment=assignment[rated],
        question=question[rated],
        grade=grade[~is_check],
        n_late=int((is_late & ~is_set_aside)[rated].sum()),
        is_set_aside=is_set_aside[rated],
        checks=[(index, answer == assignments[index][6]) for index, answer in check_answers],
        expected={
            (item, question_pk): expected_grade
            for item, question_pk, expected_grade in expected.values_list(
                "item_id", "question_id", "expected"
            )
            if expected_grade is not None
        },
        _spans=[columns[3][index] for index in rated.tolist()],
    )


def _columns(campaign: Campaign) -> list[Sequence[Any]]:
    rows = (
        Answer.objects.filter(
            assignment__participant__campaign=campaign, assignment__repeats=None, rubric=None
        )
        .order_by("pk")
        # Spans as they are stored: decoding them one by one would take longer than all the rest.
        .annotate(spans_json=Cast("spans", TextField()))
        .values_list("assignment_id", "question_id", "grade", "spans_json", "late")
    )
    columns: list[Sequence[Any]] = list(zip(*rows.iterator(chunk_size=CHUNK), strict=True))
    return columns or [()] * 5


def _newest(assignment: IntArray, question: IntArray, is_late: NDArray[np.bool_]) -> IntArray:
    """The places of the last answer to each question of each item, in the order of answering.

    One that came too late is the last only where all did. An item asks one attention check at
    most, so that all its checks share the question 0.
    """
    order = np.lexsort((np.arange(len(assignment)), ~is_late, question, assignment))
    is_last = np.ones(len(order), dtype=bool)
    is_last[:-1] = (np.diff(assignment[order]) != 0) | (np.diff(question[order]) != 0)
    return np.sort(order[is_last])
