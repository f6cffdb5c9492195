"""A report statement by statement, each with what it cites, and with the grades of one rater for that."""

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
    """A citation: its label as written, and the number on this page of what it means, None for nothing.

    `pair` is its pair where support is graded, and `grade` the chosen rater's, in a word.
    """

    label: str
    number: int | None
    pair: Pair | None = None
    grade: str = ""


@dataclass(frozen=True)
class Said:
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
    statements: Sequence[Said]
    cited: Sequence[Cited]
    n_unknown: int
    """Citations that name nothing that the report was given."""
    support: ReportSupport | None = None
    """By the grades of the chosen rater, if there is one."""

    @property
    def n_without(self) -> int:
        """Statements that cite nothing."""
        return sum(not statement.marks for statement in self.statements)


def page_of(report: Text, grader: Grader | None = None) -> ReportPage:
    """`report` has its citations at hand, with the words of what they cite."""
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
    words = _words_of_grades() if grader else {}
    return ReportPage(
        report=report,
        statements=[
            Said(
                statement.words,
                [
                    _mark(statement, citation, number_of, pairs, words)
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
    words: Mapping[int, str],
) -> Mark:
    number = number_of.get(citation.cited_id or 0)
    name = text_name(statement.topic, citation.cited) if citation.cited else ""
    pair = pair_for(statement, name, pairs) if name in statement.pairs else None
    grade = "" if pair is None or pair.grade is None else words[pair.grade]
    return Mark(citation.label, number, pair, grade)


def _words_of_grades() -> dict[int, str]:
    levels = RubricLevel.objects.filter(rubric__slug=CITATION_SUPPORT.slug)
    return {level.grade: level.name or level.label for level in levels}


TITLES = {
    "precision": (
        "Citation precision",
        "of all citations, those that support all of their statement",
    ),
    "precision_weighted": (
        "Weighted precision",
        "the same, where a citation of partial support counts half",
    ),
    "recall": ("Citation recall", "of all statements, those that a citation supports in full"),
    "recall_weighted": (
        "Weighted recall",
        "the same, where partial support by the best citation counts half",
    ),
}


@dataclass(frozen=True)
class Measured:
    """A measure with its mean over the reports of a system."""

    title: str
    says: str
    mean: Estimate


def measured(scored: SystemSupport) -> list[Measured]:
    return [Measured(*TITLES[name], mean) for name, mean in scored.means.items()]
