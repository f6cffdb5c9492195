"""Aggregates: raters whose ratings are made from those of others, and made anew when these change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.models import Rater, Rating
from evaluation.data.ratings import load
from evaluation.data.selection import Selection, SelectionError
from evaluation.stats.aggregation import Method, aggregate


@dataclass(frozen=True)
class Made:
    """What was made: `n` ratings, and how many of the pairs that anybody rated have none."""

    rater: Rater
    n: int
    n_none: int


def make_aggregate(selection: Selection, method: Method, seed: int) -> Made:
    """The ratings of the selection's raters in one, as rater METHOD.RUBRIC of kind aggregate.

    It belongs to the dataset; what it had is replaced, and its `made_from` says from whom, how and
    when. Raises SelectionError with fewer than two raters, with an aggregate among them, or where
    somebody else has the name.
    """
    raters, dataset, rubric = selection.raters, selection.dataset, selection.rubric
    if len(raters) < 2:
        raise SelectionError(f"An aggregate takes two raters, and here there are {len(raters)}.")
    for rater in raters:
        if rater.kind == Rater.Kind.AGGREGATE:
            raise SelectionError(f"{rater.name} is an aggregate already: name who rated.")
    name = f"{method}.{rubric.slug}"
    taken = Rater.objects.filter(dataset=dataset, name=name).first()
    if taken and taken.kind != Rater.Kind.AGGREGATE:
        raise SelectionError(f"{name} is the name of a {taken.get_kind_display()} already.")
    matrix = load(selection)
    levels = aggregate(matrix.grades, selection.levels, method, seed=seed)
    grades = [
        (text, question, int(level))
        for text, question, level in zip(
            matrix.text.tolist(), matrix.question.tolist(), levels.tolist(), strict=True
        )
        if not np.isnan(level)
    ]
    how = f"{method}, seed {seed}" if method == "mace" else method
    where = f" in {selection.campaign.slug}" if selection.campaign else ""
    whom = ", ".join(rater.name for rater in raters)
    with transaction.atomic():
        made, _ = Rater.objects.get_or_create(
            dataset=dataset, name=name, defaults={"kind": Rater.Kind.AGGREGATE}
        )
        made.made_from = f"{how}, of {whom}{where}, {timezone.now():%Y-%m-%d}"
        made.save(update_fields=["made_from"])
        Rating.objects.replace(made.pk, rubric.pk, grades)
    return Made(made, len(grades), matrix.n_items - len(grades))
