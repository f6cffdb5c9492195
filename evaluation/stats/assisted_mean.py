"""A mean from a judge's values of all texts and people's values of those that were drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.estimate import Estimate, FloatArray, IntArray

SURE = 1 - 1e-9  # a probability from here on is one


def assisted_mean(
    judge: ArrayLike,
    human: ArrayLike,
    chances: ArrayLike,
    topics: ArrayLike,
    level: float = 0.95,
    *,
    inside: ArrayLike | None = None,
) -> Estimate:
    """Return the design-based mean of human values over topics, with the judge as covariate.

    People's values come from a sample of fixed size with known probabilities.

    One entry per text: the judge's value, the people's value (NaN = nobody labelled it), the
    probability with which it was drawn (1 where people labelled it without a sample, NaN where it
    could not be drawn and nobody did), and its topic. `inside` marks the texts whose mean is asked
    for, by default all; the others are of the same sample, which its variance needs.

    Each text counts with judge + (human - judge)/probability if it is labelled, else with the
    judge's value; a topic counts with the mean of its texts. Unbiased whatever the judge's errors,
    for the texts with a judge's value and a probability; the others are left out and counted in
    `missing`. `n` = labelled texts.

    The interval is value +- t sqrt(D + S): D the sampling variance (`sampling_variance`), S that of
    the topics, which are a sample of more, as everywhere. Both rest on the same labels and so err
    together: 1/sqrt(df) is the mean of that of D (drawn texts - 1) and that of S (topics with a
    label - 1), weighted by D and S. Where every text is labelled for sure this is t over topics.
    There is none, and `interval_reason` says so, with fewer than two topics or topics with a label,
    or if fewer than two texts were drawn where chance decided. Undefined without a labelled text.
    Raises ValueError for unequal lengths or a labelled text whose probability is not above 0 and at
    most 1.
    Source: Horvitz and Thompson (1952), JASA 47, 663-685; Zrnic and Candes (2024), ICML, Active
    statistical inference; D + S: Korn and Graubard (1998), Statistica Sinica 8, 1131-1151.
    """
    texts, missing = _texts(judge, human, chances, topics, inside)
    n = int((texts.labelled & texts.inside).sum())
    if not n:
        return Estimate(None, "undefined, because no drawn text is labelled", 0, missing)
    value = float(texts.weights @ texts.judge + texts.pulls.sum())
    interval_reason = _why_no_interval(texts)
    if interval_reason:
        return Estimate(
            value, None, n, missing, interval_reason=f"no interval, because {interval_reason}"
        )
    parts = [(_topic_variance(texts), len(_labelled_topics(texts)) - 1)]
    if texts.by_chance.any():
        sampled = texts.labelled & ~texts.sure
        parts.append(
            (sampling_variance(texts.pulls[sampled], texts.chances[sampled]), sampled.sum() - 1)
        )
    reach = _reach(parts, level)
    return Estimate(value, None, n, missing, value - reach, value + reach)


def sampling_variance(pulls: ArrayLike, chances: ArrayLike) -> float:
    """The variance that a sample of fixed size gives to a sum over the texts that it drew.

    `pulls` are their parts of the sum, each divided by its probability already, and `chances` these
    probabilities, below 1. With q = 1 - chance, a = q / sum(q) and m = sum(a pull):
    sum(q (pull - m)^2) / (1 - sum(a^2)), for equal chances n/N the textbook's n (1 - n/N) s^2. Made
    for designs that are as random as their size allows, as samples along a random order nearly are.
    Raises ValueError for fewer than two texts, whose spread nobody knows.
    Source: Deville (1993), Estimation de la variance pour les enquêtes en deux phases, INSEE; held
    against others by Matei and Tillé (2005), Journal of Official Statistics 21(4), 543-570.
    """
    parts = np.asarray(pulls, dtype=np.float64)
    complements = 1 - np.asarray(chances, dtype=np.float64)
    if len(parts) < 2:
        raise ValueError("a sampling variance needs two texts")
    share = complements / complements.sum()
    return float(complements @ (parts - share @ parts) ** 2 / (1 - share @ share))


@dataclass(frozen=True, slots=True)
class _Texts:
    """Columns of the texts that have all values that the mean needs.

    `topic` is -1 outside, and `weights` are 0 there; inside, 1/(topics x texts of the topic).
    `pulls`: what each label adds to the judge's mean.
    """

    judge: FloatArray
    gap: FloatArray
    chances: FloatArray
    labelled: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    topic: IntArray
    n_topics: int
    weights: FloatArray

    @property
    def sure(self) -> NDArray[np.bool_]:
        return self.chances > SURE

    @property
    def by_chance(self) -> NDArray[np.bool_]:
        return self.inside & ~self.sure

    @property
    def pulls(self) -> FloatArray:
        return self.weights * self.gap / self.chances


def _texts(
    judge: ArrayLike,
    human: ArrayLike,
    chances: ArrayLike,
    topics: ArrayLike,
    inside: ArrayLike | None,
) -> tuple[_Texts, int]:
    """The texts that count, and how many inside do not."""
    guess, labels, probabilities = (
        np.asarray(side, dtype=np.float64) for side in (judge, human, chances)
    )
    names = np.asarray(topics)
    is_inside = (
        np.ones(names.shape, dtype=bool) if inside is None else np.asarray(inside, dtype=bool)
    )
    shapes = {side.shape for side in (guess, labels, probabilities, names, is_inside)}
    if len(shapes) > 1 or guess.ndim != 1:
        raise ValueError("judge, human, chances and topics have one entry for every text")
    usable = ~np.isnan(guess)
    labelled = usable & ~np.isnan(labels)
    if not ((probabilities[labelled] > 0) & (probabilities[labelled] <= 1)).all():
        raise ValueError("a labelled text was drawn with a probability above 0 and at most 1")
    usable &= ~np.isnan(probabilities)
    gap = np.where(labelled, labels - guess, 0.0)[usable]
    counted = is_inside[usable]
    topic_names, index, size = np.unique(
        names[usable & is_inside], return_inverse=True, return_counts=True
    )
    topic, weights = np.full(len(gap), -1), np.zeros(len(gap))
    topic[counted], weights[counted] = index, 1 / (len(topic_names) * size[index])
    texts = _Texts(
        guess[usable],
        gap,
        probabilities[usable],
        labelled[usable],
        counted,
        topic,
        len(topic_names),
        weights,
    )
    return texts, int((is_inside & ~usable).sum())


def _labelled_topics(texts: _Texts) -> IntArray:
    return np.unique(texts.topic[texts.labelled & texts.inside])


def _why_no_interval(texts: _Texts) -> str:
    if texts.n_topics < 2:
        return "there are fewer than two topics"
    if len(_labelled_topics(texts)) < 2:
        return "fewer than two topics have a label"
    if texts.by_chance.any() and (texts.by_chance & texts.labelled).sum() < 2:
        return "fewer than two texts were drawn"
    return ""


def _topic_variance(texts: _Texts) -> float:
    """The variance of the topics' means over how many they are.

    A topic's mean is the judge's, which is known, and the mean of people's gaps. The sum of the gaps
    that were drawn in a topic, each over its probability, estimates the latter; its square is too
    large by what chance adds to it, which is subtracted.
    """
    size, labelled = texts.n_topics, texts.labelled & texts.inside
    topic, chances = texts.topic[labelled], texts.chances[labelled]
    share = texts.weights[labelled] / chances
    share /= share.sum()
    off = texts.weights[labelled] * (texts.gap[labelled] - share @ texts.gap[labelled]) / chances
    judge = size * np.bincount(
        texts.topic[texts.inside], (texts.weights * texts.judge)[texts.inside], size
    )
    gaps = size * np.bincount(topic, off, size)
    by_chance = size * ((1 - chances) @ off**2)
    spread = 2 * ((judge - judge.mean()) * gaps).mean() + (gaps**2).mean() - by_chance
    few = 1 - (np.bincount(topic, share, size) ** 2).sum()
    return max(float(judge.var(ddof=1) + spread / few), 0.0) / size


def _reach(parts: list[tuple[float, int]], level: float) -> float:
    """Half the interval, from variances and their degrees of freedom."""
    variance = sum(part for part, _ in parts)
    if not variance:
        return 0.0
    root = sum(part / np.sqrt(df) for part, df in parts) / variance
    return float(scipy.stats.t.ppf((1 + level) / 2, root**-2) * np.sqrt(variance))


def topic_means(values: ArrayLike, topics: ArrayLike) -> FloatArray:
    """The mean of the values of each topic, in the topics' sorted order. No NaN among them."""
    _, index = np.unique(np.asarray(topics), return_inverse=True)
    return np.asarray(np.bincount(index, weights=np.asarray(values)) / np.bincount(index))


def forecast_error(values: ArrayLike, gaps: ArrayLike, chances: ArrayLike) -> float:
    """Return the expected standard error of the mean after a sample has been labelled.

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
