"""Page of Rel and Rel': tables by answers and by citations, and the lines of reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from evaluation.metrics.relevance_seen import MEASURES
from evaluation.page_tables import SortValue
from evaluation.replications.rel_recall.query import SeenQuery
from evaluation.replications.rel_recall.scores import OutputKind, ReportScore, Scores, SystemScore
from evaluation.stats.estimate import Estimate

TITLES = {
    "precision": "Precision",
    "recall": "Recall",
    "recall_seen": "Recall′",
    "ceiling": "Ceiling",
    "precision_seen": "Precision′",
}


@dataclass(frozen=True)
class Cell:
    """A measure of a system: the mean over its reports, and the share of all items together."""

    macro: Estimate
    micro: Estimate


@dataclass(frozen=True)
class Line:
    row: SystemScore
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class KindTable:
    """Table of one kind of output. `left_out` names systems without anything to count."""

    kind: OutputKind
    lines: tuple[Line, ...]
    left_out: tuple[str, ...]


def kind_tables(scores: Scores, system: str = "") -> list[KindTable]:
    """Return both tables, of all systems or of one."""
    return [
        KindTable(
            kind,
            tuple(_line(row) for row in rows if system in ("", row.system)),
            tuple(name for name in scores.left_out[kind] if system in ("", name)),
        )
        for kind, rows in scores.rows.items()
    ]


def _line(row: SystemScore) -> Line:
    return Line(row, tuple(Cell(row.macro[name], row.micro[name]) for name in MEASURES))


@dataclass(frozen=True)
class ReportLine:
    """Scores of a report by answers and by citations; None if left out of a table."""

    topic: str
    name: str
    pk: int
    scores: tuple[tuple[OutputKind, ReportScore | None, tuple[Estimate, ...]], ...]


def _first_score(measure: str, line: ReportLine) -> float | None:
    values = next(values for _, score, values in line.scores if score)
    return values[list(MEASURES).index(measure)].value


REPORT_VALUES: dict[str, Callable[[ReportLine], SortValue]] = {
    "topic": lambda line: line.topic,
    **{measure: partial(_first_score, measure) for measure in MEASURES},
}
"""Values by which the reports of a system are sorted, by column."""


def report_lines(scores: Scores, system: str) -> list[ReportLine]:
    """The reports of a system, in the order of the topics; none where it is in no table."""
    by_kind: dict[OutputKind, dict[int, ReportScore]] = {}
    for kind in scores.rows:
        row = scores.row(kind, system)
        by_kind[kind] = {score.report.pk: score for score in row.reports} if row else {}
    by_report = {pk: score for reports in by_kind.values() for pk, score in reports.items()}
    return [
        ReportLine(
            score.topic,
            score.report.name,
            pk,
            tuple(
                (
                    kind,
                    kind_score,
                    tuple(kind_score.scores.measure(name) for name in MEASURES)
                    if kind_score
                    else (),
                )
                for kind, reports in by_kind.items()
                for kind_score in [reports.get(pk)]
            ),
        )
        for pk, score in by_report.items()
    ]


def depth_words(choice: SeenQuery) -> str:
    """Return a sentence on what counts as retrieved."""
    options = choice.options
    run = f"the run {options.run}" if options.run else "the retrieval run with the system’s name"
    first = f", its first {options.depth}" if options.depth else ""
    return f"Retrieved passages: {run}{first}."
