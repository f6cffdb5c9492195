"""CSV rows of citation precision and recall: one per report, the means last."""

from __future__ import annotations

from collections.abc import Iterator

from building.engine.support import COUNTS, SystemSupport
from evaluation.metrics.citation_support import MEASURES
from evaluation.result_tables import ResultTable, Row, Statistic

HEADER = (
    *("system", "grades_of", "topic", "report"),
    *("statements", "without_citation", "citations", "wrong", "unrated", "changed"),
    *(Statistic(name) for name in MEASURES),
)


def support_table(system: str, scored: SystemSupport) -> ResultTable:
    """Return citation precision and recall of each report; the row of means has no report."""
    return ResultTable(HEADER, _rows(system, scored))


def _rows(system: str, scored: SystemSupport) -> Iterator[Row]:
    grader = scored.grader.name
    for report_support in scored.reports:
        topic = report_support.report.topic.name if report_support.report.topic else ""
        yield [
            *(system, grader, topic, report_support.report.name),
            *(getattr(report_support, count) for count in COUNTS),
            *(getattr(report_support.support, name) for name in MEASURES),
        ]
    yield [
        *(system, grader, None, None),
        *scored.counts.values(),
        *(scored.means[name] for name in MEASURES),
    ]
