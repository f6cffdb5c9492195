"""Precision and recall against Rel and Rel' of reports and systems.

Computed for answers and for citations, with the ceiling.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from django.db.models import Count, Max

from annotation.models import Citation, Dataset
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.metrics.relevance_seen import MEASURES, RelevanceSeen, relevance_seen
from evaluation.replications.rel_recall.lists import ListSystem, list_systems
from evaluation.replications.rel_recall.material import (
    Material,
    Report,
    TopicMaterial,
    answered,
    load_material,
)
from evaluation.replications.rel_recall.query import Options
from evaluation.replications.rel_recall.utility import UtilityRow, utility_rows
from evaluation.stats.clusters import leave_one_topic_out_sums, ratio, share
from evaluation.stats.estimate import Estimate
from evaluation.stats.jackknife import jackknife_interval

OutputKind = Literal["answers", "citations"]
OUTPUT_KINDS: tuple[OutputKind, ...] = ("answers", "citations")
ALL_SYSTEMS = "all systems"
NOT_RATED = "undefined, because the report has no ratings on a question that is not filtered"
NO_REPORT = "undefined, because no report has a value"


@dataclass(frozen=True, slots=True)
class ReportScore:
    """Scores of one report. They are undefined where its output is unknown.

    `n_out`, `n_rel` and `n_rel_prime` count items, `n_out` as the rules do. `n_passages` are those of the
    context, `n_unrated_passages` those of them without a grade, which answer nothing. Of answers
    `n_unjudged` counts the questions asked on which the report has no grade; of citations the
    cited texts without a grade.
    """

    report: Report
    topic: str
    scores: RelevanceSeen
    is_countable: bool
    n_out: int
    n_rel: int
    n_passages: int
    n_unrated_passages: int
    n_unjudged: int
    n_statements: int = 0

    @property
    def n_unseen(self) -> int | None:
        """Number of output items that were not retrieved; None where the context is unknown."""
        return None if self.report.context is None else len(self.scores.not_retrieved)

    @property
    def n_rel_prime(self) -> int | None:
        """Number of relevant items that were retrieved; None where the context is unknown."""
        return None if self.report.context is None else len(self.scores.rel_prime)


@dataclass(frozen=True)
class SystemScore:
    """Scores of one system, or of all: `macro` are means over reports, `micro` pool all items.

    In both, `n` counts what has a value (reports; items) and `missing` the reports that have none.
    """

    system: str
    reports: tuple[ReportScore, ...]
    macro: dict[str, Estimate]
    micro: dict[str, Estimate]

    @property
    def is_one(self) -> bool:
        """Return True for a single system, False for all together, whose name has a space."""
        return self.system != ALL_SYSTEMS

    @cached_property
    def n_topics(self) -> int:
        return len({score.report.topic for score in self.reports})

    @cached_property
    def n_unseen(self) -> int:
        """Number of output items that were not retrieved, of `n_compared`."""
        return sum(report.n_unseen or 0 for report in self.reports)

    @cached_property
    def n_compared(self) -> int:
        """Number of output items in reports with a known context."""
        return sum(score.n_out for score in self.reports if score.report.context is not None)

    @cached_property
    def knows_seen(self) -> bool:
        """Return True if the context of a report is known."""
        return any(score.report.context is not None for score in self.reports)

    @cached_property
    def n_out(self) -> int:
        return sum(report.n_out for report in self.reports)

    @cached_property
    def n_unrated_passages(self) -> int:
        return sum(report.n_unrated_passages for report in self.reports)

    @cached_property
    def n_unjudged(self) -> int:
        return sum(report.n_unjudged for report in self.reports)

    @cached_property
    def n_unknown(self) -> int:
        """Number of reports without any rating, whose answers are unknown."""
        return sum(not report.is_countable for report in self.reports)


@dataclass(frozen=True)
class Scores:
    """Rows by name of the system, preceded by all systems together if there are several.

    With the scores of lists and of utility.
    """

    rows: dict[OutputKind, tuple[SystemScore, ...]]
    left_out: dict[OutputKind, tuple[str, ...]]
    """Systems whose reports nobody rated, or that cite nothing."""
    lists: tuple[ListSystem, ...]
    utility: tuple[UtilityRow, ...]

    def row(self, kind: OutputKind, system: str) -> SystemScore | None:
        """Return the row of a system, or of all; None where it is left out."""
        return next((row for row in self.rows[kind] if row.system == system), None)


CountReport = Callable[[Material, TopicMaterial, Report, Options], ReportScore]


def scores_of(dataset: Dataset, options: Options) -> Scores:
    """Return the scores under these options, cached until the data or citations change."""
    citations = Citation.objects.filter(report__dataset=dataset)
    version = citations.aggregate(n=Count("pk"), newest=Max("pk"))
    return cached(dataset, (CacheKey.REL_RECALL, options, version), lambda: score(dataset, options))


def score(dataset: Dataset, options: Options) -> Scores:
    """Score all reports by the questions that they answer, and by the texts that they cite.

    A report that nobody rated has no answers to count, and is missing. A system is left out of a table
    if none of its reports has anything there.
    """
    material = load_material(dataset, options)
    rows: dict[OutputKind, tuple[SystemScore, ...]] = {}
    left_out: dict[OutputKind, tuple[str, ...]] = {}
    counted: tuple[tuple[OutputKind, CountReport], ...] = (
        ("answers", of_answers),
        ("citations", of_citations),
    )
    for kind, count in counted:
        by_system = defaultdict[str, list[ReportScore]](list)
        for report in material.reports:
            topic = material.topics[report.topic]
            by_system[report.system].append(count(material, topic, report, options))
        with_items = {
            system: reports
            for system, reports in by_system.items()
            if any(report_score.is_countable for report_score in reports)
        }
        rows[kind] = tuple(_systems(with_items))
        left_out[kind] = tuple(sorted(by_system.keys() - with_items.keys()))
    lists, utility = list_systems(dataset, options), utility_rows(dataset, options)
    return Scores(rows, left_out, lists, utility)


def of_answers(
    material: Material, topic: TopicMaterial, report: Report, options: Options
) -> ReportScore:
    """Score a report by its answers, against Rel and Rel'.

    Out: questions that it answers; Rel: unfiltered or answerable questions; Rel': those of Rel that
    its context answers.
    """
    row = topic.reports.row(report.pk)
    out = answered(topic.reports, [report.pk]) & topic.unfiltered
    rel = topic.unfiltered if options.rel == "asked" else topic.answerable
    retrieved = None
    if report.context is not None:
        retrieved = answered(topic.passages, report.context) & topic.unfiltered
    scores = relevance_seen(sorted(out), rel, retrieved, options.rules)
    positions = sorted(topic.unfiltered)
    n_unjudged = (
        len(positions) if row is None else int(np.isnan(topic.reports.grades[row, positions]).sum())
    )
    is_countable = n_unjudged < len(positions)
    return ReportScore(
        report,
        topic.name,
        scores if is_countable else _unknown(NOT_RATED),
        is_countable=is_countable,
        n_out=len(out),
        n_rel=len(rel),
        n_passages=len(report.context or ()),
        n_unrated_passages=_unrated(topic, report.context or ()),
        n_unjudged=n_unjudged,
    )


def of_citations(
    material: Material, topic: TopicMaterial, report: Report, options: Options
) -> ReportScore:
    """Score a report by its citations, against Rel and Rel'.

    Out: texts that it cites; Rel: passages that answer a question; Rel': those in its context.

    A citation of nothing known is an item of its own, under its label: it is neither relevant nor seen.
    """
    cited = [mark.text for mark in report.marks if mark.text is not None]
    unknown = [f"[{mark.label}]" for mark in report.marks if mark.text is None]
    out = [*material.names(cited), *unknown]
    retrieved = None if report.context is None else material.names(report.context)
    scores = relevance_seen(out, material.names(topic.relevant), retrieved, options.rules)
    distinct = set(out)
    return ReportScore(
        report,
        topic.name,
        scores,
        is_countable=bool(out),
        n_out=len(out) if options.rules == "authors" else len(distinct),
        n_rel=len(topic.relevant),
        n_passages=len(report.context or ()),
        n_unrated_passages=_unrated(topic, report.context or ()),
        n_unjudged=_unrated(topic, set(cited)),
        n_statements=len({mark.statement for mark in report.marks}),
    )


def _unrated(topic: TopicMaterial, texts: Iterable[int]) -> int:
    return sum(topic.passages.row(text) is None for text in texts)


def _unknown(reason: str) -> RelevanceSeen:
    none = Estimate(None, reason, 0)
    return RelevanceSeen(none, none, none, none, none, (), ())


def _systems(by_system: dict[str, list[ReportScore]]) -> Iterator[SystemScore]:
    if len(by_system) > 1:
        yield _system(
            ALL_SYSTEMS, [report for _, reports in sorted(by_system.items()) for report in reports]
        )
    for system, reports in sorted(by_system.items()):
        yield _system(system, reports)


def _system(name: str, reports: Sequence[ReportScore]) -> SystemScore:
    return SystemScore(
        name,
        tuple(reports),
        {measure: _macro(reports, measure) for measure in MEASURES},
        {measure: _micro(reports, measure) for measure in MEASURES},
    )


def _macro(reports: Sequence[ReportScore], measure: str) -> Estimate:
    """The mean over reports that have the measure, with its interval over topics."""
    values = [report.scores.measure(measure) for report in reports]
    numbers = np.array([value.value for value in values], dtype=np.float64)
    return share(numbers, ~np.isnan(numbers), _topics(reports), _undefined_reason(values))


def _micro(reports: Sequence[ReportScore], measure: str) -> Estimate:
    """The share of all items of these reports together, with its interval over topics."""
    values = [report.scores.measure(measure) for report in reports]
    parts = np.array(
        [(round((value.value or 0.0) * value.n), value.n) for value in values], dtype=np.float64
    ).reshape(-1, 2)
    part, whole = parts.sum(axis=0)
    missing = sum(value.value is None for value in values)
    if not whole:
        return Estimate(None, _undefined_reason(values), 0, missing)
    deleted = leave_one_topic_out_sums(parts, _topics(reports))
    estimate = Estimate(float(part / whole), None, int(whole), missing)
    return jackknife_interval(estimate, ratio(deleted[:, 0], deleted[:, 1])).within(0, 1)


def _topics(reports: Sequence[ReportScore]) -> np.ndarray:
    return np.array([score.report.topic for score in reports], dtype=np.int64)


def _undefined_reason(values: Sequence[Estimate]) -> str:
    reasons = {value.reason for value in values if value.reason}
    return reasons.pop() if len(reasons) == 1 else NO_REPORT
