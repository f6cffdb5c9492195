"""BERTScore: similarity of two texts by cosines of contextual token embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluation.stats.estimate import FloatArray


class BertScore(NamedTuple):
    """Precision, recall and F1, from -1 to 1, in practice near to 1.

    NaN where a text has no token that counts.
    """

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text of n tokens: `vectors` is n x d, and `counts` says of each whether it counts.

    The signs at which a model sees a text begin and end do not count, but a token may match them.
    """

    vectors: FloatArray
    counts: np.ndarray


def bertscore(generated: TokenVectors, reference: TokenVectors) -> BertScore:
    """Return BERTScore: greedy matching of tokens by cosine, in both directions.

    The mean over the generation's tokens of the best cosine with one of the reference's is the
    precision, the mean over the reference's tokens the recall. No weights by rarity, and no
    rescaling by a baseline. Raises ValueError for vectors of unlike lengths. Source: Zhang et al.
    (2020), BERTScore, ICLR, section 3; as its authors' program without options.
    """
    if generated.vectors.shape[1:] != reference.vectors.shape[1:]:
        raise ValueError("the vectors of both texts are by one model")
    if not (generated.counts.any() and reference.counts.any()):
        return BertScore(np.nan, np.nan, np.nan)
    cosines = _directions(generated.vectors) @ _directions(reference.vectors).T
    precision = float(cosines.max(axis=1)[generated.counts].mean())
    recall = float(cosines.max(axis=0)[reference.counts].mean())
    both = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / both if both else 0.0)


def _directions(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(
        np.divide(vectors, lengths, where=lengths > 0, out=np.zeros_like(vectors, float))
    )
