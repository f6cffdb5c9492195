"""Quality checks of a reply: refusals, loops, copies, and flags for review."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence, Set

from building.analysis.lucene_en import terms
from building.writing import sentences
from building.writing.sentences import plain_words

NEAR = (
    0.8  # of the weight of two questions' terms in common, from which they count as nearly the same
)
OVERLAP = 0.5  # of a passage's content words in its document
TIMES = 3  # that a sentence comes in a loop
COPIED_WORDS = 5  # of a sentence: shorter ones are found by chance
LOOPED_WORDS = 3
LONGEST_ROUND = 20  # words of a round that is repeated
ROUNDS = 5
FEWEST_LOOPED = 8  # words: "very, very, very" is none

# Only how a reply begins: an apology may be quoted further down. What follows is English.
_OPENING = 200
_CANNOT = (
    r"(?:i|we)(?: can't| cannot| can not| won't| will not| must decline to| must refuse to"
    r"|(?: am|'m| are|'re) (?:unable|not able|not allowed) to)"
)
_SORRY = r"(?:(?:i am|i'm) (?:very |so )?sorry|sorry|i apologi[sz]e|my apologies|unfortunately)\b"
_AS_AN_AI = r"(?:as an? (?:ai|language model)\b[^.,]*, ?)?"
_TO_WRITE = (
    r"(?:write|generate|create|produce|prepare|provide|give|offer|make|compose|summari[sz]e|rewrite|fulfill?|help"
    r"|assist|comply|complete|answer|respond|continue|proceed|process|engage|discuss|do (?:that|this)|find"
    r"|determine|identify|access)\b"
)
_REFUSAL = re.compile(
    rf"[\s*_#>-]*+(?:{_SORRY}\W*(?:but )?{_AS_AN_AI}{_CANNOT}\b"
    rf"|{_SORRY}\W*but\b|{_AS_AN_AI}{_CANNOT} {_TO_WRITE}"
    rf"|(?:{_SORRY}\W*(?:but )?)?{_AS_AN_AI}i (?:do not|don't) have (?:enough|sufficient|access|any|the)\b"
    # "Refrain: No.", as a small model was seen to say, and its like: no and nothing else.
    r"|(?:(?:refrain|answer|response|report)\W{1,3})?(?:no|none|n/a|not applicable)\W*\Z|refrain\b)",
    re.IGNORECASE,
)


def is_refusal(reply: str) -> bool:
    """Return whether a reply begins like an English refusal."""
    return _REFUSAL.match(reply[:_OPENING].replace("’", "'")) is not None


def repeated_passage(body: str) -> str:
    """Return the first passage that the text repeats in a loop; "" if none.

    A sentence of three words or more that comes three times, or up to twenty words that follow each
    other five times.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for sentence in sentences.texts(body):
        tokens = tuple(plain_words(sentence))
        counts[tokens] += 1
        if counts[tokens] == TIMES and len(tokens) >= LOOPED_WORDS:
            return sentence
    return _rounds(body.split())


def _rounds(tokens: Sequence[str]) -> str:
    for length in range(1, LONGEST_ROUND + 1):
        threshold = max(length * ROUNDS, FEWEST_LOOPED)
        run = length
        for index in range(length, len(tokens)):
            run = run + 1 if tokens[index] == tokens[index - length] else length
            if run >= threshold:
                return " ".join(tokens[index - length + 1 : index + 1])
    return ""


def copied_sentence(body: str, document: str) -> str:
    """Return the first sentence of the document that the body copies; "" if none.

    Case, punctuation and white space do not count; sentences of fewer than five words neither.
    """
    body_tokens = f" {' '.join(plain_words(body))} "
    for sentence in sentences.texts(sentences.with_line_ends(document)):
        tokens = plain_words(sentence)
        if len(tokens) >= COPIED_WORDS and f" {' '.join(tokens)} " in body_tokens:
            return sentence
    return ""


def unsupported_flag(body: str, document: str) -> str:
    """Return a flag if fewer than half of the content terms are in the document, else ""."""
    body_terms = set(terms(body))
    shared = len(body_terms & set(terms(document)))
    if shared >= OVERLAP * len(body_terms):
        return ""
    return f"says things that the document does not: {shared} of its {len(body_terms)} content words are there"


def near_duplicates(questions: Sequence[str]) -> dict[int, int]:
    """Map the index of each near-duplicate question to the nearest earlier one.

    The measure is the idf of the terms that both have, over that of all terms of the one with more:
    1 for equal terms, 0 for none in common, and more than 0.8 is near. It is BM25's score of one for
    the other over its own score, in the direction in which that is less, lengths and repeats aside.
    idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)), N questions of which n have t. Places count from 0.
    """
    question_terms = [set(terms(question)) for question in questions]
    having = Counter(term for own_terms in question_terms for term in own_terms)
    idf = {term: math.log(1 + (len(questions) - n + 0.5) / (n + 0.5)) for term, n in having.items()}
    weights = [_sum_idf(idf, own_terms) for own_terms in question_terms]
    near = {}
    for index, own_terms in enumerate(question_terms):
        shares = [
            (
                _sum_idf(idf, own_terms & question_terms[earlier])
                / max(weights[index], weights[earlier]),
                -earlier,
            )
            for earlier in range(index)
            if own_terms & question_terms[earlier]
        ]
        if shares and max(shares)[0] > NEAR:
            near[index] = -max(shares)[1]
    return near


def _sum_idf(idf: dict[str, float], question_terms: Set[str]) -> float:
    return math.fsum(idf[term] for term in question_terms)
