"""Reader and writer of values*.jsonl: externally computed values of reports.

A line: {"topic", "system", "measure", "value"}.
"""

from collections.abc import Iterator, Sequence

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import ValueRow
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Text
from evaluation.models import ReportValue
from evaluation.scoring.generations import OWN_MEASURES

_BATCH = 500
Line = tuple[int, ValueRow]


def read(target: Target, source: Source) -> None:
    """Keep the values that are new. Another value than the one that is there is an error."""
    stored_here: set[tuple[int, str]] = set()
    for batch in batches(rows(target, source, ValueRow), _BATCH):
        reports = _reports(target, batch)
        stored = ReportValue.objects.filter(report__in=reports.values())
        values = {
            (report, measure): value
            for report, measure, value in stored.values_list("report_id", "measure", "value")
        }
        new: list[ReportValue] = []
        for line, row in batch:
            report = reports.get((row.system, _name(row)))
            if row.measure in OWN_MEASURES:
                message = f"{row.measure} is what the grid computes itself: call it otherwise"
                target.problem(source, line, "measure", message)
            elif report is None:
                message = f"{quoted_value(row.system)} has no report {quoted_value(_name(row))}"
                target.problem(source, line, "topic", message)
            elif (stored_value := values.get((report, row.measure))) is None:
                values[report, row.measure] = row.value
                new.append(ReportValue(report_id=report, measure=row.measure, value=row.value))
            elif stored_value != row.value:
                message = f"is there already as {stored_value}"
                refuses = (report, row.measure) not in stored_here
                target.problem(source, line, "value", message, refuses=refuses)
                continue
            else:
                target.summary.file(source.name).unchanged += 1
            if report is not None:
                stored_here.add((report, row.measure))
        ReportValue.objects.bulk_create(new)
        target.summary.file(source.name).created += len(new)
        target.summary.created["values of reports"] += len(new)


def _name(row: ValueRow) -> str:
    return row.name or row.topic


def _reports(target: Target, batch: Sequence[Line]) -> dict[tuple[str, str], int]:
    """The keys of the reports of these lines, by system and name."""
    reports = Text.objects.filter(
        dataset=target.dataset,
        kind=Text.Kind.REPORT,
        system__in={row.system for _, row in batch},
        name__in={_name(row) for _, row in batch},
    )
    return {(system, name): pk for system, name, pk in reports.values_list("system", "name", "pk")}


def lines(dataset: Dataset) -> Iterator[str]:
    """The values by system, name of the report, and measure; of reports of a topic."""
    values = ReportValue.objects.filter(report__dataset=dataset, report__topic__isnull=False)
    ordered = values.order_by(
        by_code_point("report__system"), by_code_point("report__name"), by_code_point("measure")
    )
    for topic, system, name, measure, value in ordered.values_list(
        "report__topic__name", "report__system", "report__name", "measure", "value"
    ).iterator(chunk_size=_BATCH):
        yield json_line(
            {"topic": topic, "system": system, "name": name, "measure": measure, "value": value}
        )
