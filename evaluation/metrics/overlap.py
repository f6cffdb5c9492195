"""BLEU and ROUGE-L of generations against one reference each, over tokens that are given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from evaluation.stats.estimate import FloatArray, IntArray

TokenList = Sequence[str]
ORDERS = 4
_BEYOND = (0,) * (ORDERS - 1)
_BITS = 63  # of a number that is not negative


@dataclass(frozen=True, slots=True)
class Bleu:
    """BLEU of each item; NaN throughout where generation or reference has no token.

    `precisions` is items x 4, of n-grams of 1 to 4 tokens. `without_penalty` is their geometric mean
    and `with_penalty` that times `brevity_penalty`.
    """

    precisions: FloatArray
    brevity_penalty: FloatArray

    @property
    def without_penalty(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(np.log(self.precisions).mean(axis=1)))

    @property
    def with_penalty(self) -> FloatArray:
        return np.asarray(self.without_penalty * self.brevity_penalty)


def bleu(generated: Sequence[TokenList], references: Sequence[TokenList]) -> Bleu:
    """Return BLEU-4 of each generation against its one reference, without smoothing.

    One precision of 0 makes it 0.

    A precision is matches / n-grams of the generation, 0 where it is too short to have one; an n-gram
    matches as often as both have it. The brevity penalty is exp(1 - reference / generation) where the
    generation has fewer tokens, else 1. An item without tokens on a side is NaN. Raises ValueError for
    lists of unequal length.
    Source: Papineni et al. (2002), ACL, 311-318, for single segments, as Hugging Face's `bleu`. CRUD-RAG
    calls `without_penalty` BLEU: its code divides the value by the penalty.
    """
    _check(generated, references)
    n_generated, n_references = _lengths(generated), _lengths(references)
    matches = _matches(generated, references)
    possible = n_generated[:, np.newaxis] - np.arange(ORDERS)
    precisions = np.divide(matches, possible, out=np.zeros(matches.shape), where=possible > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        penalty = np.exp(np.minimum(0.0, 1 - n_references / n_generated))
    empty = (n_generated == 0) | (n_references == 0)
    precisions[empty] = penalty[empty] = np.nan
    return Bleu(precisions, penalty)


def rouge_l(generated: Sequence[TokenList], references: Sequence[TokenList]) -> FloatArray:
    """Return ROUGE-L of each generation: F1 of the longest common subsequence of tokens.

    0 where they share none; NaN where a side has no token. Raises ValueError for lists of unequal length.
    Source: Lin (2004), ROUGE, ACL workshop, 74-81, with beta 1, as the package rouge_score; the length
    of the subsequence by bits: Hyyro (2004), Information Processing Letters 91(5).
    """
    _check(generated, references)
    values = np.full(len(generated), np.nan)
    for i, (ours, theirs) in enumerate(zip(generated, references, strict=True)):
        if ours and theirs:
            values[i] = 2 * _common_subsequence(ours, theirs) / (len(ours) + len(theirs))
    return values


def _check(generated: Sequence[TokenList], references: Sequence[TokenList]) -> None:
    if len(generated) != len(references):
        raise ValueError("every generation has one reference")


def _lengths(items: Sequence[Sequence[object]]) -> IntArray:
    return np.fromiter(map(len, items), dtype=np.int64, count=len(items))


def _matches(generated: Sequence[TokenList], references: Sequence[TokenList]) -> FloatArray:
    """Clipped matches of n-grams: items x ORDERS."""
    ours, theirs, largest = _numbered(generated, references)
    bits = largest.bit_length()
    room = _BITS - ORDERS * bits
    if room < 0:  # a reference of more than 32,767 different tokens
        return _matches_one_by_one(generated, references)
    size = 1 << min(room, 20)  # as many items at a time as there is room for beside four tokens
    parts = [
        _matches_of(ours[start : start + size], theirs[start : start + size], bits)
        for start in range(0, len(ours), size)
    ]
    return np.concatenate([np.zeros((0, ORDERS)), *parts])


def _numbered(
    generated: Sequence[TokenList], references: Sequence[TokenList]
) -> tuple[list[list[int]], list[list[int]], int]:
    """The tokens of each item as numbers from 1, and the largest number.

    0 is a token that the reference lacks, and what n-grams that reach beyond the last one have there.
    """
    ours, theirs, largest = [], [], 0
    for tokens, reference in zip(generated, references, strict=True):
        numbers = dict(zip(dict.fromkeys(reference), range(1, len(reference) + 1), strict=False))
        largest = max(largest, len(numbers))
        ours.append([*map(numbers.get, tokens, repeat(0)), *_BEYOND])
        theirs.append([*map(numbers.__getitem__, reference), *_BEYOND])
    return ours, theirs, largest


def _matches_of(ours: list[list[int]], theirs: list[list[int]], bits: int) -> FloatArray:
    matches = np.zeros((len(ours), ORDERS))
    sides = _sorted_grams(ours, bits), _sorted_grams(theirs, bits)
    for order in range(ORDERS):
        cut = bits * (ORDERS - 1 - order)
        (gram, n), (reference_gram, n_reference) = (
            _counted(side, cut, bits, order) for side in sides
        )
        if len(reference_gram):
            at = np.minimum(np.searchsorted(reference_gram, gram), len(reference_gram) - 1)
            both = reference_gram[at] == gram
            common = np.minimum(n[both], n_reference[at[both]])
            item = gram[both] >> bits * (order + 1)
            matches[:, order] = np.bincount(item, weights=common, minlength=len(ours))
    return matches


def _matches_one_by_one(
    generated: Sequence[TokenList], references: Sequence[TokenList]
) -> FloatArray:
    def grams(tokens: TokenList, order: int) -> Counter[tuple[str, ...]]:
        return Counter(zip(*(tokens[i:] for i in range(order + 1)), strict=False))

    matches = [
        (grams(ours, order) & grams(theirs, order)).total()
        for ours, theirs in zip(generated, references, strict=True)
        for order in range(ORDERS)
    ]
    return np.array(matches, dtype=np.float64).reshape(-1, ORDERS)


def _sorted_grams(lists: list[list[int]], bits: int) -> IntArray:
    """Return the ORDERS tokens from each position on, packed into one integer, sorted.

    The item's number is in the highest bits; 0 stands for tokens beyond the end. Sorted, so that
    shorter n-grams that they begin with are in order too.
    """
    lengths = _lengths(lists)
    token = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(lengths.sum()))
    gram = np.repeat(np.arange(len(lists)), lengths)[: len(token) - len(_BEYOND)]
    for offset in range(ORDERS):
        gram = gram << bits | token[offset : offset + len(gram)]
    gram = gram[token[: len(gram)] > 0]
    gram.sort()
    return gram


def _counted(sorted_grams: IntArray, cut: int, bits: int, order: int) -> tuple[IntArray, IntArray]:
    """The n-grams of order + 1 tokens that these begin with, and how often each is there."""
    gram = sorted_grams >> cut
    whole = np.ones(len(gram), dtype=np.bool_)
    for index in range(order):  # the first token of each is there
        whole &= gram >> bits * index & (1 << bits) - 1 > 0
    gram = gram[whole]
    first = np.flatnonzero(np.diff(gram, prepend=-1))
    return gram[first], np.diff(first, append=len(gram))


def _common_subsequence(a: TokenList, b: TokenList) -> int:
    """Return the length of the longest common subsequence, by bit-parallel computation.

    One bit stands for each position of `b`.
    """
    positions: dict[str, int] = {}
    for i, token in enumerate(b):
        positions[token] = positions.get(token, 0) | 1 << i
    full = (1 << len(b)) - 1
    row = full
    for token in a:
        if matched := row & positions.get(token, 0):
            row = (row + matched | row - matched) & full
    return len(b) - row.bit_count()
