"""Assessment of a judge: may it stand in for one of the people who graded the same pairs?

The alternative annotator test decides, with topics as clusters; the published p is given beside it.
Source: Calderon, Reichart and Dror (2025), arXiv 2501.10970.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.errors import UserError
from annotation.models import Text
from annotation.plurals import n_of
from evaluation.data.certificates import TestedRatings
from evaluation.data.ratings import RatingMatrix
from evaluation.stats.alt_test import (
    AltTest,
    PersonTest,
    Scoring,
    alt_test,
    benjamini_yekutieli,
    topics_needed,
)
from evaluation.stats.clusters import binary, clustered_mean
from evaluation.stats.equivalence import equivalence
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

MIN_TOPICS = 6
MIN_PEOPLE = 2
MIN_PAIRS = 30  # of a person with another person and the judge
Q = 0.05  # false discovery rate
PASSING_RATE = 0.5
POWER = 0.8
UNANSWERED = 0.05  # share of pairs without a grade of the judge from which on a result says so
LENGTHS = ("shortest third of texts", "middle third of texts", "longest third of texts")
SYSTEM, LENGTH = "system", "length"
FEW_PAIRS = f"fewer than {MIN_PAIRS} pairs of two people"
ONLY_SYSTEM = "there is no other system"
FEW_TOPICS = f"fewer than {MIN_TOPICS} topics"


class RefusedError(UserError):
    """The ratings do not allow the test; the message says why."""


@dataclass(frozen=True)
class Parameters:
    """Choices of a test. `bias_margin` is in grades."""

    epsilon: float
    agreement_margin: float
    bias_margin: float


@dataclass(frozen=True)
class Tested:
    """The tested pairs: people x pairs, the judge's grades, topics, systems and texts.

    Where people and the judge grade on different scales, both are read as answerable or not.
    """

    people: FloatArray
    judge: FloatArray
    topics: IntArray
    systems: NDArray[np.str_]
    texts: IntArray
    scoring: Scoring


def assess(ratings: TestedRatings, parameters: Parameters) -> dict[str, Any]:
    """Test a judge against people, and return the result as JSON. Raises RefusedError.

    The keys are those of docs/files/exports.md.
    """
    matrix = ratings.matrix
    tested = check_ratings(ratings)
    whole = _alt_test(tested, parameters.epsilon)
    people = _people(matrix, whole)
    rated_by_two = _graded_by_two(matrix)
    n_without_judge = int((rated_by_two & np.isnan(matrix.judge)).sum())
    passes = (whole.winning_rate_clustered or 0.0) >= PASSING_RATE
    return {
        "passes": passes,
        "reason": whole.reason,
        "winning_rate": whole.winning_rate_clustered,
        "winning_rate_by_pairs": whole.value,
        "advantage": whole.advantage,
        "n_pairs": len(tested.judge),
        "n_topics": len(set(tested.topics.tolist())),
        "n_without_judge": n_without_judge,
        "n_with_one_person": int((~rated_by_two).sum()),
        "scoring": tested.scoring,
        "people": people,
        "agreement": _agreement(tested, parameters.agreement_margin),
        "bias": _bias(tested, parameters.bias_margin),
        "slices": list(_slices(tested, parameters.epsilon)),
        "needed": None if passes else _needed(whole, tested, parameters.epsilon),
    }


def check_ratings(ratings: TestedRatings) -> Tested:
    """Return the tested pairs, if there are enough for a test. Raises RefusedError."""
    _check_judge(ratings.matrix)
    tested = _tested(ratings.matrix, ratings.mask)
    _check_size(ratings.matrix, tested)
    return tested


def _check_judge(matrix: RatingMatrix) -> None:
    """Refuse what can be no judge of people. Raises RefusedError."""
    judge, rubric = matrix.selection.judge, matrix.selection.rubric
    if judge is None:
        raise RefusedError("Choose a judge: a model or a baseline that graded what people graded.")
    if rubric.is_multi_label:
        raise RefusedError(f"Grades under {rubric.title} are sets of labels, and judges give none.")
    non_people = [rater.title for rater in matrix.selection.raters if not rater.is_person]
    if non_people:
        raise RefusedError(f"{', '.join(non_people)}: a judge is compared with people alone.")


def _check_size(matrix: RatingMatrix, tested: Tested) -> None:
    n_people = len(matrix.selection.raters)
    if n_people < MIN_PEOPLE:
        raise RefusedError(f"The test needs {MIN_PEOPLE} people, and {n_people} graded.")
    n_doubly_graded = int(_graded_by_two(matrix).sum())
    n, n_topics = len(tested.judge), len(set(tested.topics.tolist()))
    evidence = (
        f"{n_of(n_doubly_graded, 'pair', ',')} {'has' if n_doubly_graded == 1 else 'have'} grades of two "
        f"people, {n:,} of them also of the judge, in {n_of(n_topics, 'topic')}"
    )
    if n_topics < MIN_TOPICS:
        raise RefusedError(
            f"{evidence}. The test needs {MIN_TOPICS} topics, since pairs of one topic resemble each other."
        )
    counts = (~np.isnan(tested.people)).sum(axis=1)
    if (counts >= MIN_PAIRS).sum() < MIN_PEOPLE:
        by_person = ", ".join(
            f"{rater.title} {count}"
            for rater, count in zip(matrix.selection.raters, counts.tolist(), strict=True)
        )
        raise RefusedError(
            f"{evidence}: {by_person}. The test needs {MIN_PEOPLE} people with {MIN_PAIRS} of these pairs "
            "each."
        )


def _graded_by_two(matrix: RatingMatrix) -> NDArray[np.bool_]:
    """Return which items have grades of two people, with the judge's or without."""
    return np.asarray((~np.isnan(matrix.grades)).sum(axis=1) >= MIN_PEOPLE)


def _tested(matrix: RatingMatrix, mask: NDArray[np.bool_]) -> Tested:
    selection = matrix.selection
    people, judge = matrix.grades[mask].T, matrix.judge[mask]
    if not selection.one_scale:
        people = binary(people, selection.threshold)
        judge = binary(judge, selection.judge_threshold)
    has_distances = selection.one_scale and selection.rubric.has_order and len(matrix.levels) > 2
    return Tested(
        people,
        judge,
        matrix.topic[mask],
        matrix.system[mask],
        matrix.text[mask],
        "neg_rmse" if has_distances else "accuracy",
    )


def _alt_test(tested: Tested, epsilon: float, pairs: NDArray[np.bool_] | None = None) -> AltTest:
    chosen = np.ones(len(tested.judge), dtype=bool) if pairs is None else pairs
    return alt_test(
        tested.people[:, chosen],
        tested.judge[chosen],
        tested.topics[chosen],
        epsilon=epsilon,
        scoring=tested.scoring,
        q=Q,
        min_people=MIN_PEOPLE,
        min_items=MIN_PAIRS,
    )


def _people(matrix: RatingMatrix, whole: AltTest) -> list[dict[str, Any]]:
    return [
        {"name": rater.name, **_person(test)}
        for rater, test in zip(matrix.selection.raters, whole.people, strict=True)
    ]


def _person(test: PersonTest) -> dict[str, Any]:
    ends = test.clustered.interval() if test.clustered else None
    return {
        "n_pairs": test.n,
        "n_topics": test.clustered.n_topics if test.clustered else 0,
        "judge_wins": test.judge_wins,
        "person_wins": test.person_wins,
        "difference": test.difference,
        "low": ends[0] if ends else None,
        "high": ends[1] if ends else None,
        "p": test.p_clustered,
        "p_by_pairs": test.p,
        "passes": test.is_rejected_clustered if test.p_clustered is not None else None,
        "reason": test.reason,
    }


def _agreement(tested: Tested, margin: float) -> dict[str, Any]:
    """Compare agreement of the judge with people to that among people, topic by topic.

    Agreement is the share of equal grades of two raters of a pair.
    """
    topics = np.unique(tested.topics)
    with_judge, among_people = (np.full(len(topics), np.nan) for _ in "12")
    equal_to_judge = np.where(np.isnan(tested.people), np.nan, tested.people == tested.judge)
    equal_among = _equal_among(tested.people)
    for index, topic in enumerate(topics.tolist()):
        chosen = tested.topics == topic
        with_judge[index] = np.nanmean(equal_to_judge[:, chosen])
        among_people[index] = np.nanmean(equal_among[:, chosen])
    compared = equivalence(with_judge, among_people, margin)
    return {
        "with_judge": float(with_judge.mean()),
        "among_people": float(among_people.mean()),
        "difference": estimate_json(compared),
        "margin": margin,
        "p_equivalent": compared.p,
        "p_not_worse": compared.p_not_worse,
    }


def _equal_among(people: FloatArray) -> FloatArray:
    """Return whether two people gave a pair equal grades: NaN if one is missing."""
    rows = [
        np.where(np.isnan(first) | np.isnan(second), np.nan, first == second)
        for number, first in enumerate(people)
        for second in people[number + 1 :]
    ]
    return np.array(rows)


def _bias(tested: Tested, margin: float) -> dict[str, Any]:
    """Return the mean of judge minus people, over all pairs and by system (CR1 over topics)."""
    difference = tested.judge - np.nanmean(tested.people, axis=0)
    whole = clustered_mean(difference, tested.topics)
    rows = []
    systems = np.unique(tested.systems).tolist()
    for system in systems:
        chosen = tested.systems == system
        mean = clustered_mean(difference[chosen], tested.topics[chosen])
        reason = (
            ONLY_SYSTEM
            if len(systems) == 1
            else FEW_PAIRS
            if mean.n < MIN_PAIRS
            else FEW_TOPICS
            if mean.n_topics < MIN_TOPICS
            else None
        )
        rows.append(
            {
                "name": system,
                "estimate": estimate_json(mean.estimate()),
                "is_within": None if reason else abs(mean.value - whole.value) <= margin,
                "reason": reason,
            }
        )
    return {"estimate": estimate_json(whole.estimate()), "margin": margin, "systems": rows}


def _slices(tested: Tested, epsilon: float) -> Iterator[dict[str, Any]]:
    """Yield the test on parts of the pairs, corrected over all people of all slices."""
    slices = [*_by_system(tested), *_by_length(tested)]
    tests = []
    for _, _, chosen in slices:
        n_topics = len(set(tested.topics[chosen].tolist()))
        tests.append(_alt_test(tested, epsilon, chosen) if n_topics >= MIN_TOPICS else None)
    values = [person.p_clustered for test in tests if test for person in test.people]
    rejected = iter(benjamini_yekutieli(values, Q).tolist())
    for (kind, name, chosen), test in zip(slices, tests, strict=True):
        of_slice = [(person, next(rejected)) for person in test.people] if test else []
        results = [
            is_rejected for person, is_rejected in of_slice if person.p_clustered is not None
        ]
        is_tested = len(results) >= MIN_PEOPLE and test is not None and test.value is not None
        rate = float(np.mean(results)) if is_tested else None
        yield {
            "kind": kind,
            "name": name,
            "n_pairs": int(chosen.sum()),
            "n_topics": len(set(tested.topics[chosen].tolist())),
            "winning_rate": rate,
            "passes": None if rate is None else rate >= PASSING_RATE,
            "reason": None if is_tested else FEW_PAIRS if test else FEW_TOPICS,
        }


def _by_system(tested: Tested) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    systems = np.unique(tested.systems).tolist()
    if len(systems) > 1:
        for system in systems:
            yield SYSTEM, system, tested.systems == system


def _by_length(tested: Tested) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield the thirds of the pairs by the number of words of their texts."""
    bodies = Text.objects.filter(pk__in=set(tested.texts.tolist())).values_list("pk", "body")
    n_words = {pk: len((body or "").split()) for pk, body in bodies}
    lengths = np.array([n_words[text] for text in tested.texts.tolist()])
    bounds = np.quantile(lengths, [1 / 3, 2 / 3])
    third = np.searchsorted(bounds, lengths, side="right")
    if len(np.unique(third)) == len(LENGTHS):
        for number, name in enumerate(LENGTHS):
            yield LENGTH, name, third == number


def _needed(whole: AltTest, tested: Tested, epsilon: float) -> dict[str, Any]:
    """Return the topics and pairs that are missing for a pass, if the judge stays as good.

    `n_topics` is None where more labels do not help: too few people lie below epsilon.
    """
    people = [person for person in whole.people if person.p is not None]
    n_more = math.ceil(PASSING_RATE * len(people)) - sum(
        bool(person.is_rejected_clustered) for person in people
    )
    needs = sorted(
        needed
        for person in people
        if not person.is_rejected_clustered
        and person.clustered
        and (needed := topics_needed(person.clustered, epsilon, len(people), q=Q, power=POWER))
    )
    n_topics = len(set(tested.topics.tolist()))
    if n_more > len(needs):
        return {"n_topics": None, "n_pairs": None}
    n_missing = max(needs[n_more - 1] - n_topics, 1)
    pairs_of_topic = len(tested.judge) / n_topics
    return {"n_topics": n_missing, "n_pairs": math.ceil(n_missing * pairs_of_topic)}


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return the fields of an estimate by which `Estimate(**...)` restores it."""
    return {
        name: getattr(estimate, name)
        for name in ("value", "reason", "n", "missing", "low", "high", "interval_reason")
    }


def failed_parts(result: Mapping[str, Any]) -> Sequence[str]:
    """Return the slices and systems for which a passed test does not hold."""
    slices = [part["name"] for part in result["slices"] if part["passes"] is False]
    systems = [row["name"] for row in result["bias"]["systems"] if row["is_within"] is False]
    return list(dict.fromkeys([*slices, *systems]))
