"""Label aggregation across raters: majority, median, mean, Dawid-Skene and MACE."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.estimate import FloatArray, level_index
from evaluation.stats.majority import majority_of

Method = Literal["majority", "median", "mean-expected", "dawid-skene", "mace"]
METHODS: tuple[Method, ...] = ("majority", "median", "mean-expected", "dawid-skene", "mace")
ORDERED = ("median", "mean-expected")  # what takes levels with an order
LIBRARY = ("dawid-skene", "mace")  # what takes crowd-kit
ITERATIONS = 1000  # of Dawid and Skene's: it ends earlier, where nothing changes any more


def aggregate(
    ratings: ArrayLike, levels: Sequence[int], method: Method, *, seed: int = 0
) -> FloatArray:
    """The level that each item is given, NaN where there is none.

    `ratings` is items x raters, NaN = missing. An item with fewer than two ratings has none, under
    each method: it would repeat its one rater. "majority" is the strict one, and a tie has none.
    "median" and "mean-expected" go to the nearest level, half up: an even number of ratings has the
    mean of the middle two. "mean-expected" alone takes ratings between levels, as judges expect them.
    "dawid-skene" weighs each rater by the mistakes that the others show it to make, level by level;
    "mace" by how often it seems to guess, from a start that `seed` draws. Both take levels as
    categories without an order, and always give one: with few items or two raters it is little more
    than a guess. All ratings alike: that level. Raises ValueError for a rating that is no level (or
    beyond them) or another method, and ModuleNotFoundError where crowd-kit is not installed.
    Source: Dawid and Skene (1979), Applied Statistics 28(1), 20-28; Hovy et al. (2013), NAACL,
    1120-1130; crowd-kit.
    """
    if method not in METHODS:
        raise ValueError(f"a method is one of {', '.join(METHODS)}, not {method!r}")
    values = np.asarray(ratings, dtype=np.float64)
    rated = ~np.isnan(values)
    if method == "mean-expected":
        grades = values[rated]
        if len(grades) and not min(levels) <= grades.min() <= grades.max() <= max(levels):
            raise ValueError(f"expected grades lie between {min(levels)} and {max(levels)}")
    else:
        level_index(values, levels)
    if method == "majority":
        return majority_of(values, levels)
    aggregated = np.full(len(values), np.nan)
    if method in ORDERED:
        rated_twice = rated.sum(axis=1) >= 2
        middle = np.nanmedian if method == "median" else np.nanmean
        aggregated[rated_twice] = nearest_level(middle(values[rated_twice], axis=1), levels)
        return aggregated
    item, rater = np.nonzero(rated & (rated.sum(axis=1) >= 2)[:, np.newaxis])
    if not len(item):
        return aggregated
    grades = values[item, rater]
    if np.ptp(grades) == 0:
        aggregated[np.unique(item)] = grades[0]
        return aggregated
    return _by_crowd_kit(aggregated, (item, rater, grades), method, seed)


def nearest_level(values: ArrayLike, levels: Sequence[int]) -> FloatArray:
    """The level nearest to each value, the upper one where two are as near. `levels` ascend."""
    scale = np.asarray(levels, dtype=np.float64)
    # Means of grades miss a half by the last bits of a float.
    exact = np.round(np.asarray(values, dtype=np.float64), 9)
    return scale[np.searchsorted((scale[:-1] + scale[1:]) / 2, exact, side="right")]


def _by_crowd_kit(
    aggregated: FloatArray,
    ratings: tuple[ArrayLike, ArrayLike, FloatArray],
    method: Method,
    seed: int,
) -> FloatArray:
    # An extra: only the command that makes aggregates needs it.
    import pandas as pd  # noqa: PLC0415
    from crowdkit.aggregation import MACE, DawidSkene  # noqa: PLC0415

    item, rater, grades = ratings
    data = pd.DataFrame({"task": item, "worker": rater, "label": grades.astype(np.int64)})
    # It draws the same start from the same seed again, so more than one of its restarts changes nothing.
    mace = MACE(n_restarts=1, random_state=seed)
    model = DawidSkene(ITERATIONS) if method == "dawid-skene" else mace
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pandas warns of what it calls there
        labels = model.fit_predict(data)
    aggregated[labels.index.to_numpy(np.int64)] = labels.to_numpy(np.float64)
    return aggregated
