"""Pairs on which people differ, by rubric, and how many of them nobody has decided."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, F, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from annotation.models import Dataset, Rater, Rating
from annotation.models.standard import ANSWERABLE


@dataclass(frozen=True)
class Disagreements:
    """Pairs with different grades by people; `n_undecided` have no grade by an adjudicator."""

    n: int = 0
    n_undecided: int = 0


def disagreements(datasets: QuerySet[Dataset]) -> dict[tuple[int, int], Disagreements]:
    """Count the pairs on which people differ, by the keys of dataset and rubric: one query.

    They are those that the list of pairs has as "grades differ": a grade that was copied to a text of
    equal words counts once, and filtered questions are left out where reports are read.
    """
    people = Rater.objects.filter(kind=Rater.Kind.HUMAN)
    independent, adjudicated = Q(rater__is_adjudicator=False), Q(rater__is_adjudicator=True)
    pairs = (
        Rating.objects.filter(rater__in=people, text__dataset__in=datasets)
        .exclude(~Q(question__filtered_because=""), rubric__slug=ANSWERABLE.slug)
        .order_by()
        .values("text__dataset", "rubric", "question", read_text=Coalesce("copied_from", "text"))
        .annotate(
            lowest=Min("grade", filter=independent),
            highest=Max("grade", filter=independent),
            n_decisions=Count("pk", filter=adjudicated),
        )
        .filter(lowest__lt=F("highest"))
    )
    n, n_undecided = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for dataset, rubric, n_decisions in pairs.values_list("text__dataset", "rubric", "n_decisions"):
        n[dataset, rubric] += 1
        n_undecided[dataset, rubric] += not n_decisions
    return {group: Disagreements(n[group], n_undecided[group]) for group in n}
