"""Pairs with contradictions: a rater's grades under two rubrics that cannot both be right."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q

from annotation.models import Campaign, Dataset, Rating, Rubric
from annotation.models.rubric import impossible_pairs

Declared = tuple[int, int, int]  # grade of a rubric, key of another rubric, its grade


def declarations(rubric: Rubric, rubrics: Iterable[Rubric]) -> list[Declared]:
    """Return what excludes grades of a rubric, declared by it or by another one of these."""
    rubrics = [rubric, *(other_rubric for other_rubric in rubrics if other_rubric != rubric)]
    return [
        (grade, other_rubric, other_grade)
        for (declaring, grade), (other_rubric, other_grade) in sorted(impossible_pairs(rubrics))
        if declaring == rubric.pk
    ]


def contradicting_pairs(
    dataset: Dataset, rubric: Rubric, rubrics: Iterable[Rubric], raters: Iterable[int]
) -> set[tuple[int, int]]:
    """Return pairs of a dataset, by the keys of text and question, that a rater contradicts.

    The rater has graded the pair under this rubric and under another of these. It is counted
    whether or not a note explains it.
    """
    declared = declarations(rubric, rubrics)
    if not declared:
        return set()
    same_pair = {name: OuterRef(name) for name in ("rater", "text", "question")}
    ratings = Rating.objects.filter(**same_pair)
    contradicts = Q()
    for grade, other_rubric, other_grade in declared:
        contradicts |= Q(
            Exists(ratings.filter(rubric=other_rubric, grade=other_grade)), grade=grade
        )
    rows = Rating.objects.of_dataset(dataset).filter(
        contradicts, rubric=rubric, rater__in=list(raters)
    )
    return set(rows.order_by().values_list("text_id", "question_id"))


def count_in_campaign(campaign: Campaign) -> int:
    """Return the number of pairs that a rater of a campaign contradicts."""
    if not impossible_pairs(campaign.rubrics()):
        return 0
    raters = campaign.participants.values_list("rater", flat=True)
    texts = set(campaign.items.values_list("text", flat=True))
    # Under all rubrics, as the list of pairs.
    rubrics = Rubric.objects.all()
    pairs = contradicting_pairs(campaign.dataset, campaign.rubric, rubrics, raters)
    return sum(text in texts for text, _question in pairs)
