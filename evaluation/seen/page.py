"""What the page shows: a table by answers and one by citations, of all systems or of one; and its reports."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics.relevance_seen import MEASURES
from evaluation.seen.params import SeenChoice
from evaluation.seen.scores import ReportScore, Scores, SystemScore, What
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
class ShownTable:
    """`what` as the rows of a table. `left_out` names systems of which there is nothing to count."""

    what: What
    lines: tuple[Line, ...]
    left_out: tuple[str, ...]


def shown(scores: Scores, system: str = "") -> list[ShownTable]:
    """Both tables; of one system, where one is named."""
    return [
        ShownTable(
            what,
            tuple(_line(row) for row in rows if system in ("", row.system)),
            tuple(name for name in scores.left_out[what] if system in ("", name)),
        )
        for what, rows in scores.rows.items()
    ]


def _line(row: SystemScore) -> Line:
    return Line(row, tuple(Cell(row.macro[name], row.micro[name]) for name in MEASURES))


@dataclass(frozen=True)
class ReportLine:
    """A report of a system, by answers and by citations; None where the system is left out of a table."""

    topic: str
    name: str
    pk: int
    scores: tuple[tuple[What, ReportScore | None, tuple[Estimate, ...]], ...]


def report_lines(scores: Scores, system: str) -> list[ReportLine]:
    """The reports of a system, in the order of the topics; none where it is in no table."""
    by_what: dict[What, dict[int, ReportScore]] = {}
    for what in scores.rows:
        row = scores.row(what, system)
        by_what[what] = {each.report.pk: each for each in row.reports} if row else {}
    every = {pk: each for reports in by_what.values() for pk, each in reports.items()}
    return [
        ReportLine(
            each.topic,
            each.report.name,
            pk,
            tuple(
                (
                    what,
                    found,
                    tuple(found.scores.measure(name) for name in MEASURES) if found else (),
                )
                for what, reports in by_what.items()
                for found in [reports.get(pk)]
            ),
        )
        for pk, each in every.items()
    ]


def depth_words(choice: SeenChoice) -> str:
    """What counts as seen, in a sentence."""
    options = choice.options
    which = (
        f"the run {options.run}" if options.run else "the retrieval run of each system’s own name"
    )
    first = f", its first {options.depth}" if options.depth else ""
    return f"Seen is {which}{first}."
