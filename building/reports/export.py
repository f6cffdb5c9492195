"""Citation precision and recall as a table: a line for each report, and the means last."""

from __future__ import annotations

from collections.abc import Iterator

from building.engine.support import COUNTS, SystemSupport
from evaluation.csv_tables import Cell, estimate_cells, estimate_header
from evaluation.metrics.citation_support import MEASURES

HEADER = (
    *("system", "grades_of", "topic", "report"),
    *("statements", "without_citation", "citations", "wrong", "unrated", "changed"),
    *(column for name in MEASURES for column in estimate_header(name)),
)


def rows(system: str, scored: SystemSupport) -> Iterator[list[Cell]]:
    """The lines under HEADER; that of the means has no topic and no report."""
    grader = scored.grader.name
    for each in scored.reports:
        topic = each.report.topic.name if each.report.topic else ""
        yield [
            *(system, grader, topic, each.report.name),
            *(getattr(each, count) for count in COUNTS),
            *(cell for name in MEASURES for cell in estimate_cells(getattr(each.support, name))),
        ]
    yield [
        *(system, grader, None, None),
        *scored.counts.values(),
        *(cell for name in MEASURES for cell in estimate_cells(scored.means[name])),
    ]
