"""Which words of a document it is about: content words, by how often they come."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from building.analysis.lucene_en import term_of, words

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
_LETTERS = re.compile(r"[^\W\d_]{2}")
CACHED = 200_000  # words whose terms a process keeps: documents have the same ones again and again
NAME = 2  # times that a word with a capital counts, where no sentence begins with it

_term_of = lru_cache(CACHED)(term_of)


@dataclass(frozen=True)
class Salience:
    """The content words of sentences, heaviest first, each in one of its forms."""

    weights: dict[str, int]
    forms: dict[str, str]

    def heaviest(self, sentence: str) -> list[str]:
        """The content words of a sentence, those first that come most often in all; in order where equal."""
        terms = dict.fromkeys(_term(word) for word in words(sentence))
        known = [term for term in terms if term in self.weights]
        return [self.forms[term] for term in sorted(known, key=lambda term: -self.weights[term])]


def salience(sentences: Sequence[str]) -> Salience:
    """Of a document's sentences. Words that any English text may hold do not count, and neither do numbers."""
    weights: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for sentence in sentences:
        for place, word in enumerate(words(sentence)):
            term = _term(word)
            if not term:
                continue
            weights[term] += NAME if place and word[0].isupper() else 1
            # A small letter tells that the capital was that of a sentence.
            if term not in forms or (word.islower() and not forms[term].islower()):
                forms[term] = word
    return Salience(dict(weights), forms)


def content_terms(text: str) -> set[str]:
    """The terms of a text that not any English text may hold; numbers are among them."""
    return {_term_of(word) for word in words(text) if word.casefold() not in _FUNCTION_WORDS} - {""}


def _term(word: str) -> str:
    is_content = _LETTERS.search(word) and word.casefold() not in _FUNCTION_WORDS
    return _term_of(word) if is_content else ""
