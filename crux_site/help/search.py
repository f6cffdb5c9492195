"""Searching the docs: the sections that hold all words, best first."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from crux_site.help.docs import Doc, Section

AROUND = 110  # signs to either side of the first word that is found


class Found(NamedTuple):
    """A section, and its words around the first place of one that was searched for."""

    doc: Doc
    section: Section
    before: str
    hit: str
    after: str

    @property
    def url(self) -> str:
        return f"{self.doc.url}#{self.section.anchor}"


def find(docs: Sequence[Doc], query: str) -> list[Found]:
    """The sections in which each word of the query begins some word, in any case.

    Best are those with most of the words in their heading, then in the title of the page, then those that
    hold them most often. A query without a word finds nothing.
    """
    patterns = [re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE) for word in query.split()]
    ranked = []
    for doc in docs if patterns else ():
        for section in doc.sections:
            text = f"{section.title}\n{section.words}"
            counts = [len(pattern.findall(text)) for pattern in patterns]
            if all(counts):
                in_heading = sum(bool(pattern.search(section.title)) for pattern in patterns)
                in_title = sum(bool(pattern.search(doc.title)) for pattern in patterns)
                ranked.append(((-in_heading, -in_title, -sum(counts)), doc, section))
    ranked.sort(key=lambda found: found[0])
    return [_around(doc, section, patterns) for _, doc, section in ranked]


def _around(doc: Doc, section: Section, patterns: Sequence[re.Pattern[str]]) -> Found:
    """Where only the heading has the words, the beginning of what is below it."""
    words = " ".join(section.words.split())
    hits = [hit for pattern in patterns if (hit := pattern.search(words))]
    if not hits:
        return Found(doc, section, "", "", _cut_end(words[: 2 * AROUND + 1], words))
    first = min(hits, key=lambda hit: hit.start())
    begin = max(0, first.start() - AROUND)
    before = words[begin : first.start()]
    if begin:
        before = "… " + before.partition(" ")[2]
    rest = words[first.end() :]
    return Found(doc, section, before, first.group(), _cut_end(rest[:AROUND], rest))


def _cut_end(part: str, whole: str) -> str:
    return part if part == whole else part.rpartition(" ")[0] + " …"
