"""Whether two raters highlighted the same part of one text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.stats.estimate import Estimate

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Character intersection over union and F1 of two raters' spans, and whether they meet at all.

    Both `n` count the characters that either rater highlighted. `meet` is None if neither did.
    """

    iou: Estimate
    f1: Estimate
    meet: bool | None


def span_overlap(a: Iterable[Span], b: Iterable[Span]) -> Overlap:
    """How far two raters' highlights in one text are the same characters.

    A span is (start, end) in code points, half-open, so that spans which only touch do not meet.
    One rater's spans may overlap each other: a character counts once. Both empty: undefined. One
    empty: 0, and they do not meet. F1 is the harmonic mean of what share of each rater's characters
    the other has: the same for either as the truth. Raises ValueError for a span that starts below
    0 or is empty.
    Source: Jaccard (1912), New Phytologist 11(2), 37-50, and Dice (1945), Ecology 26(3), 297-302,
    on sets of characters.
    """
    first, second = _characters(a), _characters(b)
    either, both = len(first | second), len(first & second)
    if either == 0:
        reason = "undefined, because neither rater highlighted anything"
        return Overlap(Estimate(None, reason, 0), Estimate(None, reason, 0), None)
    f1 = 2 * both / (len(first) + len(second))
    return Overlap(Estimate(both / either, None, either), Estimate(f1, None, either), both > 0)


def _characters(spans: Iterable[Span]) -> set[int]:
    characters: set[int] = set()
    for start, end in spans:
        if not 0 <= start < end:
            raise ValueError(f"a span has 0 <= start < end, not ({start}, {end})")
        characters.update(range(start, end))
    return characters
