"""Supporting sentences of a source for an output, by weighted term overlap."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from building.writing import sentences
from building.writing.salience import content_terms

SHARE = 0.3  # of the weight of a product's words, from which a sentence counts
MAX_SENTENCES = 3


def support_spans(source: str, product: str, limit: int = MAX_SENTENCES) -> list[tuple[int, int]]:
    """Return the source spans [start, end) that share most terms with the output, in order.

    Words are stems, and weigh the more the fewer sentences of the source have them (log of n over those).
    A sentence that holds less than SHARE of what all words of the product that are in the source weigh
    is left out: of none that does, there is no list.
    """
    spans = sentences.spans(source)
    terms_by_sentence = [content_terms(source[start:end]) for start, end in spans]
    having = Counter(term for terms in terms_by_sentence for term in terms)
    weights = {
        term: math.log(1 + len(spans) / having[term])
        for term in content_terms(product)
        if term in having
    }
    whole = sum(weights.values())
    scored = [
        (sum(weights[term] for term in terms & weights.keys()), index)
        for index, terms in enumerate(terms_by_sentence)
    ]
    best = sorted((-score, index) for score, index in scored if whole and score >= SHARE * whole)
    return sorted(spans[index] for _, index in best[:limit])


def cut(body: str, marked: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """Split the body at spans into (piece, is_marked) pairs."""
    pieces: list[tuple[str, bool]] = []
    read = 0
    for start, end in marked:
        pieces += [(body[read:start], False), (body[start:end], True)]
        read = end
    return [(piece, is_marked) for piece, is_marked in [*pieces, (body[read:], False)] if piece]
