"""Agreement of two sides from counts of their levels by topic.

A table is counted once; each statistic and its jackknife over topics are sums of its cells, so their
time does not grow with the items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from evaluation.stats import fleiss
from evaluation.stats.classes import Classes, class_scores
from evaluation.stats.clusters import leave_one_out_sums, level_sums, ratio, topic_sums
from evaluation.stats.cohen import NO_PAIR, Weights, kappa_from_matrix
from evaluation.stats.correlation import Correlation, spearman_from_matrix
from evaluation.stats.estimate import Estimate, FloatArray, IntArray, level_index
from evaluation.stats.intraclass import Limits, limits_from_counts
from evaluation.stats.jackknife import jackknife_interval

# A dense matrix product takes time by the square of the raters; a sparse one by the ratings, but more for each.
_FEW_RATERS = 64
_ITEMS_AT_ONCE = 100_000  # few enough that 32-bit floats count exactly


@dataclass(frozen=True)
class PairCounts:
    """Counts of the items on which side `a` gave one level and side `b` one.

    `by_topic` is topics x levels of `a` x levels of `b`, with a row of zeros for a topic without a
    common item: the jackknife leaves it out too. `levels` ascend, `missing` counts the items without
    both. Each statistic has `n` = items with both and an interval over topics.
    """

    by_topic: IntArray
    levels: tuple[int, ...]
    missing: int

    @classmethod
    def of(
        cls, a: FloatArray, b: FloatArray, levels: Sequence[int], topics: IntArray
    ) -> PairCounts:
        """Count two lists of grades of the same items, NaN = missing; `topics` is one per item.

        Raises ValueError for a grade outside `levels` or unequal lengths.
        """
        sums = level_sums(a, b, (levels, levels), topics)
        return cls(sums, tuple(levels), len(topics) - int(sums.sum()))

    @cached_property
    def matrix(self) -> IntArray:
        """The counts over all topics: levels of `a` x levels of `b`."""
        return self.by_topic.sum(axis=0)

    @cached_property
    def n(self) -> int:
        return int(self.matrix.sum())

    @cached_property
    def _tables(self) -> FloatArray:
        """The counts over all topics, and then over all but one, for each topic."""
        return np.concatenate([self.matrix[np.newaxis], leave_one_out_sums(self.by_topic)])

    def kappa(self, weights: Weights = None) -> Estimate:
        """Return Cohen's kappa, plain or weighted. Source: as `cohen.cohen_kappa`."""
        kappas = kappa_from_matrix(self._tables, self.levels, weights)
        return self._estimate(kappas, fleiss.ONE_CATEGORY if self.n else NO_PAIR).within(-1, 1)

    def scott(self) -> Estimate:
        """Return Scott's pi. Source: Scott (1955), Public Opinion Quarterly 19(3), 321-325.

        It is Fleiss' kappa of two raters, and undefined as that is.
        """
        return self._estimate(
            self._scott, fleiss.ONE_CATEGORY if self.n else fleiss.NO_PAIR
        ).within(-1, 1)

    @property
    def scott_leave_one_out(self) -> FloatArray:
        """Scott's pi without each topic, NaN where undefined."""
        return self._scott[1:]

    @cached_property
    def _scott(self) -> FloatArray:
        return fleiss.kappa_from_sums(_fleiss_sums(self._tables))

    def percent(self) -> Estimate:
        """Return the share of the items on which both gave the same level."""
        return self.mean(np.eye(len(self.levels))).within(0, 1)

    def share_from(self, threshold: float) -> Estimate:
        """Return the share of grades of at least a threshold among those of both sides."""
        reach = np.asarray(self.levels) >= threshold
        return self.mean((reach[:, np.newaxis] + reach.astype(np.float64)) / 2).within(0, 1)

    def mean(self, values: ArrayLike) -> Estimate:
        """Return the mean over items of a value that each pair of levels has: levels x levels."""
        if not self.n:
            return Estimate(None, NO_PAIR, 0, self.missing)
        by_cell = np.asarray(values, dtype=np.float64)
        cells = self._tables.reshape(-1, by_cell.size)
        # As matrix products, because numpy sums short axes slowly.
        sums, n = cells @ by_cell.ravel(), cells @ np.ones(by_cell.size)
        return self._estimate(ratio(sums, n), NO_PAIR)

    def binary(self, threshold: float) -> PairCounts:
        """Return the counts of grades of at least a threshold (1) and of others (0)."""
        reach = (np.asarray(self.levels) >= threshold).astype(np.int64)
        to_binary = np.stack([1 - reach, reach])
        return PairCounts(to_binary @ self.by_topic @ to_binary.T, (0, 1), self.missing)

    def spearman(self) -> Correlation:
        """Return Spearman's rho without an interval. Source: as `correlation.spearman`."""
        return spearman_from_matrix(self.matrix, self.levels, self.missing)

    def limits(self) -> Limits:
        """Return Bland and Altman's limits of agreement; the bias has its interval over topics.

        Source: as `intraclass.limits_of_agreement`.
        """
        scale = np.asarray(self.levels)
        differences, reach = scale[:, np.newaxis] - scale, max(self.levels) - min(self.levels)
        limits = limits_from_counts(differences.ravel(), self.matrix.ravel(), self.missing)
        return replace(limits, bias=self.mean(differences).within(-reach, reach))

    def classes(self) -> Classes:
        """Return the scores of `b` by level, with `a` as the truth."""
        return class_scores(self.by_topic, self.levels, self.missing)

    def _estimate(self, computed: FloatArray, reason: str) -> Estimate:
        """Return an estimate from its values over all topics, and then over all but one."""
        value = float(computed[0])
        whole = (
            Estimate(None, reason, self.n, self.missing)
            if np.isnan(value)
            else Estimate(value, None, self.n, self.missing)
        )
        return jackknife_interval(whole, computed[1:])


class LevelColumns:
    """The grades of several raters as positions of levels, and what is counted of them.

    `grades` is items x raters, NaN = missing; `topics` is one per item. `positions` is items x raters,
    -1 = missing; `topic` numbers the topic of each item, in the order of their names. Raises ValueError
    for a grade outside `levels`.
    """

    def __init__(self, grades: FloatArray, levels: Sequence[int], topics: IntArray) -> None:
        self.levels = tuple(levels)
        # A column lies in one piece of memory, and is read by itself: a crowd has many, with few grades each.
        self.positions = np.full(grades.shape, -1, dtype=np.int16, order="F")
        for column in range(grades.shape[1]):
            self.positions[:, column] = level_index(grades[:, column], levels)
        names, self.topic = np.unique(topics, return_inverse=True)
        self.n_topics = len(names)

    @cached_property
    def tallies(self) -> IntArray:
        """As `fleiss.counts`: items x levels.

        Their type is the smallest that holds one more than all raters, because most of the time goes into
        moving them. Convert it before you multiply counts with each other.
        """
        shape = len(self.positions), len(self.levels)
        tallies = np.zeros(shape, dtype=np.min_scalar_type(-len(self.rated) - 2))
        for column, items in enumerate(self.rated):
            tallies[items, self.positions[items, column]] += 1
        return tallies

    @cached_property
    def terms(self) -> FloatArray:
        """As `fleiss.item_terms`."""
        return fleiss.item_terms(self.tallies)

    @cached_property
    def topic_terms(self) -> FloatArray:
        """The sums of `terms` over each topic: topics x terms."""
        return topic_sums(self.terms, self.topic)

    @cached_property
    def rated(self) -> list[NDArray[np.intp]]:
        """The items that each rater rated."""
        return [np.flatnonzero(positions >= 0) for positions in self.positions.T]

    def common_items(self) -> IntArray:
        """Count the items that each pair of raters has in common: raters x raters."""
        n_rated = [len(items) for items in self.rated]
        if len(n_rated) <= _FEW_RATERS:
            dense = np.zeros((len(n_rated), len(n_rated)), dtype=np.int64)
            for first in range(0, len(self.positions), _ITEMS_AT_ONCE):
                block = self.positions[first : first + _ITEMS_AT_ONCE] >= 0
                floats = block.astype(np.float32)
                dense += (floats.T @ floats).astype(np.int64)
            return dense
        items = np.concatenate([np.zeros(0, np.intp), *self.rated])
        raters = np.repeat(np.arange(len(n_rated)), n_rated)
        shape = len(self.positions), len(n_rated)
        rated = scipy.sparse.csr_array((np.ones(len(items), np.int64), (items, raters)), shape)
        return np.asarray((rated.T @ rated).toarray())

    def by_topic(self, column: int) -> IntArray:
        """Return the counts of a rater's grades: topics x levels."""
        items, size = self.rated[column], len(self.levels)
        cells = self.topic[items] * size + self.positions[items, column]
        counts = np.bincount(cells, minlength=self.n_topics * size)
        return counts.reshape(self.n_topics, size).astype(np.int64)

    def pairs(self, a: int, columns: Iterable[int]) -> Iterator[PairCounts]:
        """Yield the counts of column `a` with each of some columns."""
        items, size = self.rated[a], len(self.levels)
        cells = (self.topic[items] * size + self.positions[items, a]) * size
        for column in columns:
            second = self.positions[items, column]
            both = second >= 0
            yield self._of_cells(cells[both] + second[both])

    def counts(
        self, items: NDArray[np.intp], first: NDArray[np.integer], second: NDArray[np.integer]
    ) -> PairCounts:
        """Return the counts of two sides by their positions, -1 = missing, at some of the items.

        The other items are missing.
        """
        both = (first >= 0) & (second >= 0)
        size = len(self.levels)
        return self._of_cells((self.topic[items[both]] * size + first[both]) * size + second[both])

    def _of_cells(self, cells: IntArray) -> PairCounts:
        """Return the counts of items by their cells in topics x levels x levels."""
        size = len(self.levels)
        counts = np.bincount(cells, minlength=self.n_topics * size * size)
        by_topic = counts.reshape(self.n_topics, size, size).astype(np.int64)
        return PairCounts(by_topic, self.levels, len(self.topic) - len(cells))


def _fleiss_sums(tables: ArrayLike) -> FloatArray:
    """Return the sums of `fleiss.item_terms` of two raters from tables of their levels."""
    cells = np.asarray(tables, dtype=np.float64)
    n = cells.sum(axis=(-2, -1))[..., np.newaxis]
    equal = np.trace(cells, axis1=-2, axis2=-1)[..., np.newaxis]
    shares = (cells.sum(axis=-1) + cells.sum(axis=-2)) / 2
    return np.concatenate([equal, n, n, shares], axis=-1)
