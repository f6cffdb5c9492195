"""Full-text search of the docs, by section."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from crux_site.help.docs import Doc, Section

AROUND = 110  # signs to either side of the first word that is found


class SearchResult(NamedTuple):
    """Search result: a section, and an excerpt around its first match."""

    doc: Doc
    section: Section
    before: str
    hit: str
    after: str

    @property
    def url(self) -> str:
        return f"{self.doc.url}#{self.section.anchor}"


def find(docs: Sequence[Doc], query: str) -> list[SearchResult]:
    """Return the sections that match each query word as a prefix, in any case; best first.

    Best are those with most of the words in their heading, then in the title of the page, then those that
    hold them most often. A query without a word finds nothing.
    """
    patterns = [re.compile(rf"(?<!\w){re.escape(term)}", re.IGNORECASE) for term in query.split()]
    ranked = []
    for doc in docs if patterns else ():
        for section in doc.sections:
            text = f"{section.title}\n{section.text}"
            counts = [len(pattern.findall(text)) for pattern in patterns]
            if all(counts):
                in_heading = sum(bool(pattern.search(section.title)) for pattern in patterns)
                in_title = sum(bool(pattern.search(doc.title)) for pattern in patterns)
                ranked.append(((-in_heading, -in_title, -sum(counts)), doc, section))
    ranked.sort(key=lambda entry: entry[0])
    return [_excerpt(doc, section, patterns) for _, doc, section in ranked]


def _excerpt(doc: Doc, section: Section, patterns: Sequence[re.Pattern[str]]) -> SearchResult:
    """Return the excerpt of a section; if only the heading matches, the beginning of its text."""
    text = " ".join(section.text.split())
    hits = [hit for pattern in patterns if (hit := pattern.search(text))]
    if not hits:
        return SearchResult(doc, section, "", "", _cut_end(text[: 2 * AROUND + 1], text))
    first = min(hits, key=lambda hit: hit.start())
    begin = max(0, first.start() - AROUND)
    before = text[begin : first.start()]
    if begin:
        before = "… " + before.partition(" ")[2]
    tail = text[first.end() :]
    return SearchResult(doc, section, before, first.group(), _cut_end(tail[:AROUND], tail))


def _cut_end(part: str, whole: str) -> str:
    return part if part == whole else part.rpartition(" ")[0] + " …"
