"""The random numbers of the golden cases: SplitMix64, the same in every language."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.stats.estimate import IntArray

MASK = 2**64 - 1


def splitmix64(seed: int) -> Iterator[int]:
    """64-bit whole numbers from a 64-bit seed, without end.

    Source: Steele, Lea and Flood (2014), Fast Splittable Pseudorandom Number Generators, OOPSLA,
    453-472; the constants are those of java.util.SplittableRandom.
    """
    state = seed & MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def indices(seed: int, size: int, draws: tuple[int, int]) -> IntArray:
    """Rows of numbers from 0 to size - 1, drawn in the order of the rows.

    `draws` is rows x columns. The upper 53 bits of each number are a fraction of `size`.
    """
    numbers = splitmix64(seed)
    rows, columns = draws
    flat = [int((next(numbers) >> 11) * 2.0**-53 * size) for _ in range(rows * columns)]
    return np.array(flat, dtype=np.int64).reshape(rows, columns)
