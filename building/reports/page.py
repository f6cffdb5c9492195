"""Report page: each statement with its citations and one rater's grades of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Citation, Text
from annotation.models.rubric import RubricLevel
from annotation.models.standard import CITATION_SUPPORT
from building.engine.statements import Statement, prefix_of, statements_of, text_name
from building.engine.support import (
    Grader,
    Pair,
    ReportSupport,
    SystemSupport,
    graded_pairs,
    pair_for,
    report_support,
)
from evaluation.stats.estimate import Estimate


@dataclass(frozen=True)
class Mark:
    """A citation: its label as written, and its number on the page, None if unknown.

    `pair` is its pair where support is graded, and `grade` the chosen rater's, in a word.
    """

    label: str
    number: int | None
    pair: Pair | None = None
    grade: str = ""


@dataclass(frozen=True)
class StatementRow:
    words: str
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Cited:
    """A cited text, with the number of statements that cite it."""

    number: int
    text: Text
    n_statements: int


@dataclass(frozen=True)
class ReportPage:
    report: Text
    statements: Sequence[StatementRow]
    cited: Sequence[Cited]
    n_unknown: int
    """Citations of nothing that the report was given."""
    support: ReportSupport | None = None
    """Support by the grades of the chosen rater, if any."""

    @property
    def n_without(self) -> int:
        """Count the statements without a citation."""
        return sum(not statement.marks for statement in self.statements)


def page_of(report: Text, grader: Grader | None = None) -> ReportPage:
    """Build the page of a report; its citations and their texts are prefetched."""
    number_of: dict[int, int] = {}
    texts: dict[int, Text] = {}
    users = defaultdict[int, set[tuple[int, int]]](set)
    citations = list(report.citations.all())
    for citation in citations:
        if citation.cited:
            pk = citation.cited.pk
            number_of.setdefault(pk, len(number_of) + 1)
            texts[pk] = citation.cited
            users[pk].add((citation.start, citation.end))
    statements = statements_of(report)
    pairs: dict[str, Pair] = {}
    if grader:
        pairs = graded_pairs(grader.dataset, prefix_of(report.system, report.name), grader.rater.pk)
    grade_names = _grade_names() if grader else {}
    return ReportPage(
        report=report,
        statements=[
            StatementRow(
                statement.words,
                [
                    _mark(statement, citation, number_of, pairs, grade_names)
                    for citation in statement.citations
                ],
            )
            for statement in statements
        ],
        cited=[Cited(n, texts[pk], len(users[pk])) for pk, n in number_of.items()],
        n_unknown=sum(citation.cited_id is None for citation in citations),
        support=report_support(report, statements, pairs) if grader else None,
    )


def _mark(
    statement: Statement,
    citation: Citation,
    number_of: Mapping[int, int],
    pairs: Mapping[str, Pair],
    grade_names: Mapping[int, str],
) -> Mark:
    number = number_of.get(citation.cited_id or 0)
    name = text_name(statement.topic, citation.cited) if citation.cited else ""
    pair = pair_for(statement, name, pairs) if name in statement.pairs else None
    grade = "" if pair is None or pair.grade is None else grade_names[pair.grade]
    return Mark(citation.label, number, pair, grade)


def _grade_names() -> dict[int, str]:
    levels = RubricLevel.objects.filter(rubric__slug=CITATION_SUPPORT.slug)
    return {level.grade: level.name or level.label for level in levels}


TITLES = {
    "precision": (
        "Citation precision",
        "share of citations that fully support their statement",
    ),
    "precision_weighted": (
        "Weighted precision",
        "the same, with partial support as one half",
    ),
    "recall": ("Citation recall", "share of statements that a citation fully supports"),
    "recall_weighted": (
        "Weighted recall",
        "the same, with partial support by the best citation as one half",
    ),
}


@dataclass(frozen=True)
class MeasureRow:
    """A citation measure with its mean over the reports of a system."""

    title: str
    says: str
    mean: Estimate


def measure_rows(scored: SystemSupport) -> list[MeasureRow]:
    return [MeasureRow(*TITLES[name], mean) for name, mean in scored.means.items()]
