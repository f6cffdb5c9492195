"""Grades of decided pairs before and after a rater's first feedback, as arrays."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.adjudication.differences import grades_differ
from annotation.models import Answer, Campaign, Decision, Item
from evaluation.data.answers import CHUNK
from evaluation.stats.estimate import FloatArray, IntArray
from evaluation.stats.feedback_effect import FeedbackEffect, feedback_effect

Pair = tuple[int, int]  # item, question


@dataclass(frozen=True, slots=True)
class _Grade:
    rater: int
    topic: int
    grade: int
    follows_feedback: bool


@dataclass(frozen=True)
class FeedbackGrades:
    """Decided pairs of a campaign by rater: one entry for each grade that counts.

    A grade that stood at the first feedback is the one before it, also if it was edited since. `support` is
    the share of the other raters with the expert's grade; NaN if the other raters do not differ.
    """

    rater: IntArray
    topic: IntArray
    agrees: NDArray[np.bool_]
    follows_feedback: NDArray[np.bool_]
    support: FloatArray

    def effect(self, rater: int | None = None) -> FeedbackEffect:
        """Return the effect of feedback on a rater, by key; None: pooled over all."""
        mask: NDArray[np.bool_] = np.ones(len(self.rater), dtype=bool)
        if rater is not None:
            mask = self.rater == rater
        return feedback_effect(
            self.agrees[mask],
            self.follows_feedback[mask],
            self.support[mask],
            self.rater[mask],
            self.topic[mask],
        )


def feedback_grades(campaign: Campaign | None) -> FeedbackGrades:
    """Return the grades of a campaign's decided study pairs that count; None: none.

    Work of excluded raters and repeats are left out. Experts decide where raters differ. If all other raters
    agree, a pair is decided only if this rater disagrees with them: such a pair says nothing about a
    change, so it is comparable only if the other raters differ among themselves.
    """
    decisions = _decisions(campaign) if campaign else {}
    rows: list[tuple[int, int, bool, bool, float]] = []
    if campaign and decisions:
        for pair, grades in _grades(campaign, decisions).items():
            rows += _entries(campaign, decisions[pair], grades)
    return FeedbackGrades(
        rater=np.array([row[0] for row in rows], dtype=np.int64),
        topic=np.array([row[1] for row in rows], dtype=np.int64),
        agrees=np.array([row[2] for row in rows], dtype=np.bool_),
        follows_feedback=np.array([row[3] for row in rows], dtype=np.bool_),
        support=np.array([row[4] for row in rows], dtype=np.float64),
    )


def _entries(
    campaign: Campaign, decision: int, grades: list[_Grade]
) -> list[tuple[int, int, bool, bool, float]]:
    """Return the entries of a pair: rater, topic, agreement, after the feedback, others."""
    entries = []
    for rated in grades:
        partner_grades = [row.grade for row in grades if row is not rated]
        agreed = np.nan
        if grades_differ(partner_grades, campaign.rubric):
            agreed = sum(grade == decision for grade in partner_grades) / len(partner_grades)
        entries.append(
            (rated.rater, rated.topic, rated.grade == decision, rated.follows_feedback, agreed)
        )
    return entries


def _decisions(campaign: Campaign) -> dict[Pair, int]:
    """Return the grade of the newest decision on each pair of the study that has one."""
    decisions = Decision.objects.filter(
        item__campaign=campaign, item__purpose=Item.Purpose.STUDY
    ).order_by("pk")
    newest = {
        (item, question): grade
        for item, question, grade in decisions.values_list("item", "question", "grade")
    }
    return {pair: grade for pair, grade in newest.items() if grade is not None}


def _grades(campaign: Campaign, decisions: dict[Pair, int]) -> dict[Pair, list[_Grade]]:
    """Return the grade of each rater of each decided pair: at the first feedback, else since."""
    rows = (
        Answer.objects.filter(
            assignment__participant__campaign=campaign,
            assignment__item__in={item for item, _question in decisions},
            assignment__repeats=None,
            question__in={question for _item, question in decisions},
            rubric=None,
            late=Answer.Late.NO,
            assignment__participant__set_aside_at=None,
        )
        .order_by("pk")
        .values_list(
            *("assignment__item", "question", "assignment__participant__rater"),
            *("assignment__item__text__topic", "grade", "created"),
            "assignment__participant__feedback_opened_at",
        )
    )
    at_feedback: dict[tuple[Pair, int], tuple[int, int | None]] = {}
    since: dict[tuple[Pair, int], tuple[int, int | None]] = {}
    for item, question, rater, topic, grade, created, opened in rows.iterator(chunk_size=CHUNK):
        follows_feedback = opened is not None and created > opened
        answers = since if follows_feedback else at_feedback
        answers[(item, question or 0), rater] = topic or 0, grade
    by_pair: dict[Pair, list[_Grade]] = defaultdict(list)
    for (pair, rater), (topic, grade) in {**since, **at_feedback}.items():
        if grade is not None and pair in decisions:
            follows_feedback = (pair, rater) not in at_feedback
            by_pair[pair].append(_Grade(rater, topic, grade, follows_feedback))
    return by_pair
