"""Paired sign-flip tests of systems on a metric over topics, adjusted by Holm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np

from evaluation.metrics.ranges import highest
from evaluation.page_tables import SortValue
from evaluation.stats.estimate import Estimate, FloatArray
from evaluation.stats.jackknife import jackknife_interval
from evaluation.stats.randomisation import Randomisation, holm, sign_flips


@dataclass(frozen=True)
class PairTest:
    """Test of two systems over common topics, `first` the one with the higher mean there.

    `difference` is the mean of first less second with its t interval over topics, `flip` its
    sign-flip test, `p_holm` the p value adjusted for all pairs that are tested together. On
    `n_above` of the topics the first is higher, on `n_below` the second; on `n_unlike` of them the
    two are not read equally deep.
    """

    first: str
    second: str
    first_title: str
    second_title: str
    mean_first: float | None
    mean_second: float | None
    difference: Estimate
    flip: Randomisation
    p_holm: float | None
    n_above: int
    n_below: int
    n_unlike: int


TEST_VALUES: dict[str, Callable[[PairTest], SortValue]] = {
    "first": lambda test: test.first_title,
    "second": lambda test: test.second_title,
    "mean": lambda test: test.mean_first,
    "difference": lambda test: test.difference.value,
    "p": lambda test: test.flip.p,
    "holm": lambda test: test.p_holm,
    "topics": lambda test: test.flip.n,
}
"""Values by which tests are sorted, by column."""


class Scored(Protocol):
    """System with its values and the depth of its ranking on each topic."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def sizes(self) -> FloatArray: ...
    def of(self, metric: str) -> FloatArray: ...


def pair_tests(systems: Sequence[Scored], metric: str) -> tuple[PairTest, ...]:
    """Test all pairs of systems, sorted from the largest difference to the smallest.

    Undefined ones are last. The p values of all of them are adjusted together; pairs without a common
    topic have none.
    """
    pairs = [_downwards(a, b, metric) for a, b in combinations(systems, 2)]
    if not pairs:
        return ()
    columns = np.column_stack([a.of(metric) - b.of(metric) for a, b in pairs])
    flips = sign_flips(columns)
    adjusted = holm([np.nan if flip.p is None else flip.p for flip in flips]).tolist()
    tests = [
        _test(a, b, metric, flip, p) for (a, b), flip, p in zip(pairs, flips, adjusted, strict=True)
    ]
    return tuple(
        sorted(
            tests,
            key=lambda test: (
                test.difference.value is None,
                -(test.difference.value or 0.0),
                test.first,
                test.second,
            ),
        )
    )


def sampled(flips: Iterable[Randomisation]) -> str:
    """Return the number of sampled permutations and their seed; "" if all p values are exact."""
    random_flip = next((flip for flip in flips if flip.p is not None and not flip.exact), None)
    if random_flip is None:
        return ""
    return f"{random_flip.n_arrangements:,} permutations, the observed one included, seed {random_flip.seed}"


def pair_test(a: Scored, b: Scored, metric: str) -> PairTest:
    """Test a single pair, in the order given; its p value needs no adjustment."""
    (flip,) = sign_flips((a.of(metric) - b.of(metric))[:, np.newaxis])
    return _test(a, b, metric, flip, np.nan if flip.p is None else flip.p)


def mean_difference(differences: FloatArray) -> Estimate:
    """Return the mean of the defined differences, with its 95% t interval over topics."""
    defined = differences[~np.isnan(differences)]
    missing = len(differences) - len(defined)
    if not len(defined):
        return Estimate(None, "undefined, because no topic has both", 0, missing)
    whole = Estimate(float(defined.mean()), None, len(defined), missing)
    # The jackknife of a mean is its t interval: without one topic the mean is this.
    without_one = (defined.sum() - defined) / max(len(defined) - 1, 1)
    return jackknife_interval(whole, without_one)


def _test(a: Scored, b: Scored, metric: str, flip: Randomisation, p: float) -> PairTest:
    ours, theirs = a.of(metric), b.of(metric)
    difference = ours - theirs
    both = ~np.isnan(difference)
    return PairTest(
        first=a.name,
        second=b.name,
        first_title=a.title,
        second_title=b.title,
        mean_first=float(ours[both].mean()) if both.any() else None,
        mean_second=float(theirs[both].mean()) if both.any() else None,
        difference=mean_difference(difference).within(-highest(metric), highest(metric)),
        flip=flip,
        p_holm=None if np.isnan(p) else p,
        n_above=int((difference > 0).sum()),
        n_below=int((difference < 0).sum()),
        n_unlike=int((a.sizes[both] != b.sizes[both]).sum()),
    )


def _downwards(a: Scored, b: Scored, metric: str) -> tuple[Scored, Scored]:
    difference = a.of(metric) - b.of(metric)
    defined = difference[~np.isnan(difference)]
    return (b, a) if len(defined) and defined.mean() < 0 else (a, b)
