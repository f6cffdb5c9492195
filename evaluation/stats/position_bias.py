"""Position bias of a judge of pairs: verdicts in both orders of the same two texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.stats.estimate import Estimate

Verdict = Literal["first", "second", "tie"]
NO_PAIR = "undefined, because no pair was judged in both orders"
CONSISTENT = (("first", "second"), ("second", "first"), ("tie", "tie"))


@dataclass(frozen=True, slots=True)
class PositionBias(Estimate):
    """Share of pairs with one verdict in both orders, with Wilson's interval.

    `n_first` and `n_second` count pairs with the same place both times, `n_half` those with a tie in one
    order. `prefers_first` is the share of the first place among the former; p is binomial, against 1/2.
    """

    n_first: int = 0
    n_second: int = 0
    n_half: int = 0
    prefers_first: float | None = None
    p: float | None = None


def position_bias(verdicts: Sequence[tuple[Verdict, Verdict]]) -> PositionBias:
    """Return how consistent verdicts by place are when the order of the texts is swapped.

    Undefined without a pair. Source: Wilson (1927), Journal of the American Statistical Association
    22(158), 209-212.
    """
    from scipy.stats import binomtest  # noqa: PLC0415 - a second to load

    n = len(verdicts)
    if not n:
        return PositionBias(None, NO_PAIR, 0)
    counts = Counter(verdicts)
    n_consistent = sum(count for verdict, count in counts.items() if verdict in CONSISTENT)
    n_first, n_second = counts["first", "first"], counts["second", "second"]
    n_same = n_first + n_second
    ends = binomtest(n_consistent, n).proportion_ci(method="wilson")
    return PositionBias(
        *(n_consistent / n, None, n, 0, float(ends.low), float(ends.high)),
        n_first=n_first,
        n_second=n_second,
        n_half=n - n_consistent - n_same,
        prefers_first=n_first / n_same if n_same else None,
        p=float(binomtest(n_first, n_same).pvalue) if n_same else None,
    )
