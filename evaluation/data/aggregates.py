"""Aggregates: raters whose ratings are made from those of others, and anew only when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import Rater, Rating
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix
from evaluation.data.selection import Selection, SelectionError
from evaluation.stats.aggregation import ORDERED, Method, aggregate
from evaluation.stats.estimate import FloatArray
from evaluation.stats.isotonic import cross_fitted


@dataclass(frozen=True)
class Made:
    """What was made: `n` ratings, and how many of the pairs that anybody rated have none."""

    rater: Rater
    n: int
    n_none: int


Fingerprints = Mapping[int, str]  # of judges, by the key of their rater


def make_aggregate(
    matrix: RatingMatrix,
    method: Method,
    *,
    seed: int = 0,
    name: str = "",
    expected: FloatArray | None = None,
    fingerprints: Fingerprints | None = None,
) -> Made:
    """The ratings of the matrix's raters in one, as a rater of kind aggregate.

    It is called METHOD.RUBRIC, or METHOD-judges.RUBRIC where no person is among them, or `name`. It
    belongs to the dataset; what it had is replaced, and its `made_from` says by which rule, from whom
    and when. "mean-expected" reads `expected`, items x raters, where it is not NaN. Raises
    SelectionError with fewer than two raters, with an aggregate among them, for a rule that the
    rubric's levels have no order for, or where somebody else has the name.
    """
    selection = matrix.selection
    raters, rubric = selection.raters, selection.rubric
    if len(raters) < 2:
        raise SelectionError(f"An aggregate takes two raters, and here there are {len(raters)}.")
    _check_raters(raters)
    if method in ORDERED:
        check_order(selection, method)
    whose = "" if any(rater.is_person for rater in raters) else "-judges"
    grades, how = matrix.grades, _rule(method, seed)
    if method == "mean-expected":
        rated = ~np.isnan(grades)
        told = rated & ~np.isnan(grades if expected is None else expected)
        told &= expected is not None
        grades = grades if expected is None else np.where(told, expected, grades)
        how += f" (expected grades known for {told.sum():,} of {rated.sum():,} grades)"
    levels = aggregate(grades, selection.levels, method, seed=seed)
    whom = in_words(raters, fingerprints or {})
    return _store(matrix, name or f"{method}{whose}.{rubric.slug}", levels, f"{how}, of {whom}")


def make_calibrated(
    matrix: RatingMatrix,
    people: RatingMatrix,
    expected: FloatArray,
    *,
    name: str = "",
    fingerprints: Fingerprints | None = None,
) -> Made:
    """The grades of the one judge of `matrix` as people would give them, as a rater of kind aggregate.

    It is called calibrated-JUDGE.RUBRIC, or `name`. The map of the judge's `expected` grades (its
    grades where they are NaN; items x 1) is fitted on the means of `people` on other topics. Raises
    SelectionError where that is undefined, and as `make_aggregate`.
    """
    selection = matrix.selection
    (judge,) = selection.raters
    _check_raters([judge, *people.selection.raters])
    check_order(selection, "calibrated")
    says = np.where(np.isnan(expected), matrix.grades, expected)[:, 0]
    mean = np.full(matrix.n_items, np.nan)
    place = matrix.places(people.text, people.question)
    mean[place[place >= 0]] = np.nanmean(people.grades, axis=1)[place >= 0]
    try:
        levels = cross_fitted(says, mean, matrix.topic, selection.levels)
    except ValueError as error:
        raise SelectionError(f"A calibration of {judge.name} is {error}.") from error
    fitted = ~np.isnan(mean)
    told = int((~np.isnan(expected)).sum())
    how = (
        f"isotonic regression, rounded half up, of {in_words([judge], fingerprints or {})} "
        f"(expected grades known for {told:,} of {matrix.n_items:,} grades) on the mean grades of "
        f"{in_words(people.selection.raters, {})}, fitted for each topic on the others "
        f"({fitted.sum():,} pairs of {len(np.unique(matrix.topic[fitted])):,} topics)"
    )
    named = name or f"calibrated-{judge.name}.{selection.rubric.slug}"
    return _store(matrix, named, levels, how)


def check_order(selection: Selection, method: str) -> None:
    """Raises SelectionError for a rubric whose grades are names."""
    if not selection.rubric.has_order:
        raise SelectionError(
            f"{method} takes grades with an order, and those of {selection.rubric.slug} are names."
        )


def in_words(raters: Iterable[Column], fingerprints: Fingerprints) -> str:
    """The raters by name, a judge with the first eight signs of its fingerprint."""
    return ", ".join(
        f"{rater.title} (fingerprint {fingerprints[rater.pk][:8]})"
        if rater.pk in fingerprints
        else rater.title
        for rater in raters
    )


def _rule(method: Method, seed: int) -> str:
    rules = {
        "median": "median, between two middle grades their mean, rounded half up",
        "mean-expected": "mean of expected grades, rounded half up",
        "mace": f"mace, seed {seed}",
    }
    return rules.get(method, method)


def _check_raters(raters: Iterable[Column]) -> None:
    for rater in raters:
        if rater.kind == Rater.Kind.AGGREGATE:
            raise SelectionError(f"{rater.name} is an aggregate already: name who rated.")


def _store(matrix: RatingMatrix, name: str, levels: FloatArray, how: str) -> Made:
    selection = matrix.selection
    dataset, rubric = selection.dataset, selection.rubric
    here = Rater.objects.filter(Q(dataset=dataset) | Q(dataset=None), name=name)
    if taken := here.exclude(kind=Rater.Kind.AGGREGATE).first():
        raise SelectionError(f"{name} is the name of a {taken.get_kind_display()} already.")
    if len(name) > (longest := Rater._meta.get_field("name").max_length or 0):
        raise SelectionError(f"{name} is longer than {longest} characters: give a shorter name.")
    grades = [
        (text, question, int(level))
        for text, question, level in zip(
            matrix.text.tolist(), matrix.question.tolist(), levels.tolist(), strict=True
        )
        if not np.isnan(level)
    ]
    where = f" in {selection.campaign.slug}" if selection.campaign else ""
    with transaction.atomic():
        made, _ = Rater.objects.select_for_update().get_or_create(
            dataset=dataset, name=name, defaults={"kind": Rater.Kind.AGGREGATE}
        )
        made.made_from = f"{how}{where}, n = {len(grades):,} pairs, {timezone.now():%Y-%m-%d}"
        made.save(update_fields=["made_from"])
        Rating.objects.replace(made.pk, rubric.pk, grades)
    return Made(made, len(grades), matrix.n_items - len(grades))
