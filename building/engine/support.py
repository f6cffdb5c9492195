"""Citation precision and recall of systems, by the grades of who graded what they cite.

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
from annotation.models.rating import name_in
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
    """Somebody who graded support in a dataset of cited pairs."""

    dataset: Dataset
    rater: Column

    @property
    def name(self) -> str:
        """As a URL and the command have it."""
        return f"{self.dataset.slug}:{self.rater.name}"

    @property
    def title(self) -> str:
        return f"{self.rater.title} in {self.dataset.slug}"

    @property
    def query(self) -> str:
        """What the pages of results are asked for, to show these grades."""
        return urlencode({"rubric": CITATION_SUPPORT.slug, "raters": self.rater.name})


@dataclass(frozen=True)
class Pair:
    """A pair of a dataset of cited pairs, with the hash of its text and the words of its statement."""

    text: int
    question: int
    sha256: str
    words: str
    grade: int | None = None


def support_datasets(dataset: Dataset, system: str) -> list[Dataset]:
    """The datasets of the project that hold what a system cites, newest first: one of its name cites there."""
    cites = Rating.objects.filter(rater=OuterRef("pk"), rubric__slug=CITES.slug)
    raters = Rater.objects.filter(Exists(cites), name=rater_name(system))
    ours = Topic.objects.filter(dataset=OuterRef("pk"), name__startswith=prefix_of(system))
    found = dataset.project.datasets.filter(Exists(ours), raters__in=raters).exclude(pk=dataset.pk)
    return list(found.order_by("-created").distinct())


def graders_of(supports: Iterable[Dataset]) -> list[Grader]:
    """Who graded support in these datasets: people and aggregates first, then judges, by name."""
    graders: list[Grader] = []
    for support in supports:
        rated = Rating.objects.of_dataset(support).filter(rubric__slug=CITATION_SUPPORT.slug)
        raters = Rater.objects.filter(pk__in=rated.order_by().values("rater").distinct())
        columns = [Column(each.pk, name_in(support, each), each.kind, JUDGE) for each in raters]
        columns.sort(key=lambda column: (column.is_judge, column.name))
        graders += [Grader(support, column) for column in columns]
    return graders


def grader_called(graders: Sequence[Grader], name: str) -> Grader:
    """The one of this name; without one the first. Raises SelectionError, which lists them."""
    if not graders:
        raise SelectionError("Nobody has graded what this system cites.")
    if not name:
        return graders[0]
    one_of("grader", name, (grader.name for grader in graders))
    return next(grader for grader in graders if grader.name == name)


def graded_pairs(support: Dataset, prefix: str, rater: int | None) -> dict[str, Pair]:
    """The pairs of a system or of a report by name, each with the grade that a rater gave to it."""
    named = Text.objects.filter(dataset=support, kind=Text.Kind.PASSAGE, name__startswith=prefix)
    rated = Rating.objects.filter(
        text__in=named, rater=rater, rubric__slug=CITATION_SUPPORT.slug
    ).order_by()
    grades = {
        (text, question): grade
        for text, question, grade in rated.values_list("text", "question", "grade")
    }
    rows = named.filter(topic__questions__position=0).order_by()
    return {
        name: Pair(text, question, sha256, words, grades.get((text, question)))
        for name, text, sha256, question, words in rows.values_list(
            "name", "pk", "sha256", "topic__questions", "topic__questions__body"
        )
    }


def pair_for(statement: Statement, name: str, pairs: Mapping[str, Pair]) -> Pair | None:
    """The pair of what a statement cites, where it is about the same words; None where there is none."""
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
    """A report under the grades of one rater. `n_changed` of its pairs are not there in these words."""

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
    """What the grades of these pairs say of a report. A pair of other words has no grade."""
    graded: list[list[float]] = []
    n_changed = 0
    for statement in statements:
        found = [pair_for(statement, name, pairs) for name in statement.pairs]
        n_changed += found.count(None)
        grades = [math.nan if not pair or pair.grade is None else pair.grade for pair in found]
        graded.append([*grades, *[0.0] * statement.n_wrong])
    every = [grade for citations in graded for grade in citations]
    return ReportSupport(
        report=report,
        support=citation_support(graded),
        n_statements=len(graded),
        n_without=sum(not citations for citations in graded),
        n_citations=len(every),
        n_wrong=sum(statement.n_wrong for statement in statements),
        n_unrated=sum(map(math.isnan, every)),
        n_changed=n_changed,
    )


@dataclass(frozen=True)
class SystemSupport:
    """The reports of a system under the grades of one rater, and the mean of each measure over them."""

    grader: Grader
    reports: tuple[ReportSupport, ...]

    @cached_property
    def means(self) -> dict[str, Estimate]:
        """By the names of MEASURES."""
        topics = [each.report.topic_id or 0 for each in self.reports]
        return {
            name: mean_over_reports([getattr(each.support, name) for each in self.reports], topics)
            for name in MEASURES
        }

    @cached_property
    def counts(self) -> dict[str, int]:
        """The sums of the counts of its reports, by their names."""
        return {name: sum(getattr(each, name) for each in self.reports) for name in COUNTS}


def system_support(dataset: Dataset, system: str, grader: Grader) -> SystemSupport:
    """All reports of a system that have words, in the order of their topics."""
    pairs = graded_pairs(grader.dataset, prefix_of(system), grader.rater.pk)
    reports = dataset.texts.with_body().filter(kind=Text.Kind.REPORT, system=system)
    in_order = with_citations(reports, with_words=False).order_by("topic__position", "pk")
    scored = (report_support(report, statements_of(report), pairs) for report in in_order)
    return SystemSupport(grader, tuple(scored))
