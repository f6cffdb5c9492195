"""Overlap of two raters' highlighted spans, and of two rankings (rank-biased overlap)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from evaluation.stats.estimate import Estimate

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Character IoU and F1 of two raters' spans, and if they overlap at all.

    Both `n` count the characters that either rater highlighted. `meet` is None if neither did.
    """

    iou: Estimate
    f1: Estimate
    meet: bool | None


def span_overlap(a: Iterable[Span], b: Iterable[Span]) -> Overlap:
    """Return the character overlap of two raters' highlights in one text.

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


def rbo_ext(a: Sequence[Hashable], b: Sequence[Hashable], p: float) -> Estimate:
    """Rank-biased overlap of two rankings, extrapolated from their common depth: 0 to 1.

    `a` and `b` name items from the first rank down, without ties; their lengths and items may
    differ. `p` is how likely a reader is to go on to the next rank: the expected depth is
    1 / (1 - p). Beyond what is seen the lists are taken to agree as much as there. `n` = ranks of
    the longer list. Undefined if a ranking is empty. Raises ValueError if `p` is not between 0 and
    1 or a ranking names an item twice.
    Source: Webber, Moffat and Zobel (2010), ACM Transactions on Information Systems 28(4), 20,
    equation 32.
    """
    if not 0 < p < 1:
        raise ValueError(f"p is between 0 and 1, not {p}")
    for ranking in (a, b):
        if len(set(ranking)) != len(ranking):
            raise ValueError("a ranking names each item once")
    short, long = sorted((a, b), key=len)
    s, depth = len(short), len(long)
    if not s:
        return Estimate(None, "undefined, because a ranking is empty", depth)
    seen_short: set[Hashable] = set()
    seen_long: set[Hashable] = set()
    common = common_at_s = 0
    total = 0.0
    for d, item in enumerate(long, start=1):
        seen_long.add(item)
        common += item in seen_short
        if d <= s:
            seen_short.add(short[d - 1])
            common += short[d - 1] in seen_long
            common_at_s = common
        # Below the short list's end its agreement at the end is carried on.
        total += (common + common_at_s * max(d - s, 0) / s) / d * p**d
    tail = (common - common_at_s) / depth + common_at_s / s
    return Estimate((1 - p) / p * total + tail * p**depth, None, depth)
