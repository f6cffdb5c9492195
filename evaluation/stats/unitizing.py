"""Krippendorff's alpha for unitizing (alpha_u): agreement of highlighted spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.estimate import Estimate, FloatArray
from evaluation.stats.jackknife import jackknife_interval

Span = tuple[int, int]
Reading = Sequence[Span] | None

NO_TEXT = "undefined, because no text was read for highlights by two raters"
NO_UNIT = "undefined, because nobody highlighted anything"


def unitised_alpha(
    readings: Sequence[Sequence[Reading]], lengths: ArrayLike, topics: ArrayLike
) -> Estimate:
    """Return alpha_u of the highlights of all raters, one category: 1 - observed / expected.

    `readings` has for each item one reading a rater: spans (start, end) in characters, half-open,
    which are its units (an empty list: nothing highlighted, the whole text is a gap); None where
    the rater did not read the item. `lengths` is the characters of each item's text, `topics` its
    topic. Spans of one rater that overlap are one unit; those that touch are two.

    Two units of two raters that overlap disagree by the squares of how far their starts and their
    ends are apart; a unit within another rater's gap disagrees by the square of its length.
    Expected is what the same units and gaps would do at any places. The items are laid end to end,
    and no unit or gap reaches from one into the next. An item with m readings counts its pairs by
    1 / (m - 1), so that each reading counts alike. `n` = items with two readings or more, `missing`
    = the others. Interval: jackknife over topics. Undefined without such an item, without a unit,
    or if units fill every text. Raises ValueError for a span beyond its text or empty, and lists of
    unequal lengths.
    Source: Krippendorff (1995), Sociological Methodology 25, 47-76; Krippendorff (2004), Content
    Analysis, 2nd edition, section 11.6.
    """
    sizes, names = np.asarray(lengths, dtype=np.int64), np.asarray(topics)
    if not len(readings) == len(sizes) == len(names):
        raise ValueError("there is one length and one topic for each item")
    items = [[reading for reading in item if reading is not None] for item in readings]
    counted = [index for index, item in enumerate(items) if len(item) > 1]
    missing = len(items) - len(counted)
    if not counted:
        return Estimate(None, NO_TEXT, 0, missing)
    topic_names, topic = np.unique(names[counted], return_inverse=True)
    parts = [_TopicSums() for _ in topic_names]
    for index, of in zip(counted, topic.tolist(), strict=True):
        parts[of].add(items[index], int(sizes[index]))
    return _alpha(parts, len(counted), missing)


class _TopicSums:
    """Sums of both disagreements over the items of one topic."""

    def __init__(self) -> None:
        self.observed = 0.0
        self.characters = 0  # read, once for each reading
        self.units: list[int] = []
        self.gaps: list[int] = []

    def add(self, readings: Sequence[Sequence[Span]], length: int) -> None:
        cut = [_sections(reading, length) for reading in readings]
        self.characters += length * len(cut)
        for units, gaps in cut:
            self.units += (end - start for start, end in units)
            self.gaps += (end - start for start, end in gaps)
        squares = sum(
            _disagreement(cut[a], cut[b]) for a in range(len(cut)) for b in range(len(cut)) if a < b
        )
        self.observed += 2 * squares / (len(cut) - 1)


Sections = tuple[list[Span], list[Span]]


def _sections(spans: Iterable[Span], length: int) -> Sections:
    """The units of a reading and the gaps between them."""
    units: list[Span] = []
    for start, end in sorted(spans):
        if not 0 <= start < end <= length:
            raise ValueError(f"a span lies in its text of {length}, not at {start} to {end}")
        if units and start < units[-1][1]:
            units[-1] = (units[-1][0], max(end, units[-1][1]))
        else:
            units.append((start, end))
    edges = [0, *(edge for unit in units for edge in unit), length]
    gaps = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]
    return units, gaps


def _disagreement(first: Sections, second: Sections) -> int:
    """Of two readings: every pair of sections once."""
    total = 0
    for start, end in first[0]:
        for begin, last in second[0]:
            if start < last and begin < end:
                total += (start - begin) ** 2 + (end - last) ** 2
    for units, gaps in ((first[0], second[1]), (second[0], first[1])):
        for start, end in units:
            if any(a <= start and end <= b for a, b in gaps):
                total += (end - start) ** 2
    return total


def _alpha(parts: Sequence[_TopicSums], n: int, missing: int) -> Estimate:
    units = [np.array(part.units, dtype=np.float64) for part in parts]
    gaps = [np.sort(np.array(part.gaps, dtype=np.float64)) for part in parts]
    all_units, all_gaps = np.concatenate(units), np.sort(np.concatenate(gaps))
    if not len(all_units):
        return Estimate(None, NO_UNIT, n, missing)
    # Topic by topic, and as a last row none, what is taken away from the whole.
    zero = np.zeros(0)
    away = [*zip(units, gaps, strict=True), (zero, zero)]
    counts = np.array(
        [[len(u), _intersection_squares(u), (u * (u - 1)).sum()] for u, _ in away], dtype=np.float64
    )
    both = _gap_squares(all_units, all_gaps)
    crossed = np.array(
        [
            both - _gap_squares(u, all_gaps) - _gap_squares(all_units, g) + _gap_squares(u, g)
            for u, g in away
        ]
    )
    read = np.array([*(part.characters for part in parts), 0], dtype=np.float64)
    observed = np.array([*(part.observed for part in parts), 0.0])
    n_units, moved, inner = (counts.sum(axis=0) - counts).T
    read, observed = read.sum() - read, observed.sum() - observed
    chance = 2 * ((n_units - 1) / 3 * moved + crossed)
    values = _ratio(observed, read, chance, read * (read - 1) - inner)
    if np.isnan(values[-1]):
        reason = "undefined, because the highlights leave nothing to differ in"
        return Estimate(None, reason, n, missing)
    whole = Estimate(float(values[-1]), None, n, missing)
    return jackknife_interval(whole, values[:-1]).within(-np.inf, 1)


def _intersection_squares(units: FloatArray) -> float:
    """Return the squared disagreements of two units of these lengths over all overlaps."""
    return float((2 * units**3 - 3 * units**2 + units).sum())


def _gap_squares(units: FloatArray, gaps: FloatArray) -> float:
    """Return the squared lengths of units, summed over all positions in the ascending gaps."""
    first = np.searchsorted(gaps, units)
    tail_sums = np.concatenate([gaps[::-1].cumsum()[::-1], [0.0]])
    return float((units**2 * (tail_sums[first] - (len(gaps) - first) * (units - 1))).sum())


def _ratio(
    observed: FloatArray, read: FloatArray, chance: FloatArray, pairs: FloatArray
) -> FloatArray:
    alpha = np.full(len(observed), np.nan)
    defined: NDArray[np.bool_] = (read > 0) & (pairs > 0) & (chance > 0)
    alpha[defined] = 1 - observed[defined] / read[defined] / (chance[defined] / pairs[defined])
    return alpha
