"""reports_cited.jsonl: reports of any system, with statements that cite texts.

Also the target of TREC RAG's and RAGTIME's reports.
"""

from collections.abc import Iterator, Sequence

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import CitedRow
from annotation.formats.reports import SYSTEM
from annotation.formats.storing import ImportedText, store_texts
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Citation, Dataset, Text

_BATCH = 200
_LONGEST_LABEL = 250
Line = tuple[int, CitedRow]


def read(target: Target, source: Source) -> None:
    """Create the reports, named after their topics, and citations of those without any."""
    for batch in batches(rows(target, source, CitedRow), _BATCH):
        sound = [(line, row) for line, row in batch if _is_sound(target, source, line, row)]
        incoming = [
            ImportedText(
                line, "body", _name(row), row.body, target.topics[row.topic].pk, row.system
            )
            for line, row in sound
        ]
        store_texts(target, source, Text.Kind.REPORT, incoming)
        if not target.problems:
            stored = [(line, row) for line, row in sound if not target.is_left_out(source, line)]
            _cite(target, source, stored)


def _is_sound(target: Target, source: Source, line: int, row: CitedRow) -> bool:
    if not target.topic(source, line, "topic", row.topic):
        return False
    if not SYSTEM.fullmatch(row.system):
        message = f"{quoted_value(row.system)} is no name of a system: letters, digits and . _ + -"
        target.problem(source, line, "system", message)
        return False
    wrong = next((s for s in row.statements if not s.start < s.end <= len(row.body)), None)
    if wrong:
        message = f"{wrong.start} to {wrong.end} is no part of a body of {len(row.body)} signs"
        target.problem(source, line, "statements", message)
        return False
    return True


def _name(row: CitedRow) -> str:
    return row.name or row.topic


def _cite(target: Target, source: Source, batch: Sequence[Line]) -> None:
    """Create citations. A cited text that is missing is created without a body."""
    cited = target.passages(
        name
        for _, row in batch
        for statement in row.statements
        for _, name in statement.cited
        if name is not None
    )
    reports = _without_citations(target, batch)
    new = [
        citation
        for key, row in {(row.system, _name(row)): row for _, row in batch}.items()
        if key in reports
        for citation in _citations(reports[key], row, cited)
    ]
    for batch_of_new in batches(new, LOOK_UP):
        Citation.objects.bulk_create(batch_of_new)
    if new:
        target.summary.file(source.name).created += len(new)
        target.summary.created["citations"] += len(new)


def _without_citations(target: Target, batch: Sequence[Line]) -> dict[tuple[str, str], int]:
    """Return the keys of these lines' reports without citations, by system and name."""
    texts = Text.objects.filter(
        dataset=target.dataset,
        kind=Text.Kind.REPORT,
        system__in={row.system for _, row in batch},
        name__in={_name(row) for _, row in batch},
        citations=None,
    )
    return {(system, name): pk for system, name, pk in texts.values_list("system", "name", "pk")}


def _citations(report: int, row: CitedRow, cited: dict[str, int]) -> Iterator[Citation]:
    position = 0
    for statement in row.statements:
        for label, name in statement.cited:
            yield Citation(
                report_id=report,
                position=position,
                start=statement.start,
                end=statement.end,
                label=label[:_LONGEST_LABEL],
                cited_id=None if name is None else cited[name],
            )
            position += 1


def lines(dataset: Dataset, systems: Sequence[str]) -> Iterator[str]:
    """Yield the reports of these systems with a body, and their citations, by system and name."""
    reports = (
        dataset.texts.with_body()
        .filter(kind=Text.Kind.REPORT, system__in=systems, topic__isnull=False)
        .select_related("topic")
        .prefetch_related("citations__cited")
        .order_by("system", by_code_point("name"))
    )
    for report in reports.iterator(chunk_size=_BATCH):
        assert report.topic is not None
        cited: dict[tuple[int, int], list[tuple[str, str | None]]] = {}
        for citation in report.citations.all():
            name = citation.cited.name if citation.cited else None
            cited.setdefault((citation.start, citation.end), []).append((citation.label, name))
        yield json_line(
            {
                "topic": report.topic.name,
                "system": report.system,
                "name": report.name,
                "body": report.body,
                "statements": [
                    {"start": start, "end": end, "cited": marks}
                    for (start, end), marks in cited.items()
                ],
            }
        )
