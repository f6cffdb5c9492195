"""Lucene's length norms: text lengths rounded down so that each fits one byte.

Exact below 40; above, three bits behind the highest one are kept. Source: Lucene 10, SmallFloat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_FREE = 24  # lengths below are bytes themselves


def _decode(byte: int) -> int:
    """Decode a norm byte to a length (SmallFloat: four mantissa bits and a shift)."""
    above = byte - _FREE
    shift = above // 8 - 1
    return byte if above < 8 else _FREE + ((above % 8 + 8) << shift)


LENGTHS: NDArray[np.int64] = np.array([_decode(byte) for byte in range(256)])


def bytes_of(lengths: ArrayLike) -> NDArray[np.uint8]:
    """Encode lengths (terms of a text, 0 or more) as norm bytes, rounded down."""
    return (np.searchsorted(LENGTHS, lengths, side="right") - 1).astype(np.uint8)


def rounded(lengths: ArrayLike) -> NDArray[np.int64]:
    """Round lengths down to the values that Lucene computes with."""
    return LENGTHS[bytes_of(lengths)]
