"""Krippendorff's alpha for unitizing (alpha_u): agreement of highlighted spans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.estimate import Estimate, FloatArray, IntArray
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
    items = [[reading for reading in item if reading is not None] for item in readings]
    marked = {index: item for index, item in enumerate(items) if any(item)}
    return alpha_of_marked_items(marked, [len(item) for item in items], lengths, topics)


def alpha_of_marked_items(
    marked: Mapping[int, Sequence[Sequence[Span]]],
    n_readings: ArrayLike,
    lengths: ArrayLike,
    topics: ArrayLike,
) -> Estimate:
    """Return alpha_u where most items have no highlight, in a time that these hardly add to.

    `marked` has the readings of each item with a highlight, by its index; `n_readings` counts the
    readings of every item. As `unitised_alpha`.
    """
    sizes, names = np.asarray(lengths, dtype=np.int64), np.asarray(topics)
    n_read = np.asarray(n_readings, dtype=np.int64)
    if not len(n_read) == len(sizes) == len(names):
        raise ValueError("there is one length and one topic for each item")
    counted = n_read > 1
    missing = int((~counted).sum())
    if not counted.any():
        return Estimate(None, NO_TEXT, 0, missing)
    if not marked:
        return Estimate(None, NO_UNIT, int(counted.sum()), missing)
    counted_topics = np.unique(names[counted])
    parts = [_TopicSums() for _ in counted_topics]
    topic = np.searchsorted(counted_topics, names)
    is_unmarked = counted.copy()
    is_unmarked[list(marked)] = False
    for index, item in marked.items():
        if counted[index]:
            parts[topic[index]].add(item, int(sizes[index]))
    unmarked = np.flatnonzero(is_unmarked)
    unmarked = unmarked[np.argsort(topic[unmarked], kind="stable")]
    bounds = np.searchsorted(topic[unmarked], np.arange(1, len(parts)))
    for part, of_topic in zip(parts, np.split(unmarked, bounds), strict=True):
        part.add_unmarked(sizes[of_topic], n_read[of_topic])
    return _alpha(parts, int(counted.sum()), missing)


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

    def add_unmarked(self, lengths: IntArray, n_readings: IntArray) -> None:
        """Add items in which nobody marked anything: each reading is one gap."""
        self.characters += int(lengths @ n_readings)
        has_text = lengths > 0
        self.gaps += np.repeat(lengths[has_text], n_readings[has_text]).tolist()


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
