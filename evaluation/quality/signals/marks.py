"""What a rater's spans look like: a whole text, no word in it, the same words for every question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from evaluation.stats.estimate import Estimate

WHOLE = 0.9  # share of the characters of a text from which a span counts as all of it


@dataclass(frozen=True, slots=True)
class Marked:
    """The spans of one answer: (start, end, words) each, in code points of a text of `length`."""

    item: Hashable
    length: int
    spans: Sequence[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class Marks:
    """Counts of spans. `shared` are the items (of `comparable`, those with two marked questions or
    more) on which one and the same span stands under every question that has any."""

    n: int
    whole: int
    wordless: int
    words: Estimate
    shared: int
    comparable: int


def marks(answers: Iterable[Marked]) -> Marks:
    """What the spans of one rater's answers look like.

    A span covers the whole text from WHOLE of its characters on; it has no word if it holds
    neither a letter nor a digit. `words` is the median number of words between white space.
    No spans: all counts 0, and the median undefined.
    """
    n = whole = wordless = 0
    words: list[int] = []
    by_item: dict[Hashable, list[set[tuple[int, int]]]] = defaultdict(list)
    for answer in answers:
        if not answer.spans:
            continue
        by_item[answer.item].append({(start, end) for start, end, _ in answer.spans})
        for start, end, quote in answer.spans:
            n += 1
            whole += end - start >= WHOLE * answer.length
            wordless += not any(map(str.isalnum, quote))
            words.append(len(quote.split()))
    several = [sets for sets in by_item.values() if len(sets) > 1]
    return Marks(
        n=n,
        whole=whole,
        wordless=wordless,
        words=Estimate(float(median(words)), None, n)
        if words
        else Estimate(None, "undefined, because nothing was marked", 0),
        shared=sum(bool(set.intersection(*sets)) for sets in several),
        comparable=len(several),
    )
