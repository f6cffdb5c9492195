"""A judge's grades made into people's by a monotone map, which is fitted on other topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.aggregation import nearest_level
from evaluation.stats.estimate import FloatArray, IntArray, complete_pairs

PAIRS = 10  # that a map is fitted on: fewer make steps of chance


def cross_fitted(
    judge: ArrayLike, people: ArrayLike, topics: IntArray, levels: Sequence[int]
) -> FloatArray:
    """Return a judge's grades calibrated to people's by isotonic regression on other topics.

    `judge` is one grade or expected grade per item, `people` the mean of people's grades, NaN = no
    rating, `topics` the topic of each. For each topic an isotonic regression of people's means on
    the judge's grades is fitted on all other topics (an item counts once, however many rated it),
    and applied; what is beyond those is read as the nearest of them. The result goes to the nearest
    level, half up. An item without the judge has none. Raises ValueError, saying why, with fewer
    than two topics that both rated, or fewer than PAIRS items to fit a map on.
    Source: Barlow et al. (1972), Statistical Inference under Order Restrictions; scikit-learn.
    """
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 - a second to load

    judge_grades, mean = np.asarray(judge, float), np.asarray(people, float)
    names = np.asarray(topics)
    complete_pairs(judge_grades, mean)
    if names.shape != judge_grades.shape:
        raise ValueError("topics name one topic for every item")
    both = ~(np.isnan(judge_grades) | np.isnan(mean))
    n_topics = len(np.unique(names[both]))
    if n_topics < 2:
        raise ValueError(
            "undefined, because a map is fitted on other topics, and people and the judge rated "
            f"the same pairs of {n_topics}"
        )
    level = np.full(len(judge_grades), np.nan)
    for topic in np.unique(names[~np.isnan(judge_grades)]):
        in_topic, fitted = (names == topic) & ~np.isnan(judge_grades), both & (names != topic)
        if (n := int(fitted.sum())) < PAIRS:
            raise ValueError(
                f"undefined, because of the topics beside one of them only {n} pairs were rated by "
                f"people and the judge: a map takes {PAIRS}"
            )
        curve = IsotonicRegression(out_of_bounds="clip").fit(judge_grades[fitted], mean[fitted])
        level[in_topic] = nearest_level(curve.predict(judge_grades[in_topic]), levels)
    return level
