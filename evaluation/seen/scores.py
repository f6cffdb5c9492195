"""Precision, recall, recall', ceiling and precision' of reports and systems: answers, then citations."""

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
from evaluation.metrics.relevance_seen import MEASURES, RelevanceSeen, relevance_seen
from evaluation.seen.lists import ListSystem, list_systems
from evaluation.seen.material import Material, Report, TopicMaterial, answered, load_material
from evaluation.seen.params import Options
from evaluation.seen.utility import UtilityRow, utility_rows
from evaluation.stats.clusters import ratio, share, without_each_topic
from evaluation.stats.estimate import Estimate
from evaluation.stats.jackknife import jackknife_interval

What = Literal["answers", "citations"]
WHATS: tuple[What, ...] = ("answers", "citations")
ALL = "all systems"
NOT_RATED = "undefined, because the report is not rated on a question that is asked"
NO_REPORT = "undefined, because no report has a value"


@dataclass(frozen=True, slots=True)
class ReportScore:
    """One report. Where `scores` is None, nothing is known of what it puts out.

    `n_out`, `n_rel` and `n_rel_prime` count items, `n_out` as the rules do. `n_passages` are those of the
    context, `n_unrated_passages` those of them without a grade, which answer nothing. Of answers
    `n_unjudged` counts the questions asked on which the report has no grade; of citations the
    cited texts without a grade.
    """

    report: Report
    topic: str
    scores: RelevanceSeen
    is_known: bool
    n_out: int
    n_rel: int
    n_passages: int
    n_unrated_passages: int
    n_unjudged: int
    n_statements: int = 0

    @property
    def n_unseen(self) -> int | None:
        """Items of the output that were not seen; None where it is not known what was."""
        return None if self.report.context is None else len(self.scores.unseen)

    @property
    def n_rel_prime(self) -> int | None:
        """Relevant items that were seen; None where it is not known what was."""
        return None if self.report.context is None else len(self.scores.rel_prime)


@dataclass(frozen=True)
class SystemScore:
    """One system, or all of them. `macro` are means over its reports, `micro` of all items together.

    In both, `n` counts what has a value (reports; items) and `missing` the reports that have none.
    """

    system: str
    reports: tuple[ReportScore, ...]
    macro: dict[str, Estimate]
    micro: dict[str, Estimate]

    @property
    def is_one(self) -> bool:
        """Whether it is a system, and not all of them together. No name of a system has a space."""
        return self.system != ALL

    @cached_property
    def n_topics(self) -> int:
        return len({each.report.topic for each in self.reports})

    @cached_property
    def n_unseen(self) -> int:
        """Items of the output that were not seen, of `n_compared`."""
        return sum(each.n_unseen or 0 for each in self.reports)

    @cached_property
    def n_compared(self) -> int:
        """Items of the output of the reports of which it is known what was seen."""
        return sum(each.n_out for each in self.reports if each.report.context is not None)

    @cached_property
    def knows_seen(self) -> bool:
        """Whether it is known of any report what was seen."""
        return any(each.report.context is not None for each in self.reports)

    @cached_property
    def n_out(self) -> int:
        return sum(each.n_out for each in self.reports)

    @cached_property
    def n_unrated_passages(self) -> int:
        return sum(each.n_unrated_passages for each in self.reports)

    @cached_property
    def n_unjudged(self) -> int:
        return sum(each.n_unjudged for each in self.reports)

    @cached_property
    def n_unknown(self) -> int:
        """Reports of which nobody rated anything: nothing is known of what they answer."""
        return sum(not each.is_known for each in self.reports)


@dataclass(frozen=True)
class Scores:
    """Rows by name of the system, with all of them together above where there are several; lists; utility."""

    rows: dict[What, tuple[SystemScore, ...]]
    left_out: dict[What, tuple[str, ...]]
    """Systems whose reports nobody rated, or that cite nothing."""
    lists: tuple[ListSystem, ...]
    utility: tuple[UtilityRow, ...]

    def row(self, what: What, system: str) -> SystemScore | None:
        """The row of a system, or of all; None where it is left out."""
        return next((row for row in self.rows[what] if row.system == system), None)


CountReport = Callable[[Material, TopicMaterial, Report, Options], ReportScore]


def scores_of(dataset: Dataset, options: Options) -> Scores:
    """The scores under these options, kept until the data change: citations too, which no other page counts."""
    citations = Citation.objects.filter(report__dataset=dataset)
    version = citations.aggregate(n=Count("pk"), newest=Max("pk"))
    return cached(dataset, ("seen", options, version), lambda: score(dataset, options))


def score(dataset: Dataset, options: Options) -> Scores:
    """Every report twice: by the questions that it answers, and by the texts that it cites.

    A report that nobody rated has no answers to count, and is missing. A system is left out of a table
    if none of its reports has anything there.
    """
    material = load_material(dataset, options)
    rows: dict[What, tuple[SystemScore, ...]] = {}
    left_out: dict[What, tuple[str, ...]] = {}
    counted: tuple[tuple[What, CountReport], ...] = (
        ("answers", of_answers),
        ("citations", of_citations),
    )
    for what, count in counted:
        by_system = defaultdict[str, list[ReportScore]](list)
        for report in material.reports:
            topic = material.topics[report.topic]
            by_system[report.system].append(count(material, topic, report, options))
        there = {
            system: reports
            for system, reports in by_system.items()
            if any(each.is_known for each in reports)
        }
        rows[what] = tuple(_systems(there))
        left_out[what] = tuple(sorted(by_system.keys() - there.keys()))
    lists, utility = list_systems(dataset, options), utility_rows(dataset, options)
    return Scores(rows, left_out, lists, utility)


def of_answers(
    material: Material, topic: TopicMaterial, report: Report, options: Options
) -> ReportScore:
    """Out: questions that the report answers; Rel: those asked, or answerable; seen: those of its context."""
    row = topic.reports.row(report.pk)
    out = answered(topic.reports, [report.pk]) & topic.asked
    rel = topic.asked if options.rel == "asked" else topic.answerable
    seen = None
    if report.context is not None:
        seen = answered(topic.passages, report.context) & topic.asked
    scores = relevance_seen(sorted(out), rel, seen, options.rules)
    asked = sorted(topic.asked)
    n_unjudged = (
        len(asked) if row is None else int(np.isnan(topic.reports.grades[row, asked]).sum())
    )
    is_known = n_unjudged < len(asked)
    return ReportScore(
        report,
        topic.name,
        scores if is_known else _unknown(NOT_RATED),
        is_known=is_known,
        n_out=len(out),
        n_rel=len(rel),
        n_passages=len(report.context or ()),
        n_unrated_passages=_unrated(topic, report.context or ()),
        n_unjudged=n_unjudged,
    )


def of_citations(
    material: Material, topic: TopicMaterial, report: Report, options: Options
) -> ReportScore:
    """Out: the texts that the report cites; Rel: those that answer a question; seen: its context.

    A citation of nothing known is an item of its own, under its label: it is neither relevant nor seen.
    """
    cited = [mark.text for mark in report.marks if mark.text is not None]
    unknown = [f"[{mark.label}]" for mark in report.marks if mark.text is None]
    out = [*material.names(cited), *unknown]
    seen = None if report.context is None else material.names(report.context)
    scores = relevance_seen(out, material.names(topic.relevant), seen, options.rules)
    distinct = set(out)
    return ReportScore(
        report,
        topic.name,
        scores,
        is_known=bool(out),
        n_out=len(out) if options.rules == "authors" else len(distinct),
        n_rel=len(topic.relevant),
        n_passages=len(report.context or ()),
        n_unrated_passages=_unrated(topic, report.context or ()),
        n_unjudged=_unrated(topic, set(cited)),
        n_statements=len({mark.statement for mark in report.marks}),
    )


def _unrated(topic: TopicMaterial, texts: Iterable[int]) -> int:
    return sum(topic.passages.row(text) is None for text in texts)


def _unknown(why: str) -> RelevanceSeen:
    none = Estimate(None, why, 0)
    return RelevanceSeen(none, none, none, none, none, (), ())


def _systems(by_system: dict[str, list[ReportScore]]) -> Iterator[SystemScore]:
    if len(by_system) > 1:
        yield _system(ALL, [each for _, reports in sorted(by_system.items()) for each in reports])
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
    values = [each.scores.measure(measure) for each in reports]
    numbers = np.array([value.value for value in values], dtype=np.float64)
    return share(numbers, ~np.isnan(numbers), _topics(reports), _why(values))


def _micro(reports: Sequence[ReportScore], measure: str) -> Estimate:
    """The share of all items of these reports together, with its interval over topics."""
    values = [each.scores.measure(measure) for each in reports]
    parts = np.array(
        [(round((value.value or 0.0) * value.n), value.n) for value in values], dtype=np.float64
    ).reshape(-1, 2)
    part, whole = parts.sum(axis=0)
    missing = sum(value.value is None for value in values)
    if not whole:
        return Estimate(None, _why(values), 0, missing)
    deleted = without_each_topic(parts, _topics(reports))
    estimate = Estimate(float(part / whole), None, int(whole), missing)
    return jackknife_interval(estimate, ratio(deleted[:, 0], deleted[:, 1])).within(0, 1)


def _topics(reports: Sequence[ReportScore]) -> np.ndarray:
    return np.array([each.report.topic for each in reports], dtype=np.int64)


def _why(values: Sequence[Estimate]) -> str:
    reasons = {value.reason for value in values if value.reason}
    return reasons.pop() if len(reasons) == 1 else NO_REPORT
