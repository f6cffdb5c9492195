"""Alternative annotator test: whether a judge may stand in for one of several people.

Each person is left out in turn. On the pairs that the person, the judge and another person graded, it is
counted how often the judge is as near to the others as the person is. Source: Calderon, Reichart and
Dror (2025), The alternative annotator test for LLM-as-a-judge, ACL, arXiv 2501.10970. Their p takes pairs
as independent; `p_clustered` takes topics as clusters (CR1, t with G - 1 degrees of freedom), since the
pairs of a topic resemble each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.clusters import ClusteredMean, clustered_mean
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

Scoring = Literal["accuracy", "neg_rmse"]
TOO_FEW_ITEMS = "undefined, because too few pairs have a grade of the person, the judge and another"
NO_VARIANCE = "undefined, because the difference is exactly epsilon on every pair"
NOBODY = "undefined, because no person has enough pairs"


@dataclass(frozen=True, slots=True)
class PersonTest:
    """Test of the judge against one person, by the grades of the others.

    `judge_wins` and `person_wins` are the shares of the `n` pairs on which either is at least as near to
    the others as the other one is: a tie counts for both. `difference` is the person's less the
    judge's, and p tests that it is epsilon or more. `reason` says why there is no test.
    """

    n: int
    reason: str | None = None
    judge_wins: float | None = None
    person_wins: float | None = None
    difference: float | None = None
    p: float | None = None
    is_rejected: bool | None = None
    clustered: ClusteredMean | None = None
    """The difference with its standard error over topics."""
    p_clustered: float | None = None
    is_rejected_clustered: bool | None = None


@dataclass(frozen=True, slots=True)
class AltTest(Estimate):
    """Winning rate, the share of tested people whom the judge may replace, of `n` items.

    `winning_rate_clustered` is the same by `p_clustered`, None without topics. `advantage` is the mean of
    `judge_wins` over people. `missing` counts items without the judge's grade, or with too few people.
    """

    people: tuple[PersonTest, ...] = ()
    advantage: float | None = None
    winning_rate_clustered: float | None = None

    @property
    def n_tested(self) -> int:
        return sum(person.p is not None for person in self.people)


def alt_test(
    people: ArrayLike,
    judge: ArrayLike,
    topics: IntArray | None = None,
    *,
    epsilon: float,
    scoring: Scoring = "accuracy",
    q: float = 0.05,
    min_people: int = 2,
    min_items: int = 30,
) -> AltTest:
    """Return the alternative annotator test of a judge against people.

    `people` is people x items, `judge` and `topics` are one per item, NaN = missing. Items without the
    judge's grade, or with fewer than `min_people` grades, are dropped; people with fewer than
    `min_items` of the others are not tested, and count among the others. `scoring`: the share of
    others with the same grade, or the negative root mean squared distance to them. False discoveries
    are held at `q` by Benjamini and Yekutieli's method. Undefined where nobody is tested, or where the
    test of a person is. Raises ValueError for shapes that do not fit.
    """
    grades, by_judge = np.asarray(people, np.float64), np.asarray(judge, np.float64)
    if grades.ndim != 2 or by_judge.shape != grades.shape[1:]:
        raise ValueError("people are people x items, and the judge has a grade for each item")
    if topics is not None and len(topics) != len(by_judge):
        raise ValueError("topics are one per item")
    is_complete = ~np.isnan(by_judge) & ((~np.isnan(grades)).sum(axis=0) >= min_people)
    grades, by_judge = grades[:, is_complete], by_judge[is_complete]
    topics = None if topics is None else np.asarray(topics)[is_complete]
    tests = [
        _person(grades, by_judge, topics, person, scoring, epsilon, min_items)
        for person in range(len(grades))
    ]
    n, missing = int(is_complete.sum()), int((~is_complete).sum())
    if undefined := next((test for test in tests if test.reason == NO_VARIANCE), None):
        return AltTest(None, undefined.reason, n, missing, people=tuple(tests))
    tests = _with_rejections(tests, q)
    tested = [test for test in tests if test.p is not None]
    if not tested:
        return AltTest(None, NOBODY, n, missing, people=tuple(tests))
    return AltTest(
        float(np.mean([bool(test.is_rejected) for test in tested])),
        None,
        n,
        missing,
        people=tuple(tests),
        advantage=float(np.mean([test.judge_wins or 0.0 for test in tested])),
        winning_rate_clustered=None
        if any(test.p_clustered is None for test in tested)
        else float(np.mean([bool(test.is_rejected_clustered) for test in tested])),
    )


def _person(
    grades: FloatArray,
    judge: FloatArray,
    topics: IntArray | None,
    person: int,
    scoring: Scoring,
    epsilon: float,
    min_items: int,
) -> PersonTest:
    other_grades = np.delete(grades, person, axis=0)
    graded = ~np.isnan(grades[person]) & (~np.isnan(other_grades)).any(axis=0)
    n = int(graded.sum())
    if n < min_items or n < 2:
        return PersonTest(n, TOO_FEW_ITEMS)
    nearness_of_judge = _nearness(judge[graded], other_grades[:, graded], scoring)
    nearness_of_person = _nearness(grades[person][graded], other_grades[:, graded], scoring)
    judge_wins = nearness_of_judge >= nearness_of_person
    person_wins = nearness_of_person >= nearness_of_judge
    differences = person_wins.astype(np.float64) - judge_wins
    mean = float(differences.mean())
    p = _p_below(mean, epsilon, float(differences.std(ddof=1)) / np.sqrt(n), n - 1)
    if p is None:
        return PersonTest(n, NO_VARIANCE)
    test = PersonTest(n, None, float(judge_wins.mean()), float(person_wins.mean()), mean, p)
    if topics is None:
        return test
    clustered = clustered_mean(differences, topics[graded])
    p_clustered = None
    if clustered.error is not None:
        p_clustered = _p_below(mean, epsilon, clustered.error, clustered.n_topics - 1)
    return replace(test, clustered=clustered, p_clustered=p_clustered)


def _nearness(grades: FloatArray, other_grades: FloatArray, scoring: Scoring) -> FloatArray:
    """Return how near each grade is to those of the others: higher is nearer."""
    if scoring == "accuracy":
        equal = np.where(np.isnan(other_grades), np.nan, other_grades == grades)
        return np.asarray(np.nanmean(equal, axis=0))
    # Without the root, which keeps the order.
    return np.asarray(-np.nanmean((other_grades - grades) ** 2, axis=0))


def _p_below(mean: float, epsilon: float, error: float, freedom: int) -> float | None:
    """Return p that the mean is epsilon or more; None where it is exactly epsilon."""
    if error > 0:
        return float(scipy.stats.t.cdf((mean - epsilon) / error, freedom))
    return None if mean == epsilon else float(mean > epsilon)


def _with_rejections(tests: list[PersonTest], q: float) -> list[PersonTest]:
    rejected = benjamini_yekutieli([test.p for test in tests], q)
    clustered = benjamini_yekutieli([test.p_clustered for test in tests], q)
    return [
        replace(
            test,
            is_rejected=None if test.p is None else bool(rejected[index]),
            is_rejected_clustered=None if test.p_clustered is None else bool(clustered[index]),
        )
        for index, test in enumerate(tests)
    ]


def topics_needed(
    difference: ClusteredMean, epsilon: float, n_people: int, *, q: float = 0.05, power: float = 0.8
) -> int | None:
    """Return the number of topics with which a person's test would reject in `power` of cases.

    If the mean and the spread over topics stay as they are, with the level of the smallest p of
    `n_people` by Benjamini and Yekutieli. None where the mean is epsilon or more, so that no number is
    enough, or where there is one topic.
    """
    sd, gap = difference.topic_sd, epsilon - difference.value
    if sd is None or gap <= 0:
        return None
    harmonic = sum(1 / rank for rank in range(1, n_people + 1))
    normal = scipy.stats.norm
    reach = normal.ppf(1 - q / (harmonic * n_people)) + normal.ppf(power)
    return max(math.ceil(float((reach * sd / gap) ** 2)), 2)


def benjamini_yekutieli(values: Sequence[float | None], q: float) -> NDArray[np.bool_]:
    """Return which hypotheses are rejected at a false discovery rate of `q`; none without a p.

    Source: Benjamini and Yekutieli (2001), Annals of Statistics 29(4), 1165-1188.
    """
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - a second

    rejected = np.zeros(len(values), dtype=bool)
    tested = [index for index, value in enumerate(values) if value is not None]
    if tested:
        rejected[tested] = multipletests(
            [value for value in values if value is not None], alpha=q, method="fdr_by"
        )[0]
    return rejected
