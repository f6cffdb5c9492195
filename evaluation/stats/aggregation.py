"""One grade of an item from those of several raters: majority, median, mean, Dawid and Skene's model, MACE."""

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
        given = values[rated]
        if len(given) and not min(levels) <= given.min() <= given.max() <= max(levels):
            raise ValueError(f"expected grades lie between {min(levels)} and {max(levels)}")
    else:
        level_index(values, levels)
    if method == "majority":
        return majority_of(values, levels)
    found = np.full(len(values), np.nan)
    if method in ORDERED:
        several = rated.sum(axis=1) >= 2
        middle = np.nanmedian if method == "median" else np.nanmean
        found[several] = nearest_level(middle(values[several], axis=1), levels)
        return found
    item, rater = np.nonzero(rated & (rated.sum(axis=1) >= 2)[:, np.newaxis])
    if not len(item):
        return found
    given = values[item, rater]
    if np.ptp(given) == 0:
        found[np.unique(item)] = given[0]
        return found
    return _by_crowd_kit(found, (item, rater, given), method, seed)


def nearest_level(values: ArrayLike, levels: Sequence[int]) -> FloatArray:
    """The level nearest to each value, the upper one where two are as near. `levels` ascend."""
    scale = np.asarray(levels, dtype=np.float64)
    # Means of grades miss a half by the last bits of a float.
    exact = np.round(np.asarray(values, dtype=np.float64), 9)
    return scale[np.searchsorted((scale[:-1] + scale[1:]) / 2, exact, side="right")]


def _by_crowd_kit(
    found: FloatArray, told: tuple[ArrayLike, ArrayLike, FloatArray], method: Method, seed: int
) -> FloatArray:
    # An extra: only the command that makes aggregates needs it.
    import pandas as pd  # noqa: PLC0415
    from crowdkit.aggregation import MACE, DawidSkene  # noqa: PLC0415

    item, rater, given = told
    data = pd.DataFrame({"task": item, "worker": rater, "label": given.astype(np.int64)})
    # It draws the same start from the same seed again, so more than one of its restarts changes nothing.
    mace = MACE(n_restarts=1, random_state=seed)
    model = DawidSkene(ITERATIONS) if method == "dawid-skene" else mace
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pandas warns of what it calls there
        labels = model.fit_predict(data)
    found[labels.index.to_numpy(np.int64)] = labels.to_numpy(np.float64)
    return found
