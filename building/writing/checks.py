"""What is wrong with the words of a reply: refusals, loops, copies, and what a reviewer should look at."""

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


def refuses(reply: str) -> bool:
    """Whether these words begin as a refusal does, in English."""
    return _REFUSAL.match(reply[:_OPENING].replace("’", "'")) is not None


def loop(body: str) -> str:
    """What the text says again and again; "" if nothing.

    A sentence of three words or more that comes three times, or up to twenty words that follow each
    other five times.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for sentence in sentences.texts(body):
        words = tuple(plain_words(sentence))
        seen[words] += 1
        if seen[words] == TIMES and len(words) >= LOOPED_WORDS:
            return sentence
    return _rounds(body.split())


def _rounds(words: Sequence[str]) -> str:
    for length in range(1, LONGEST_ROUND + 1):
        most = max(length * ROUNDS, FEWEST_LOOPED)
        run = length
        for place in range(length, len(words)):
            run = run + 1 if words[place] == words[place - length] else length
            if run >= most:
                return " ".join(words[place - length + 1 : place + 1])
    return ""


def copied_sentence(body: str, document: str) -> str:
    """The first sentence of the document that stands whole in the body; "" if none does.

    Case, punctuation and white space do not count; sentences of fewer than five words neither.
    """
    held = f" {' '.join(plain_words(body))} "
    for sentence in sentences.texts(sentences.with_line_ends(document)):
        words = plain_words(sentence)
        if len(words) >= COPIED_WORDS and f" {' '.join(words)} " in held:
            return sentence
    return ""


def says_else(body: str, document: str) -> str:
    """A flag for a passage of whose content words (as BM25 has them) fewer than half are in its document."""
    of_body = set(terms(body))
    shared = len(of_body & set(terms(document)))
    if shared >= OVERLAP * len(of_body):
        return ""
    return f"says things that the document does not: {shared} of its {len(of_body)} content words are there"


def near_duplicates(questions: Sequence[str]) -> dict[int, int]:
    """For each question that is nearly the same as an earlier one: its place, and that of the nearest.

    The measure is the idf of the terms that both have, over that of all terms of the one with more:
    1 for equal terms, 0 for none in common, and more than 0.8 is near. It is BM25's score of one for
    the other over its own score, in the direction in which that is less, lengths and repeats aside.
    idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)), N questions of which n have t. Places count from 0.
    """
    of_each = [set(terms(question)) for question in questions]
    having = Counter(term for of_one in of_each for term in of_one)
    idf = {term: math.log(1 + (len(questions) - n + 0.5) / (n + 0.5)) for term, n in having.items()}
    weights = [_sum(idf, of_one) for of_one in of_each]
    near = {}
    for place, of_one in enumerate(of_each):
        shares = [
            (_sum(idf, of_one & of_each[other]) / max(weights[place], weights[other]), -other)
            for other in range(place)
            if of_one & of_each[other]
        ]
        if shares and max(shares)[0] > NEAR:
            near[place] = -max(shares)[1]
    return near


def _sum(idf: dict[str, float], of_one: Set[str]) -> float:
    return math.fsum(idf[term] for term in of_one)
