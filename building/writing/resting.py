"""Which words of a source a product rests on: the sentences that share most with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from building.writing import sentences
from building.writing.salience import content_terms

SHARE = 0.3  # of the weight of a product's words, from which a sentence counts
MOST = 3


def rests_on(source: str, product: str, most: int = MOST) -> list[tuple[int, int]]:
    """The sentences of the source that share most words with the product, as [start, end) in its order.

    Words are stems, and weigh the more the fewer sentences of the source have them (log of n over those).
    A sentence that holds less than SHARE of what all words of the product that are in the source weigh
    is left out: of none that does, there is no list.
    """
    spans = sentences.spans(source)
    held = [content_terms(source[start:end]) for start, end in spans]
    having = Counter(word for words in held for word in words)
    weights = {
        word: math.log(1 + len(spans) / having[word])
        for word in content_terms(product)
        if word in having
    }
    whole = sum(weights.values())
    scored = [
        (sum(weights[word] for word in words & weights.keys()), place)
        for place, words in enumerate(held)
    ]
    best = sorted((-score, place) for score, place in scored if whole and score >= SHARE * whole)
    return sorted(spans[place] for _, place in best[:most])


def cut(body: str, marked: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """The body in pieces, each with whether it is marked; their words together are the body's."""
    pieces: list[tuple[str, bool]] = []
    read = 0
    for start, end in marked:
        pieces += [(body[read:start], False), (body[start:end], True)]
        read = end
    return [(words, is_marked) for words, is_marked in [*pieces, (body[read:], False)] if words]
