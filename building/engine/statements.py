"""The statements of a report with what each cites, and what they are called in a dataset of cited pairs."""

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
_HASH = 16  # characters of a digest that take the place of what is cut
# With a number of up to 18 digits behind them, what is left of the 200 of a topic's name.
_LONGEST_SYSTEM, _LONGEST_REPORT = 120, 60
_LONGEST_TEXT = Text._meta.get_field("name").max_length or 0


@dataclass(frozen=True)
class Statement:
    """Words of a report and the citations of them, in their order.

    `topic` is what its topic is called in a dataset of cited pairs; "" where it cites nothing at all.
    """

    words: str
    citations: tuple[Citation, ...] = ()
    topic: str = ""

    @cached_property
    def pairs(self) -> dict[str, Text]:
        """What it cites, each text once, by the name that it has for this statement alone.

        None where there are no words that anything could support.
        """
        cited = [citation.cited for citation in self.citations if citation.cited]
        return {text_name(self.topic, each): each for each in cited} if self.words.strip() else {}

    @property
    def n_wrong(self) -> int:
        """Its citations that are no pair, each label once: of nothing known, or of no words."""
        return len({each.label for each in self.citations if not (self.pairs and each.cited_id)})


def with_citations(reports: QuerySet[Text], *, with_words: bool) -> QuerySet[Text]:
    """Reports as `statements_of` reads them; `with_words` also the words of what they cite."""
    citations = Citation.objects.select_related("cited").order_by("position")
    if not with_words:
        citations = citations.defer("cited__body")
    return reports.select_related("topic").prefetch_related(Prefetch("citations", citations))


def statements_of(report: Text) -> list[Statement]:
    """All of a report, in order: the statements that cite, and the sentences of the words between them.

    Those that cite are numbered from 1 in their names: where sentences end does not move a number.
    """
    by_place = defaultdict[tuple[int, int], list[Citation]](list)
    for citation in report.citations.all():
        by_place[citation.start, citation.end].append(citation)
    body = report.body or ""
    prefix = prefix_of(report.system, report.name)
    numbers = {place: number for number, place in enumerate(sorted(by_place), 1)}
    return [
        Statement(body[slice(*place)], tuple(by_place[place]), f"{prefix}{numbers[place]}")
        if place in numbers
        else Statement(body[slice(*place)])
        for place in _places(body, sorted(by_place))
    ]


def _places(body: str, citing: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    read = 0
    for start, end in [*citing, (len(body), len(body))]:
        between = body[read:start]
        yield from ((read + first, read + last) for first, last in sentences.spans(between))
        if start < end:
            yield start, end
        read = max(read, end)


def prefix_of(system: str, report: str = "") -> str:
    """What the names of topics and texts begin with that are of a system, or of one report of it."""
    prefix = f"{_plain(system, _LONGEST_SYSTEM)}/"
    return f"{prefix}{_plain(report, _LONGEST_REPORT)}/" if report else prefix


def text_name(topic: str, cited: Text) -> str:
    """What a cited text is called for one statement; import takes what is before the colon for its topic."""
    return f"{topic}:{_cut(cited.name, _LONGEST_TEXT - len(topic) - 1)}"


def rater_name(system: str) -> str:
    """What a system is called as a rater, whose names have letters, digits, - and _ alone."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", system)


def _plain(name: str, most: int) -> str:
    """A name without white space, colons and slashes; two different ones stay different."""
    if len(name) <= most and _PLAIN.fullmatch(name) and name.isprintable():
        return name
    return _hashed(re.sub(r"[^\w.+-]", "_", name), name, most)


def _cut(name: str, most: int) -> str:
    if len(name) <= most and name.isprintable() and " " not in name:
        return name
    return _hashed(re.sub(r"[^\w.+:#-]", "_", name), name, most)


def _hashed(shown: str, name: str, most: int) -> str:
    return f"{shown[: most - _HASH - 1]}~{digest(name)[:_HASH]}"
