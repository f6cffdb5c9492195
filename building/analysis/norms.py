"""Lengths as Lucene keeps them: rounded down so that each fits one byte.

Exact below 40; above, three bits behind the highest one are kept. Source: Lucene 10, SmallFloat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_FREE = 24  # lengths below are bytes themselves


def rounded(lengths: ArrayLike) -> NDArray[np.int64]:
    """The lengths (terms of a text, 0 or more) that Lucene computes with."""
    exact = np.asarray(lengths, dtype=np.int64)
    above = np.maximum(exact - _FREE, 0)
    bits = np.zeros_like(above)
    bits[above > 0] = np.floor(np.log2(above[above > 0])).astype(np.int64) + 1
    shift = np.maximum(bits - 4, 0)
    return np.where(exact < _FREE, exact, _FREE + ((above >> shift) << shift))
