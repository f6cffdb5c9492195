"""Signals of a rater's spans: whole text, no word, one span for all questions of an item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from evaluation.stats.estimate import Estimate

WHOLE = 0.9  # share of the characters of a text from which a span counts as all of it


@dataclass(frozen=True, slots=True)
class Marked:
    """Spans of one answer: (start, end, quote) each, in code points of a text of `length`."""

    item: Hashable
    length: int
    spans: Sequence[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class Marks:
    """Counts of spans.

    `shared` are the items (of `comparable`, those with two marked questions or
    more) on which one and the same span stands under each question that has any.
    """

    n: int
    whole: int
    wordless: int
    words: Estimate
    shared: int
    comparable: int


def marks(answers: Iterable[Marked]) -> Marks:
    """Count the spans of one rater's answers.

    A span covers the whole text from WHOLE of its characters on; it has no word if it holds
    neither a letter nor a digit. `words` is the median number of words between white space.
    No spans: all counts 0, and the median undefined.
    """
    n = whole = wordless = 0
    word_counts: list[int] = []
    by_item: dict[Hashable, list[set[tuple[int, int]]]] = defaultdict(list)
    for answer in answers:
        if not answer.spans:
            continue
        by_item[answer.item].append({(start, end) for start, end, _ in answer.spans})
        for start, end, quote in answer.spans:
            n += 1
            whole += end - start >= WHOLE * answer.length
            wordless += not any(map(str.isalnum, quote))
            word_counts.append(len(quote.split()))
    comparable = [sets for sets in by_item.values() if len(sets) > 1]
    return Marks(
        n=n,
        whole=whole,
        wordless=wordless,
        words=Estimate(float(median(word_counts)), None, n)
        if word_counts
        else Estimate(None, "undefined, because nothing was marked", 0),
        shared=sum(bool(set.intersection(*sets)) for sets in comparable),
        comparable=len(comparable),
    )
