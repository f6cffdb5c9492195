"""Length bias of a judge: grades above those of people per doubling of the length."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evaluation.stats.clusters import ONE_TOPIC, topic_sums
from evaluation.stats.estimate import Estimate, FloatArray, IntArray

ONE_LENGTH = "undefined, because the texts of each topic have one length"


def length_bias(
    judge: ArrayLike, people: ArrayLike, lengths: ArrayLike, topics: IntArray, level: float = 0.95
) -> Estimate:
    """Return the slope of judge - people on log2(length) within topics: grades per doubling.

    One value per text: the judge's grade, the mean grade of people (NaN = missing), the length above 0
    in any unit, and the topic. The judge's slope alone would be no bias, since people like longer
    texts, too. Texts without both grades are counted in `missing`. Interval: errors by topic (CR1),
    t with G - 1 degrees of freedom, for G topics with texts of different lengths. Undefined without such a
    topic. Raises ValueError for a length that is not above 0, or unequal numbers of values.
    Source: Cameron and Miller (2015), Journal of Human Resources 50(2), 317-372.
    """
    difference = np.asarray(judge, np.float64) - np.asarray(people, np.float64)
    sizes, clusters = np.asarray(lengths, np.float64), np.asarray(topics)
    if not difference.shape == sizes.shape == clusters.shape:
        raise ValueError("judge, people, lengths and topics have one value for each text")
    if not (sizes > 0).all():
        raise ValueError("a length is above 0")
    graded = ~np.isnan(difference)
    n, missing = int(graded.sum()), int((~graded).sum())
    doublings = _within(np.log2(sizes[graded]), clusters[graded])
    excess = _within(difference[graded], clusters[graded])
    spread = float((doublings**2).sum())
    if spread <= 1e-12:
        return Estimate(None, ONE_LENGTH, n, missing)
    slope = float((doublings * excess).sum() / spread)
    residuals = excess - slope * doublings
    terms = np.column_stack([doublings * residuals, doublings**2])
    sums, spreads = topic_sums(terms, clusters[graded]).T
    n_topics = int((spreads > 1e-12).sum())  # a topic with one length says nothing of the slope
    if n_topics < 2:
        return Estimate(slope, None, n, missing, interval_reason=ONE_TOPIC)
    error = float(np.sqrt(n_topics / (n_topics - 1) * (sums**2).sum()) / spread)
    reach = error * float(scipy.stats.t.ppf((1 + level) / 2, n_topics - 1))
    return Estimate(slope, None, n, missing, slope - reach, slope + reach)


def _within(values: FloatArray, topics: IntArray) -> FloatArray:
    """Return values less the mean of their topic."""
    _, index = np.unique(topics, return_inverse=True)
    sums = topic_sums(np.column_stack([values, np.ones(len(values))]), topics)
    means = sums[:, 0] / np.maximum(sums[:, 1], 1)
    return np.asarray(values - means[index])
