"""A report sentence by sentence, each with what it cites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Citation, Text
from building.writing import sentences


@dataclass(frozen=True)
class Mark:
    """A citation: its label as written, and the number on this page of what it means, None for nothing."""

    label: str
    number: int | None


@dataclass(frozen=True)
class Statement:
    words: str
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Cited:
    """A text that the report cites, with how many of its statements do."""

    number: int
    text: Text
    n_statements: int


@dataclass(frozen=True)
class ReportPage:
    report: Text
    statements: Sequence[Statement]
    cited: Sequence[Cited]
    n_unknown: int
    """Citations that name nothing that the report was given."""

    @property
    def n_without(self) -> int:
        """Statements that cite nothing."""
        return sum(not statement.marks for statement in self.statements)


def page_of(report: Text) -> ReportPage:
    citations = list(report.citations.select_related("cited"))
    number_of: dict[int, int] = {}
    texts: dict[int, Text] = {}
    for citation in citations:
        if citation.cited:
            number_of.setdefault(citation.cited.pk, len(number_of) + 1)
            texts[citation.cited.pk] = citation.cited
    by_place = defaultdict[tuple[int, int], list[Citation]](list)
    for citation in citations:
        by_place[citation.start, citation.end].append(citation)
    body = report.body or ""
    statements = [
        Statement(
            body[start:end],
            [Mark(each.label, number_of.get(each.cited_id or 0)) for each in by_place[start, end]],
        )
        for start, end in _places(body, list(by_place))
    ]
    users = defaultdict[int, set[tuple[int, int]]](set)
    for citation in citations:
        users[citation.cited_id or 0].add((citation.start, citation.end))
    return ReportPage(
        report=report,
        statements=statements,
        cited=[Cited(n, texts[pk], len(users[pk])) for pk, n in number_of.items()],
        n_unknown=sum(citation.cited_id is None for citation in citations),
    )


def _places(body: str, cited: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The statements that cite, and the sentences of the words between them."""
    places: list[tuple[int, int]] = []
    read = 0
    for start, end in [*sorted(cited), (len(body), len(body))]:
        between = body[read:start]
        places += [(read + first, read + last) for first, last in sentences.spans(between)]
        if start < end:
            places.append((start, end))
        read = max(read, end)
    return places
