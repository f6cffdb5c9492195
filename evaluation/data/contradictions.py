"""Pairs with contradictions: a rater's grades under two rubrics that cannot both be right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q

from annotation.models import Campaign, Dataset, Rating, Rubric
from annotation.models.rubric import impossible_pairs

Declared = tuple[int, int, int]  # grade of a rubric, key of another rubric, its grade


def declarations(dataset: Dataset, rubric: Rubric, rubrics: Iterable[Rubric]) -> list[Declared]:
    """Return what excludes grades of a rubric, declared by it or by another one of these.

    Rubrics of other projects than the dataset's say nothing.
    """
    available = {rubric}.union(
        candidate for candidate in rubrics if candidate.project_id in {None, dataset.project_id}
    )
    return [
        (grade, other_rubric, other_grade)
        for (declaring, grade), (other_rubric, other_grade) in sorted(impossible_pairs(available))
        if declaring == rubric.pk
    ]


def contradicting_pairs(
    dataset: Dataset, rubric: Rubric, rubrics: Iterable[Rubric], raters: Iterable[int]
) -> set[tuple[int, int]]:
    """Return pairs of a dataset, by the keys of text and question, that a rater contradicts.

    The rater has graded the pair under this rubric and under another of these. It is counted
    whether or not a note explains it.
    """
    excluded: dict[tuple[int, int], list[int]] = defaultdict(list)
    for grade, other_rubric, other_grade in declarations(dataset, rubric, rubrics):
        excluded[grade, other_rubric].append(other_grade)
    if not excluded:
        return set()
    same_pair = {name: OuterRef(name) for name in ("rater", "text", "question")}
    ratings = Rating.objects.filter(**same_pair)
    contradicts = Q()
    for (grade, other_rubric), grades in excluded.items():
        contradicts |= Q(Exists(ratings.filter(rubric=other_rubric, grade__in=grades)), grade=grade)
    rows = Rating.objects.of_dataset(dataset).filter(
        contradicts, rubric=rubric, rater__in=list(raters)
    )
    return set(rows.order_by().values_list("text_id", "question_id"))


def count_by_rubric(campaign: Campaign) -> list[tuple[Rubric, int]]:
    """Return rubrics under which contradicting pairs are listed, with their numbers.

    A pair is in the lists of two rubrics; one that lists nothing new is left out.
    """
    if not impossible_pairs(campaign.rubrics()):
        return []
    raters = list(campaign.participants.values_list("rater", flat=True))
    texts = set(campaign.items.values_list("text", flat=True))
    rubrics = list(Rubric.objects.available_in(campaign.dataset.project))
    listed: set[tuple[int, int]] = set()
    counts = []
    for rubric in campaign.rubrics():
        pairs = contradicting_pairs(campaign.dataset, rubric, rubrics, raters)
        pairs = {pair for pair in pairs if pair[0] in texts}
        if not pairs <= listed:
            counts.append((rubric, len(pairs)))
        listed |= pairs
    return counts
