"""Aggregate raters: ratings computed from those of several raters, on request only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import Rater, Rating, Rubric
from annotation.models.rubric import grade_of_label
from annotation.plurals import n_of
from evaluation.data.columns import Column
from evaluation.data.ratings import RatingMatrix, copied_pairs, count_exposed
from evaluation.data.selection import Selection, SelectionError
from evaluation.stats.aggregation import ORDERED, Method, aggregate
from evaluation.stats.estimate import FloatArray
from evaluation.stats.isotonic import cross_fitted


@dataclass(frozen=True)
class StoredAggregate:
    """Result of storing an aggregate: `n` ratings, and `n_none` rated pairs without one."""

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
) -> StoredAggregate:
    """Store the aggregated ratings of the matrix's raters as a rater of kind aggregate.

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
    suffix = "" if any(rater.is_person for rater in raters) else "-judges"
    grades, rule = matrix.grades, _rule(method, seed)
    if method == "mean-expected":
        rated = ~np.isnan(grades)
        has_expected = rated & ~np.isnan(grades if expected is None else expected)
        has_expected &= expected is not None
        grades = grades if expected is None else np.where(has_expected, expected, grades)
        rule += f" (expected grades known for {has_expected.sum():,} of {rated.sum():,} grades)"
    levels = (
        _majority_of_labels(grades, rubric)
        if rubric.is_multi_label and method == "majority"
        else aggregate(grades, matrix.levels, method, seed=seed)
    )
    rater_titles = list_raters(raters, fingerprints or {})
    return _store(
        matrix, name or f"{method}{suffix}.{rubric.slug}", levels, f"{rule}, of {rater_titles}"
    )


def make_calibrated(
    matrix: RatingMatrix,
    people: RatingMatrix,
    expected: FloatArray,
    *,
    name: str = "",
    fingerprints: Fingerprints | None = None,
) -> StoredAggregate:
    """Store the calibrated grades of the matrix's one judge as a rater of kind aggregate.

    They estimate how people would grade.

    It is called calibrated-JUDGE.RUBRIC, or `name`. The map of the judge's `expected` grades (its
    grades where they are NaN; items x 1) is fitted on the means of `people` on other topics. Raises
    SelectionError where that is undefined, and as `make_aggregate`.
    """
    selection = matrix.selection
    (judge,) = selection.raters
    _check_raters([judge, *people.selection.raters])
    check_order(selection, "calibrated")
    judge_grades = np.where(np.isnan(expected), matrix.grades, expected)[:, 0]
    mean = np.full(matrix.n_items, np.nan)
    item = matrix.places(people.text, people.question)
    mean[item[item >= 0]] = np.nanmean(people.grades, axis=1)[item >= 0]
    try:
        levels = cross_fitted(judge_grades, mean, matrix.topic, selection.levels)
    except ValueError as error:
        raise SelectionError(f"A calibration of {judge.name} is {error}.") from error
    fitted = ~np.isnan(mean)
    n_expected = int((~np.isnan(expected)).sum())
    rule = (
        f"isotonic regression, rounded half up, of {list_raters([judge], fingerprints or {})} "
        f"(expected grades known for {n_expected:,} of {matrix.n_items:,} grades) on the mean grades of "
        f"{list_raters(people.selection.raters, {})}, fitted for each topic on the others "
        f"({fitted.sum():,} pairs of {len(np.unique(matrix.topic[fitted])):,} topics)"
        f"{_without_exposed(people.selection)}"
    )
    rater_name = name or f"calibrated-{judge.name}.{selection.rubric.slug}"
    return _store(matrix, rater_name, levels, rule)


def _majority_of_labels(grades: FloatArray, rubric: Rubric) -> FloatArray:
    """Return the labels that a majority of each item's raters chose; NaN on a tie."""
    sets, missing = np.nan_to_num(grades).astype(np.int64), np.isnan(grades)
    total = np.zeros(len(grades))
    for level in rubric.levels.all():
        grade = grade_of_label(level.grade)
        chosen = np.where(missing, np.nan, sets & grade > 0)
        total += grade * aggregate(chosen, (0, 1), "majority")
    return total


def check_order(selection: Selection, method: str) -> None:
    """Raise SelectionError for a rubric whose grades are names."""
    if not selection.rubric.has_order:
        raise SelectionError(
            f"{method} takes grades with an order, and those of {selection.rubric.slug} are names."
        )


def list_raters(raters: Iterable[Column], fingerprints: Fingerprints) -> str:
    """Return the raters' names, a judge's with the first eight characters of its fingerprint."""
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


def _without_exposed(selection: Selection) -> str:
    """Return how many grades are left out because they are not independent; "" for none."""
    n = count_exposed(selection) if selection.exposed == "left-out" else 0
    if not n:
        return ""
    return f", without {n_of(n, 'grade', ',')} that {'is' if n == 1 else 'are'} not independent"


def _check_raters(raters: Iterable[Column]) -> None:
    for rater in raters:
        if rater.kind == Rater.Kind.AGGREGATE:
            raise SelectionError(f"{rater.name} is an aggregate already: name who rated.")


def _store(matrix: RatingMatrix, name: str, levels: FloatArray, rule: str) -> StoredAggregate:
    selection = matrix.selection
    dataset, rubric = selection.dataset, selection.rubric
    namesakes = Rater.objects.filter(Q(dataset=dataset) | Q(dataset=None), name=name)
    if namesake := namesakes.exclude(kind=Rater.Kind.AGGREGATE).first():
        raise SelectionError(f"{name} is the name of a {namesake.get_kind_display()} already.")
    if len(name) > (longest := Rater._meta.get_field("name").max_length or 0):
        raise SelectionError(f"{name} is longer than {longest} characters: give a shorter name.")
    grades = [
        (text, question, int(level))
        for text, question, level in zip(
            matrix.text.tolist(), matrix.question.tolist(), levels.tolist(), strict=True
        )
        if not np.isnan(level)
    ]
    read_texts = copied_pairs(matrix)
    level_of = {(text, question): level for text, question, level in grades}
    copies = [
        (text, question, level_of[read_text, question])
        for (text, question), read_text in read_texts.items()
        if (read_text, question) in level_of
    ]
    scope = f" in {selection.campaign.slug}" if selection.campaign else ""
    scope += _without_exposed(selection)
    with transaction.atomic():
        rater, _ = Rater.objects.select_for_update().get_or_create(
            dataset=dataset, name=name, defaults={"kind": Rater.Kind.AGGREGATE}
        )
        rater.made_from = f"{rule}{scope}, n = {len(grades):,} pairs, {timezone.now():%Y-%m-%d}"
        rater.save(update_fields=["made_from"])
        Rating.objects.replace(rater.pk, rubric.pk, [*grades, *copies], read_texts)
    return StoredAggregate(rater, len(grades), matrix.n_items - len(grades))
