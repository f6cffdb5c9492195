"""Citation precision and recall of systems, from grades of their cited pairs.

The pairs are those of a dataset of cited pairs (building.engine.cited_pairs), found by their names. A grade
counts where it was given to the words that the report and the cited text have now.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Exists, OuterRef
from django.utils.http import urlencode

from annotation.models import Dataset, Rater, Rating, Text, Topic
from annotation.models.rating import rater_name_in
from annotation.models.standard import CITATION_SUPPORT, CITES
from building.engine.statements import (
    Statement,
    prefix_of,
    rater_name,
    statements_of,
    with_citations,
)
from evaluation.data.columns import JUDGE, Column
from evaluation.data.selection import SelectionError, one_of
from evaluation.metrics.citation_support import (
    MEASURES,
    CitationSupport,
    citation_support,
    mean_over_reports,
)
from evaluation.stats.estimate import Estimate


@dataclass(frozen=True)
class Grader:
    """A rater who graded support in a dataset of cited pairs."""

    dataset: Dataset
    rater: Column

    @property
    def name(self) -> str:
        """Return the name used in URLs and commands."""
        return f"{self.dataset.slug}:{self.rater.name}"

    @property
    def title(self) -> str:
        return f"{self.rater.title} in {self.dataset.slug}"

    @property
    def query(self) -> str:
        """Return the query string of the results pages for these grades."""
        return urlencode({"rubric": CITATION_SUPPORT.slug, "raters": self.rater.name})


@dataclass(frozen=True)
class Pair:
    """A cited pair, with the hash of its text and the body of its statement."""

    text: int
    question: int
    sha256: str
    words: str
    grade: int | None = None


def support_datasets(dataset: Dataset, system: str) -> list[Dataset]:
    """Return the project's datasets with a system's citations, newest first.

    The rater of the system's name cites there.
    """
    cites = Rating.objects.filter(rater=OuterRef("pk"), rubric__slug=CITES.slug)
    raters = Rater.objects.filter(Exists(cites), name=rater_name(system))
    ours = Topic.objects.filter(dataset=OuterRef("pk"), name__startswith=prefix_of(system))
    datasets = dataset.project.datasets.filter(Exists(ours), raters__in=raters).exclude(
        pk=dataset.pk
    )
    return list(datasets.order_by("-created").distinct())


def graders_of(supports: Iterable[Dataset]) -> list[Grader]:
    """Return the raters of support in these datasets: people first, then judges, by name."""
    graders: list[Grader] = []
    for support in supports:
        rated = Rating.objects.of_dataset(support).filter(rubric__slug=CITATION_SUPPORT.slug)
        raters = Rater.objects.filter(pk__in=rated.order_by().values("rater").distinct())
        columns = [
            Column(rater.pk, rater_name_in(support, rater), rater.kind, JUDGE) for rater in raters
        ]
        columns.sort(key=lambda column: (column.is_judge, column.name))
        graders += [Grader(support, column) for column in columns]
    return graders


def grader_called(graders: Sequence[Grader], name: str) -> Grader:
    """Return the grader of this name, or the first. Raises SelectionError, which lists them."""
    if not graders:
        raise SelectionError("The citations of this system have no grades.")
    if not name:
        return graders[0]
    one_of("grader", name, (grader.name for grader in graders))
    return next(grader for grader in graders if grader.name == name)


def graded_pairs(support: Dataset, prefix: str, rater: int | None) -> dict[str, Pair]:
    """Return the cited pairs with a name prefix, with the rater's grade of each."""
    passages = Text.objects.filter(dataset=support, kind=Text.Kind.PASSAGE, name__startswith=prefix)
    rated = Rating.objects.filter(
        text__in=passages, rater=rater, rubric__slug=CITATION_SUPPORT.slug
    ).order_by()
    grades = {
        (text, question): grade
        for text, question, grade in rated.values_list("text", "question", "grade")
    }
    rows = passages.filter(topic__questions__position=0).order_by()
    return {
        name: Pair(text, question, sha256, statement, grades.get((text, question)))
        for name, text, sha256, question, statement in rows.values_list(
            "name", "pk", "sha256", "topic__questions", "topic__questions__body"
        )
    }


def pair_for(statement: Statement, name: str, pairs: Mapping[str, Pair]) -> Pair | None:
    """Return the pair of a citation if its texts are unchanged, else None."""
    pair = pairs.get(name)
    is_same = (
        pair
        and pair.words == statement.words.strip()
        and pair.sha256 == statement.pairs[name].sha256
    )
    return pair if is_same else None


COUNTS = ("n_statements", "n_without", "n_citations", "n_wrong", "n_unrated", "n_changed")


@dataclass(frozen=True)
class ReportSupport:
    """Citation support of a report by one rater; `n_changed` pairs were edited or are new."""

    report: Text
    support: CitationSupport
    n_statements: int
    n_without: int
    n_citations: int
    n_wrong: int
    n_unrated: int
    n_changed: int


def report_support(
    report: Text, statements: Sequence[Statement], pairs: Mapping[str, Pair]
) -> ReportSupport:
    """Score a report by the grades of its pairs; an edited pair has no grade."""
    graded: list[list[float]] = []
    n_changed = 0
    for statement in statements:
        statement_pairs = [pair_for(statement, name, pairs) for name in statement.pairs]
        n_changed += statement_pairs.count(None)
        grades = [
            math.nan if not pair or pair.grade is None else pair.grade for pair in statement_pairs
        ]
        graded.append([*grades, *[0.0] * statement.n_wrong])
    all_grades = [grade for citations in graded for grade in citations]
    return ReportSupport(
        report=report,
        support=citation_support(graded),
        n_statements=len(graded),
        n_without=sum(not citations for citations in graded),
        n_citations=len(all_grades),
        n_wrong=sum(statement.n_wrong for statement in statements),
        n_unrated=sum(map(math.isnan, all_grades)),
        n_changed=n_changed,
    )


@dataclass(frozen=True)
class SystemSupport:
    """Citation support of a system by one rater: its reports and the means over them."""

    grader: Grader
    reports: tuple[ReportSupport, ...]

    @cached_property
    def means(self) -> dict[str, Estimate]:
        """Return the mean of each measure, by the names of MEASURES."""
        topics = [report.report.topic_id or 0 for report in self.reports]
        return {
            name: mean_over_reports(
                [getattr(report.support, name) for report in self.reports], topics
            )
            for name in MEASURES
        }

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return the sums of the reports' counts, by their names."""
        return {name: sum(getattr(report, name) for report in self.reports) for name in COUNTS}


def system_support(dataset: Dataset, system: str, grader: Grader) -> SystemSupport:
    """Score all reports of a system that have a body, in topic order."""
    pairs = graded_pairs(grader.dataset, prefix_of(system), grader.rater.pk)
    reports = dataset.texts.with_body().filter(kind=Text.Kind.REPORT, system=system)
    in_order = with_citations(reports, with_bodies=False).order_by("topic__position", "pk")
    scored = (report_support(report, statements_of(report), pairs) for report in in_order)
    return SystemSupport(grader, tuple(scored))
