"""A mean from a judge's values of all texts and people's values of those that were drawn."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evaluation.agreement.estimate import Estimate, FloatArray


def assisted_mean(
    judge: ArrayLike, human: ArrayLike, chances: ArrayLike, topics: ArrayLike, level: float = 0.95
) -> Estimate:
    """The mean over topics of people's values, from a draw with known probabilities.

    One entry per text: the judge's value, the people's value (NaN = nobody labelled it), the
    probability with which it was drawn (1 where people labelled it without a draw), and its topic.
    Each text counts with judge + (human - judge)/probability if it is labelled, else with the judge's
    value; a topic counts with the mean of its texts; the interval is t over topics. Unbiased whatever
    the judge's errors. `n` = labelled texts, `missing` = texts left out because the judge has no
    value. Undefined without a labelled text. Raises ValueError for unequal lengths or a labelled text
    whose probability is not above 0 and at most 1.
    Source: Horvitz and Thompson (1952), JASA 47, 663-685; Zrnic and Candes (2024), ICML, Active
    statistical inference, with topics in place of single points.
    """
    guess, said, drawn = (np.asarray(side, dtype=np.float64) for side in (judge, human, chances))
    names = np.asarray(topics)
    if not guess.shape == said.shape == drawn.shape == names.shape or guess.ndim != 1:
        raise ValueError("judge, human, chances and topics have one entry for every text")
    known = ~np.isnan(guess)
    guess, said, drawn, names = guess[known], said[known], drawn[known], names[known]
    missing, labelled = int((~known).sum()), ~np.isnan(said)
    if not ((drawn[labelled] > 0) & (drawn[labelled] <= 1)).all():
        raise ValueError("a labelled text was drawn with a probability above 0 and at most 1")
    n = int(labelled.sum())
    if not n:
        return Estimate(None, "undefined, because no drawn text is labelled", 0, missing)
    values = guess.copy()
    values[labelled] += (said[labelled] - guess[labelled]) / drawn[labelled]
    means = topic_means(values, names)
    value, size = float(means.mean()), len(means)
    if size < 2:
        why = "no interval, because there are fewer than two topics"
        return Estimate(value, None, n, missing, interval_reason=why)
    error = float(means.std(ddof=1)) / np.sqrt(size)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, size - 1)) * error
    return Estimate(value, None, n, missing, value - reach, value + reach)


def topic_means(values: ArrayLike, topics: ArrayLike) -> FloatArray:
    """The mean of the values of each topic, in the topics' sorted order. No NaN among them."""
    _, at = np.unique(np.asarray(topics), return_inverse=True)
    return np.asarray(np.bincount(at, weights=np.asarray(values)) / np.bincount(at))


def forecast_error(values: ArrayLike, gaps: ArrayLike, chances: ArrayLike) -> float:
    """The standard error that the mean is expected to have once a draw with these chances is labelled.

    `values` are the judge's values of all texts, `gaps` the expected gaps (0 for a text that people
    have labelled already, whose chance is 1). The two parts are the spread of the texts themselves,
    which no label takes away, and sum((1/chance - 1) gap^2)/N^2, which labels do. Each text is taken
    to be a topic of its own.
    """
    means, off = np.asarray(values, dtype=np.float64), np.asarray(gaps, dtype=np.float64)
    share = np.asarray(chances, dtype=np.float64)
    size = len(means)
    spread = float(means.var(ddof=1)) / size if size > 1 else 0.0
    return float(np.sqrt(spread + ((1 / share - 1) * off**2).sum() / size**2))
