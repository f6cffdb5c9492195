"""Salient terms of a document: content words by frequency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from building.analysis.lucene_en import split_tokens, term_of

_MORE = """
about above after again against all also although am among another any anybody around because been before
being below between both can cannot could did do does doing done down during each else ever every few from
further get gets got had has have having he her here hers him himself his how however i its itself just
last like made make makes many may me might more most much must my near never new next nobody nor now off
often once one only other others our out over own per said same say says see seen several she should since
so some still than them themselves though through today too two under until up upon us very was we well
went were what when where whether which while who whom whose why within without would year years yet you your
"""
_FUNCTION_WORDS = frozenset(_MORE.split())
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
CACHED = 200_000  # cached terms per process: documents share most tokens
NAME = 2  # weight of a capitalized token that does not begin a sentence

_term_of = lru_cache(CACHED)(term_of)


@dataclass(frozen=True)
class Salience:
    """Content terms of sentences with weights, and one surface form of each."""

    weights: dict[str, int]
    forms: dict[str, str]

    def heaviest(self, sentence: str) -> list[str]:
        """Return a sentence's content words, most frequent in the document first."""
        terms = dict.fromkeys(_content_term(token) for token in split_tokens(sentence))
        weighted = [term for term in terms if term in self.weights]
        return [self.forms[term] for term in sorted(weighted, key=lambda term: -self.weights[term])]


def salience(sentences: Sequence[str]) -> Salience:
    """Count the content terms of sentences; function words and numbers are left out."""
    weights: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for sentence in sentences:
        for index, token in enumerate(split_tokens(sentence)):
            term = _content_term(token)
            if not term:
                continue
            weights[term] += NAME if index and token[0].isupper() else 1
            # A lower-case form shows that the capital began a sentence.
            if term not in forms or (token.islower() and not forms[term].islower()):
                forms[term] = token
    return Salience(dict(weights), forms)


def content_terms(text: str) -> set[str]:
    """Return the terms of a text without function words; numbers are kept."""
    return {
        _term_of(token) for token in split_tokens(text) if token.casefold() not in _FUNCTION_WORDS
    } - {""}


def _content_term(token: str) -> str:
    is_content = _TWO_LETTERS.search(token) and token.casefold() not in _FUNCTION_WORDS
    return _term_of(token) if is_content else ""
