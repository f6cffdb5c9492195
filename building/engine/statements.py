"""Statements of a report with their citations, and their names among cited pairs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Prefetch, QuerySet

from annotation.models import Citation, Text
from annotation.models.corpus import digest
from building.writing import sentences

_PLAIN = re.compile(r"[^\s:/]+")
_HASH = 16  # characters of the digest that replaces a truncated part
# Together with a number of up to 18 digits they fit a topic's name of 200 characters.
_LONGEST_SYSTEM, _LONGEST_REPORT = 120, 60
_LONGEST_TEXT = Text._meta.get_field("name").max_length or 0


@dataclass(frozen=True)
class Statement:
    """A passage of a report with its citations, in order.

    `topic` is the name of its topic among cited pairs; "" where it cites nothing at all.
    """

    words: str
    citations: tuple[Citation, ...] = ()
    topic: str = ""

    @cached_property
    def pairs(self) -> dict[str, Text]:
        """Map the pair names of this statement to its cited texts, each text once.

        Empty where the statement has no words that anything could support.
        """
        cited = [citation.cited for citation in self.citations if citation.cited]
        return {text_name(self.topic, text): text for text in cited} if self.words.strip() else {}

    @property
    def n_wrong(self) -> int:
        """Count the distinct labels that are no pair: of nothing known, or without words."""
        return len(
            {
                citation.label
                for citation in self.citations
                if not (self.pairs and citation.cited_id)
            }
        )


def with_citations(reports: QuerySet[Text], *, with_bodies: bool) -> QuerySet[Text]:
    """Prefetch citations for `statements_of`; `with_bodies` loads the cited texts' bodies."""
    citations = Citation.objects.select_related("cited").order_by("position")
    if not with_bodies:
        citations = citations.defer("cited__body")
    return reports.select_related("topic").prefetch_related(Prefetch("citations", citations))


def statements_of(report: Text) -> list[Statement]:
    """Split a report into citing statements and the sentences between them, in order.

    Those that cite are numbered from 1 in their names: where sentences end does not move a number.
    """
    by_span = defaultdict[tuple[int, int], list[Citation]](list)
    for citation in report.citations.all():
        by_span[citation.start, citation.end].append(citation)
    body = report.body or ""
    prefix = prefix_of(report.system, report.name)
    numbers = {span: number for number, span in enumerate(sorted(by_span), 1)}
    return [
        Statement(body[slice(*span)], tuple(by_span[span]), f"{prefix}{numbers[span]}")
        if span in numbers
        else Statement(body[slice(*span)])
        for span in _spans(body, sorted(by_span))
    ]


def _spans(body: str, citing: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    read = 0
    for start, end in [*citing, (len(body), len(body))]:
        between = body[read:start]
        yield from ((read + first, read + last) for first, last in sentences.spans(between))
        if start < end:
            yield start, end
        read = max(read, end)


def prefix_of(system: str, report: str = "") -> str:
    """Return the name prefix of the topics and texts of a system, or of one of its reports."""
    prefix = f"{_plain(system, _LONGEST_SYSTEM)}/"
    return f"{prefix}{_plain(report, _LONGEST_REPORT)}/" if report else prefix


def text_name(topic: str, cited: Text) -> str:
    """Return the name of a cited text within a statement; import reads the topic before ":"."""
    return f"{topic}:{_cut(cited.name, _LONGEST_TEXT - len(topic) - 1)}"


def rater_name(system: str) -> str:
    """Return a system's name as a rater: letters, digits, - and _ only."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", system)


def _plain(name: str, max_length: int) -> str:
    """Replace white space, colons and slashes in a name; distinct names stay distinct."""
    if len(name) <= max_length and _PLAIN.fullmatch(name) and name.isprintable():
        return name
    return _hashed(re.sub(r"[^\w.+-]", "_", name), name, max_length)


def _cut(name: str, max_length: int) -> str:
    if len(name) <= max_length and name.isprintable() and " " not in name:
        return name
    return _hashed(re.sub(r"[^\w.+:#-]", "_", name), name, max_length)


def _hashed(readable: str, name: str, max_length: int) -> str:
    return f"{readable[: max_length - _HASH - 1]}~{digest(name)[:_HASH]}"
