"""BM25 scoring and ranking, equal to Lucene's.

    score(Q, D) = sum over terms t of Q:  n(t, Q) idf(t) tf / (tf + k1 (1 - b + b |D| / avg))
    idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))

|D| is the length of the text rounded to a byte, avg the exact mean. Scores are rounded to 4 decimals, and
texts of equal scores are in the order of the index. Source: Robertson and Zaragoza 2009; Lucene 10,
BM25Similarity.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.errors import UserError
from building.analysis.lucene_en import terms
from building.analysis.norms import LENGTHS
from building.retrieval.index import OFTEN, BrokenIndexError, Index

K1, B = 0.9, 0.4  # Anserini's, so those of CRUX
DECIMALS = 4
GROUP = 64  # scores per group, whose maximum is taken first

FloatArray = NDArray[np.float64]


class TermStatisticsError(UserError):
    """A file that holds no statistics; the message names it and what is wrong."""


@dataclass(frozen=True)
class Background:
    """Corpus statistics of a larger corpus: N, mean length, document frequencies.

    Only a part of that corpus is indexed here.
    """

    n_texts: float
    mean_length: float
    n_with: Mapping[str, float]

    @classmethod
    def read(cls, path: Path) -> Background:
        """Read JSON with `N`, `avgdl` and `df`. Raises TermStatisticsError."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            background = cls(
                float(values["N"]),
                float(values["avgdl"]),
                {str(term): float(n) for term, n in values["df"].items()},
            )
        except OSError as error:
            raise TermStatisticsError(f"{path} cannot be read: {error.strerror}.") from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise TermStatisticsError(
                f"{path} is no JSON object with N, avgdl and df (texts with each term): {error!r}."
            ) from None
        # df above N is allowed: numbers fitted to scores are only known in combination.
        wrong = [term for term, n in background.n_with.items() if not 0 < n < math.inf]
        if wrong or not (
            0 < background.n_texts < math.inf and 0 < background.mean_length < math.inf
        ):
            subject = f"of the term {wrong[0]!r}" if wrong else "of the corpus"
            raise TermStatisticsError(f"{path}: the numbers {subject} cannot be.")
        return background


@dataclass(frozen=True)
class Ranked:
    """Ranking by index rows, best first, with scores to 4 decimals.

    `unknown` are terms of the query that the background lacks though texts here hold them: they count
    as often as here, and the scores are then no longer those of the larger corpus.
    """

    rows: NDArray[np.int64]
    scores: FloatArray
    unknown: tuple[str, ...] = ()


@dataclass
class Bm25:
    """BM25 scorer of an index."""

    index: Index
    k1: float = K1
    b: float = B
    background: Background | None = None
    _norms: FloatArray = field(init=False, repr=False)  # by the byte of a length
    _weights: FloatArray = field(init=False, repr=False)  # by the kind of a posting

    def __post_init__(self) -> None:
        meta = self.index.meta
        own_mean = meta.n_tokens / meta.n_texts if meta.n_texts else 1.0
        mean = self.background.mean_length if self.background else own_mean
        self._norms = self.k1 * (1 - self.b + self.b * LENGTHS.astype(np.float64) / mean)
        tf = np.arange(1.0, OFTEN)[:, np.newaxis]
        weights = np.zeros((OFTEN + 1, len(LENGTHS)))  # tf 0 does not occur; OFTEN is handled apart
        weights[1:OFTEN] = tf / (tf + self._norms)
        self._weights = weights.ravel()

    def idf(self, term: str, n_here: int) -> float:
        """Return the idf of a term that `n_here` texts of the index contain."""
        n, n_texts = float(n_here), float(self.index.meta.n_texts)
        if self.background:
            n_texts = self.background.n_texts
            n = self.background.n_with.get(term, n)
        return math.log(1 + (n_texts - n + 0.5) / (n + 0.5))

    def weights(self, postings: slice) -> FloatArray:
        """Return the weights (0 to 1) of a term in the texts of its postings."""
        kinds = self.index.kinds[postings]
        weights: FloatArray = self._weights.take(kinds)
        if len(kinds) and kinds.max() >> 8 == OFTEN:
            often = np.flatnonzero(kinds >> 8 == OFTEN)
            tf = self.index.tf[postings][often]
            weights[often] = tf / (tf + self._norms[kinds[often] & 255])
        return weights

    def ranked(self, query: str, k: int) -> Ranked:
        """Return the best `k` texts that contain a term of the query."""
        scores: FloatArray = np.zeros(self.index.meta.n_texts)
        unknown = []
        for term, times in Counter(terms(query)).items():
            postings = self.index.where(term)
            n_here = postings.stop - postings.start
            if not n_here:
                continue
            if self.background and term not in self.background.n_with:
                unknown.append(term)
            factor = times * self.idf(term, n_here)
            add(scores, self.index.rows[postings], self.weights(postings), factor)
        return replace(best(scores, contenders(scores, k), k), unknown=tuple(unknown))

    def shares(self, query: str, row: int) -> list[tuple[str, float]]:
        """Return each query term's share of a text's score, largest first, then by name."""
        shares = []
        for term, times in Counter(terms(query)).items():
            postings = self.index.where(term)
            rows = self.index.rows[postings]
            index = int(np.searchsorted(rows, row))
            if index < len(rows) and rows[index] == row:
                at = postings.start + index
                weight = float(self.weights(slice(at, at + 1))[0])
                shares.append((term, weight * times * self.idf(term, len(rows))))
        return sorted(shares, key=lambda share: (-share[1], share[0]))


def add(scores: FloatArray, rows: NDArray[np.int32], weights: FloatArray, factor: float) -> None:
    """Add weights times a factor to the scores of rows, in place.

    Raises BrokenIndexError for a row out of range.

    By what `@` of SciPy's csc_array calls, which itself adds to no vector that is there. It takes half the
    time of numpy.add.at, and a quarter of that of scores[rows] +=, and looks at no row before it writes.
    """
    if len(rows) and rows.view(np.uint32).max() >= len(scores):  # a negative one is the largest
        raise BrokenIndexError("The index names texts that it does not hold: build it again.")
    ends = np.array([0, len(rows)], dtype=rows.dtype)
    factors = np.array([factor])
    scipy.sparse._sparsetools.csc_matvec(len(scores), 1, ends, rows, weights, factors, scores)


def contenders(scores: FloatArray, k: int) -> NDArray[np.int64]:
    """Return ascending rows with score above 0 that may be among the best `k`, with ties.

    The best of each of n groups, whatever they are: the k-th of those is no more than the k-th of all.
    """
    n = len(scores) // GROUP
    if n < k:
        return np.flatnonzero(scores > 0)
    of_group = scores[: n * GROUP].reshape(GROUP, n).max(axis=0)
    least = float(np.partition(of_group, n - k)[n - k]) - 10.0**-DECIMALS
    return np.flatnonzero(scores >= least if least > 0 else scores > 0)


def best(scores: NDArray[np.floating], rows: NDArray[np.int64], k: int) -> Ranked:
    """Return the best `k` of ascending rows by score to 4 decimals, ties in row order."""
    if len(rows) > k:
        # Keep all that may tie with the last one after rounding: the index order decides.
        last = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
        rows = rows[scores[rows] >= last - 10.0**-DECIMALS]
    rounded = scores[rows].astype(np.float64).round(DECIMALS)
    order = np.argsort(-rounded, kind="stable")[:k]
    return Ranked(rows[order], rounded[order])
