"""Term counting: a sparse (texts, terms) matrix, built text by text.

Most of what stands between two spaces was there before. So texts are cut at spaces, each different piece is
analysed once, and (texts, pieces) times (pieces, terms) is (texts, terms).
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from building.analysis.lucene_en import terms

MOST_OFTEN = 65_535  # how often a term is counted in one text
BLOCK = 2_000_000  # pieces of texts that are counted at once
PIECES = 2_000_000  # different pieces of which the terms are kept
# A point or comma before a space belongs to no word; without them fewer pieces differ.
PARTINGS = (", ", ". ", "\n")

Number = TypeVar("Number", bound=np.generic)


class Counts:
    """Term counts, lengths and keys of texts that are added one by one.

    Texts without a term are counted in `n_empty`, and left out.
    """

    def __init__(self) -> None:
        self.n_empty = 0
        self._number_of: dict[str, int] = {}  # of each term, from 0 as terms are met
        self._pieces = _Pieces(self._number_of)
        self._begin_block()
        self._keys, self._lengths, self._numbers, self._often, self._different = (
            *([np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]),
            *([np.empty(0, np.uint16)], [np.zeros(1, np.int64)]),
        )

    def _begin_block(self) -> None:
        self._block, self._ends, self._block_keys = array("i"), array("i", [0]), array("q")

    def add(self, key: int, text: str) -> None:
        self._block.extend(self._pieces.of_text(text))
        self._ends.append(len(self._block))
        self._block_keys.append(key)
        if len(self._block) >= BLOCK:
            self._count_block()

    def _count_block(self) -> None:
        terms_of = self._pieces.terms()
        counts = _matrix(self._block, self._ends, len(self._pieces)) @ terms_of
        lengths = counts.sum(axis=1, dtype=np.int32)
        self._keys.append(np.array(self._block_keys)[lengths > 0])
        self._lengths.append(lengths[lengths > 0])
        self._numbers.append(counts.indices)
        self._often.append(np.minimum(counts.data, MOST_OFTEN).astype(np.uint16))
        self._different.append(np.diff(counts.indptr)[lengths > 0])
        self.n_empty += int(np.count_nonzero(lengths == 0))
        self._begin_block()
        if len(self._pieces) >= PIECES:
            self._pieces = _Pieces(self._number_of)

    def finish(self) -> None:
        """Count the last block and free what only counting needs."""
        if self._block_keys:
            self._count_block()
        self._pieces = _Pieces(self._number_of)

    @property
    def keys(self) -> NDArray[np.int64]:
        return np.concatenate(self._keys)

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Return the exact number of terms of each text."""
        return np.concatenate(self._lengths)

    def by_term(self) -> tuple[list[str], scipy.sparse.csc_array]:
        """Return the sorted terms and the (texts, terms) counts, at most 65,535 each.

        Rows ascend in each column.

        Once: what was counted is given away, so that memory holds it twice and not three times.
        """
        # By code points, which is also the order of their bytes.
        sorted_terms = sorted(self._number_of)
        n_terms = len(sorted_terms)
        position = np.empty(n_terms, dtype=np.int32)
        position[[self._number_of[term] for term in sorted_terms]] = np.arange(
            n_terms, dtype=np.int32
        )
        numbers, often = _joined(self._numbers), _joined(self._often)
        for start in range(0, len(numbers), BLOCK):
            block = slice(start, start + BLOCK)
            numbers[block] = position[numbers[block]]
        starts = np.cumsum(_joined(self._different), dtype=np.int64)
        if len(numbers) < 2**31:
            starts = starts.astype(np.int32)  # else all numbers take twice the room
        by_text = scipy.sparse.csr_array((often, numbers, starts), shape=(len(starts) - 1, n_terms))
        return sorted_terms, by_text.tocsc()


def _joined(parts: list[NDArray[Number]]) -> NDArray[Number]:
    whole = np.concatenate(parts)
    parts.clear()
    return whole


class _Pieces:
    """Distinct substrings between spaces, numbered in order of appearance, with their terms.

    No word goes across a space.
    """

    def __init__(self, number_of: dict[str, int]) -> None:
        self._number_of = number_of
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._terms, self._ends = array("i"), array("i", [0])

    def __len__(self) -> int:
        return len(self._numbers)

    def of_text(self, text: str) -> Iterator[int]:
        """Return the piece numbers of a text, in order."""
        for parting in PARTINGS:
            text = text.replace(parting, " ")
        return map(self._numbers.__getitem__, text.split(" "))

    def terms(self) -> scipy.sparse.csr_array:
        """Return the (pieces, terms) counts."""
        number_of = self._number_of
        for piece in islice(self._numbers, len(self._ends) - 1, None):
            self._terms.extend(
                [number_of.setdefault(term, len(number_of)) for term in terms(piece)]
            )
            self._ends.append(len(self._terms))
        return _matrix(self._terms, self._ends, len(number_of))


def _matrix(columns: array[int], ends: array[int], n_columns: int) -> scipy.sparse.csr_array:
    """Build a CSR matrix of ones from column numbers and row ends (the first is 0)."""
    values = np.ones(len(columns), dtype=np.int32)
    parts = (values, np.array(columns, dtype=np.int32), np.array(ends, dtype=np.int32))
    return scipy.sparse.csr_array(parts, shape=(len(ends) - 1, n_columns))
