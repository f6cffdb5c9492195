"""Whether two raters highlighted the same part of one text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.agreement.estimate import Estimate

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Character intersection over union of two raters' spans, and whether they meet at all.

    `iou.n` counts the characters that either rater highlighted. `meet` is None if neither did.
    """

    iou: Estimate
    meet: bool | None


def span_overlap(a: Iterable[Span], b: Iterable[Span]) -> Overlap:
    """How far two raters' highlights in one text are the same characters.

    A span is (start, end) in code points, half-open, so that spans which only touch do not meet.
    One rater's spans may overlap each other: a character counts once. Both empty: undefined. One
    empty: 0, and they do not meet. Raises ValueError for a span that starts below 0 or is empty.
    Source: Jaccard (1912), New Phytologist 11(2), 37-50, on sets of characters.
    """
    first, second = _characters(a), _characters(b)
    either, both = len(first | second), len(first & second)
    if either == 0:
        reason = "undefined, because neither rater highlighted anything"
        return Overlap(Estimate(None, reason, 0), None)
    return Overlap(Estimate(both / either, None, either), both > 0)


def _characters(spans: Iterable[Span]) -> set[int]:
    characters: set[int] = set()
    for start, end in spans:
        if not 0 <= start < end:
            raise ValueError(f"a span has 0 <= start < end, not ({start}, {end})")
        characters.update(range(start, end))
    return characters
