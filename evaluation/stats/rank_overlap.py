"""Rank-biased overlap: how alike two rankings are, the top weighing most."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from evaluation.stats.estimate import Estimate


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
