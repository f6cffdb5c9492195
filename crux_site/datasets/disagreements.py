"""Pairs on which people differ, by rubric, and how many of them nobody has decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.standard import ANSWERABLE
from evaluation.data.number_lists import (
    Columns,
    distinct,
    pair_keys,
    rating_columns,
    split_pairs,
)
from evaluation.data.ratings import of_texts
from evaluation.metrics.grades import BoolArray
from evaluation.stats.estimate import IntArray


@dataclass(frozen=True)
class Disagreements:
    """Pairs with different grades by people; `n_undecided` have no grade by an adjudicator."""

    n: int = 0
    n_undecided: int = 0


def disagreements(datasets: QuerySet[Dataset]) -> dict[tuple[int, int], Disagreements]:
    """Count the pairs on which people differ, by the keys of dataset and rubric: six queries."""
    people = Rater.objects.filter(kind=Rater.Kind.HUMAN).order_by()
    questions = SubQuestion.objects.filter(topic__dataset__in=datasets).order_by()
    texts = of_texts(Text.objects.filter(dataset__in=datasets))
    by_rubric = differing_pairs(
        rating_columns(Rating.objects.filter(texts, rater__in=people)),
        people.filter(is_adjudicator=True).values_list("pk", flat=True),
        questions.exclude(filtered_because="").values_list("pk", flat=True),
    )
    dataset_of = dict(questions.values_list("pk", "topic__dataset_id"))
    counts: dict[tuple[int, int], Disagreements] = {}
    for rubric, pairs in by_rubric.items():
        _, question = split_pairs(pairs.keys)
        # Those of a dataset that was removed since the ratings were read are left out.
        dataset = np.array([dataset_of.get(pk, -1) for pk in question.tolist()], dtype=np.int64)
        for pk in distinct(dataset[dataset >= 0]).tolist():
            counts[pk, rubric] = pairs.count(dataset == pk)
    return counts


@dataclass(frozen=True)
class DifferingPairs:
    """Pairs on which people differ, as `pair_keys`, and which of them an adjudicator decided."""

    keys: IntArray
    is_decided: BoolArray

    def count(self, mask: BoolArray | None = None) -> Disagreements:
        """Count the pairs of a mask, or all."""
        decided = self.is_decided if mask is None else self.is_decided[mask]
        return Disagreements(len(decided), int((~decided).sum()))


def differing_pairs(
    ratings: Columns, adjudicators: Iterable[int], filtered_questions: Iterable[int]
) -> dict[int, DifferingPairs]:
    """Return the pairs on which people differ, by the key of the rubric.

    `ratings` are of people. The pairs are those that the list of pairs has as "grades differ": a grade
    that was copied to a text of equal words counts once, and filtered questions are left out where reports
    are read.
    """
    answerable = Rubric.objects.filter(slug=ANSWERABLE.slug).values_list("pk", flat=True).first()
    is_independent = ~np.isin(ratings["rater"], list(adjudicators))
    by_rubric = {}
    for rubric in distinct(ratings["rubric"]).tolist():
        used = ratings["rubric"] == rubric
        if rubric == answerable:
            used &= ~np.isin(ratings["question"], list(filtered_questions))
        pairs = pair_keys(ratings["read_text"][used], ratings["question"][used])
        independent, grades = is_independent[used], ratings["grade"][used]
        differing = _with_different_grades(pairs[independent], grades[independent])
        if len(differing):
            is_decided = np.isin(differing, pairs[~independent])
            by_rubric[rubric] = DifferingPairs(differing, is_decided)
    return by_rubric


def _with_different_grades(pairs: IntArray, grades: IntArray) -> IntArray:
    """Return the pairs that have two different grades; one row is one grade of a pair."""
    order = pairs.argsort()
    ordered, grades = pairs[order], grades[order]
    is_same_pair = ordered[1:] == ordered[:-1]
    return distinct(ordered[1:][is_same_pair & (grades[1:] != grades[:-1])])
