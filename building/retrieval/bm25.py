"""BM25 as Lucene computes it: weights of terms in texts, and the ranking that they make.

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
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from building.analysis.lucene_en import terms
from building.analysis.norms import rounded
from building.retrieval.index import Index

K1, B = 0.9, 0.4  # Anserini's, so those of CRUX
DECIMALS = 4

FloatArray = NDArray[np.float64]


class BackgroundBroken(ValueError):
    """A file that holds no statistics; the message names it and what is wrong."""


@dataclass(frozen=True)
class Background:
    """Statistics of a larger corpus, of which only a part is here: N, mean length, texts with a term."""

    n_texts: float
    mean_length: float
    n_with: Mapping[str, float]

    @classmethod
    def read(cls, path: Path) -> Background:
        """From JSON with `N`, `avgdl` and `df`. Raises BackgroundBroken."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            found = cls(
                float(values["N"]),
                float(values["avgdl"]),
                {str(term): float(n) for term, n in values["df"].items()},
            )
        except OSError as error:
            raise BackgroundBroken(f"{path} cannot be read: {error.strerror}.") from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BackgroundBroken(
                f"{path} is no JSON object with N, avgdl and df (texts with each term): {error!r}."
            ) from None
        # More texts than there are can be: what was fitted to scores is known in combination alone.
        wrong = [term for term, n in found.n_with.items() if not 0 < n < math.inf]
        if wrong or not (0 < found.n_texts < math.inf and 0 < found.mean_length < math.inf):
            what = f"of the term {wrong[0]!r}" if wrong else "of the corpus"
            raise BackgroundBroken(f"{path}: the numbers {what} cannot be.")
        return found


@dataclass(frozen=True)
class Ranked:
    """The best texts for a query, by rows of the index, with scores to 4 decimals, best first.

    `unknown` are terms of the query that the background lacks though texts here hold them: they count
    as often as here, and the scores are then no longer those of the larger corpus.
    """

    rows: NDArray[np.int64]
    scores: FloatArray
    unknown: tuple[str, ...] = ()


@dataclass
class Bm25:
    """One way of scoring the texts of an index."""

    index: Index
    k1: float = K1
    b: float = B
    background: Background | None = None
    _norms: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        meta = self.index.meta
        own = meta.n_tokens / meta.n_texts if meta.n_texts else 1.0
        mean = self.background.mean_length if self.background else own
        lengths = rounded(self.index.lengths).astype(np.float64)
        self._norms = self.k1 * (1 - self.b + self.b * lengths / mean)

    def idf(self, term: str, n_here: int) -> float:
        """Of a term that `n_here` texts of the index hold."""
        n, n_texts = float(n_here), float(self.index.meta.n_texts)
        if self.background:
            n_texts = self.background.n_texts
            n = self.background.n_with.get(term, n)
        return math.log(1 + (n_texts - n + 0.5) / (n + 0.5))

    def weights(self, rows: NDArray[np.int32], tf: NDArray[np.uint16]) -> FloatArray:
        """What a term that stands `tf` times in these texts weighs in each, from 0 to 1."""
        weights: FloatArray = tf / (tf + self._norms[rows])
        return weights

    def ranked(self, query: str, k: int) -> Ranked:
        """The best `k` of the texts that hold a term of the query."""
        scores: FloatArray = np.zeros(self.index.meta.n_texts)
        unknown = []
        for term, times in Counter(terms(query)).items():
            rows, tf = self.index.postings(term)
            if not len(rows):
                continue
            if self.background and term not in self.background.n_with:
                unknown.append(term)
            weights = self.weights(rows, tf)
            scores[rows] += weights * (times * self.idf(term, len(rows)))
        return _best(scores, k, tuple(unknown))

    def shares(self, query: str, row: int) -> list[tuple[str, float]]:
        """What each term of the query adds to the score of a text, the largest first, then by name."""
        found = []
        for term, times in Counter(terms(query)).items():
            rows, tf = self.index.postings(term)
            place = int(np.searchsorted(rows, row))
            if place < len(rows) and rows[place] == row:
                here = slice(place, place + 1)
                weight = float(self.weights(rows[here], tf[here])[0])
                found.append((term, weight * times * self.idf(term, len(rows))))
        return sorted(found, key=lambda each: (-each[1], each[0]))


def _best(scores: FloatArray, k: int, unknown: tuple[str, ...]) -> Ranked:
    there = np.flatnonzero(scores > 0)
    if len(there) > k:
        # All that may tie with the last one once they are rounded: the order of the index decides.
        last = np.partition(scores[there], len(there) - k)[len(there) - k]
        there = there[scores[there] >= last - 10.0**-DECIMALS]
    kept = scores[there].round(DECIMALS)
    order = np.argsort(-kept, kind="stable")[:k]
    return Ranked(there[order], kept[order], unknown)
