"""Retrieval runs by relevance grades: parameters of page and command, and their tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django import forms

from annotation.decimals import decimals
from annotation.models import Dataset
from annotation.plurals import n_of
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.data.filter_line import Phrase
from evaluation.data.query import OneOf, PageQuery, parameter
from evaluation.data.relevance import RelevanceSource, relevance_source, relevance_sources
from evaluation.data.selection import SelectionError
from evaluation.result_tables import ResultTable, Statistic
from evaluation.retrieval.differences import PairTest, pair_tests
from evaluation.retrieval.export import tests_table
from evaluation.retrieval.leaderboard import ANY, SAME
from evaluation.scoring.options import ALL, NONE, OF_RUNS, SIZE
from evaluation.scoring.relevance import (
    DEPTH,
    MEASURES,
    NDCG,
    RelevanceOptions,
    RelevanceRow,
    RelevanceScores,
    relevance_scores,
)
from evaluation.scoring.same_topics import on_same_topics

DEPTHS = ("5", "10", "20", "100", "1000", SIZE)
ZEROS = {OF_RUNS: "count as 0", NONE: "are left out"}
TOPICS = {SAME: "runs on the same topics", ANY: "all runs"}


class Depth(forms.Field):
    """Form field for a cut-off of a run: a rank, or `size` for None."""

    def clean(self, value: Any) -> int | None:
        text = value or str(DEPTH)
        if text == SIZE:
            return None
        if re.fullmatch(r"[0-9]{1,7}", text) and int(text) > 0:
            return int(text)
        raise SelectionError(
            f"There is no cut-off “{text}” of relevance grades. There are: {', '.join(DEPTHS)}, or another "
            "whole number from 1."
        )


class RelevanceQuery(PageQuery):
    """Parameters of the page, and of `manage.py score` by relevance grades."""

    only_given = True

    source: RelevanceSource = parameter(forms.CharField(required=False, strip=False))
    eta: int = parameter(OneOf("eta", coerce=int))
    depth: int | None = parameter(Depth(required=False), "cutoff")
    zeros: str = parameter(
        OneOf("choice for topics without results", (*ZEROS, ALL), initial=OF_RUNS)
    )
    metric: str = parameter(OneOf("measure", MEASURES, initial=NDCG))
    topics: str = parameter(OneOf("choice of topics", TOPICS, initial=SAME))

    def __init__(self, dataset: Dataset, params: Mapping[str, Any]) -> None:
        self.dataset = dataset
        self.graded_by = relevance_source(dataset, params.get("source"))
        super().__init__(params, eta=self.graded_by.levels)

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        return values | {
            "source": self.graded_by,
            "eta": self.graded_by.eta if values["eta"] is None else values["eta"],
            "zeros": NONE if values["zeros"] == NONE else OF_RUNS,
        }

    @cached_property
    def options(self) -> RelevanceOptions:
        return RelevanceOptions(self.source, self.eta, self.depth, self.zeros)

    def filter_phrases(self) -> Iterator[Phrase]:
        yield Phrase(f"grades of {self.source.title}")
        yield Phrase(f"relevant from grade {self.eta}")
        yield Phrase(f"first {n_of(self.depth, 'rank')}" if self.depth else "whole runs")
        if self.zeros == NONE:
            yield Phrase("topics without results left out")
        if self.topics != SAME:
            yield Phrase("runs on any topics")

    @property
    def sources(self) -> tuple[RelevanceSource, ...]:
        return relevance_sources(self.dataset)

    @property
    def titles(self) -> Mapping[str, str]:
        return self.options.titles

    @property
    def metric_title(self) -> str:
        return self.titles[self.metric]

    @property
    def cutoff(self) -> str:
        return str(self.depth or SIZE)

    @property
    def cutoffs(self) -> list[tuple[str, str]]:
        depths = DEPTHS if self.cutoff in DEPTHS else (self.cutoff, *DEPTHS)
        return [(name, "all of a run" if name == SIZE else f"rank {name}") for name in depths]

    @property
    def zero_choices(self) -> list[tuple[str, str]]:
        return list(ZEROS.items())


def relevance_query(dataset: Dataset, params: Mapping[str, Any]) -> RelevanceQuery | None:
    """Parse the parameters of a URL; None if no passage is graded for a whole topic.

    Raises SelectionError, which lists the choices, for a choice that does not exist.
    """
    return RelevanceQuery(dataset, params).parse() if relevance_sources(dataset) else None


@dataclass(frozen=True)
class RelevanceGroup:
    """Runs of the table, the best first; those apart are on other topics than most."""

    title: str
    rows: tuple[RelevanceRow, ...]
    is_on_other_topics: bool


@dataclass(frozen=True)
class RelevancePage:
    """The runs by group, and tests of all pairs of the compared runs by the chosen measure."""

    scores: RelevanceScores
    groups: tuple[RelevanceGroup, ...]
    metric: str
    tests: tuple[PairTest, ...]

    @property
    def defined_tests(self) -> list[PairTest]:
        """Tests of pairs with a common topic."""
        return [test for test in self.tests if test.difference.value is not None]

    @property
    def n_undefined(self) -> int:
        return len(self.tests) - len(self.defined_tests)


def relevance_page(choice: RelevanceQuery) -> RelevancePage:
    """Return the numbers of a state of the page, cached until the data change."""
    scores = relevance_scores(choice.dataset, choice.options)
    comparable = scores.rows if choice.topics == ANY else on_same_topics(scores.rows)
    names = {row.name for row in comparable}
    other_rows = tuple(row for row in scores.rows if row.name not in names)
    key = (CacheKey.RELEVANCE_TESTS, choice.options, choice.topics, choice.metric)
    tests = cached(choice.dataset, key, lambda: pair_tests(comparable, choice.metric))
    groups = (
        RelevanceGroup(
            "Retrieval runs", _ordered(comparable, choice.metric), is_on_other_topics=False
        ),
        RelevanceGroup(
            "Retrieval runs on fewer or other topics: not compared with those above",
            _ordered(other_rows, choice.metric),
            is_on_other_topics=True,
        ),
    )
    filled = tuple(group for group in groups if group.rows)
    return RelevancePage(scores, filled, choice.metric, tests)


def _ordered(rows: Iterable[RelevanceRow], metric: str) -> tuple[RelevanceRow, ...]:
    def key(row: RelevanceRow) -> tuple[bool, float, str]:
        value = row.means[metric].value
        return value is None, -(value or 0.0), row.name

    return tuple(sorted(rows, key=key))


def relevance_table(page: RelevancePage) -> ResultTable:
    """Return the means of each run, a line a run."""
    header = ["name", "topics", "topics_without_results", "is_compared"]
    header += map(Statistic, page.scores.options.measures)
    return ResultTable(
        header,
        (
            [
                *(row.name, row.n_topics, row.n_absent, not group.is_on_other_topics),
                *(row.means[m] for m in page.scores.options.measures),
            ]
            for group in page.groups
            for row in group.rows
        ),
    )


def relevance_topics_table(page: RelevancePage) -> ResultTable:
    """Return a row for each run and topic with results, or with something to find."""
    scores = page.scores
    measures = scores.options.measures

    def lines() -> Iterator[list[Any]]:
        for row in scores.rows:
            for index in (row.has | row.judged).nonzero()[0].tolist():
                values = [float(row.of(measure)[index]) for measure in measures]
                defined = [value if value == value else None for value in values]
                yield [
                    *(row.name, scores.topics[index], bool(row.has[index])),
                    *(int(row.n_unjudged[index]), *defined),
                ]

    return ResultTable(["name", "topic", "has_results", "unjudged", *measures], lines())


def relevance_tests_table(page: RelevancePage) -> ResultTable:
    """Return a row for each pair of compared runs."""
    return tests_table(page.tests, page.metric)


TABLES = {
    "runs": relevance_table,
    "topics": relevance_topics_table,
    "tests": relevance_tests_table,
}


WIDTH = 34  # of a name in a table
COLUMN = 12


def relevance_lines(slug: str, scores: RelevanceScores) -> Iterator[str]:
    """Yield the scores as a table of plain text; of a single run its topics too."""
    options = scores.options
    depth = f"rank {options.depth}" if options.depth else "the end"
    yield f"{slug}: grades of {options.source.title}, relevant from {options.eta}, runs to {depth}"
    yield "MAP and MRR of the whole run; rankings by score, equal scores in the order of the file"
    yield ""
    yield _line("", options.titles.values(), "topics")
    comparable = on_same_topics(scores.rows)
    if len(scores.rows) == 1:
        (row,) = scores.rows
        for index in (row.has | row.absent).nonzero()[0].tolist():
            values = [float(row.of(measure)[index]) for measure in options.measures]
            yield _line(scores.topics[index], map(_number, values), "")
    for row in comparable:
        yield from _means(row, scores)
    if len(comparable) < len(scores.rows):
        yield from ("", "On other topics than most runs:")
        names = {row.name for row in comparable}
        for row in scores.rows:
            if row.name not in names:
                yield from _means(row, scores)
    yield from ("", *scores.notes)


def _means(row: RelevanceRow, scores: RelevanceScores) -> Iterator[str]:
    means = [row.means[measure] for measure in scores.options.measures]
    yield _line(row.name, (_number(mean.value) for mean in means), str(row.n_topics))
    if any(mean.low is not None for mean in means):
        for label, ends in (
            ("  95%, from", [mean.low for mean in means]),
            ("  95%, to", [mean.high for mean in means]),
        ):
            yield _line(label, ("" if end is None else decimals(end, 3) for end in ends), "")
    if row.n_absent:
        yield f"{'':{WIDTH}} {row.absent_remark}"
    for reason in dict.fromkeys(mean.reason for mean in means if mean.reason):
        yield f"{'':{WIDTH}} {reason}"


def _number(value: float | None) -> str:
    return "undefined" if value is None or value != value else decimals(value, 3)


def _line(name: str, cells: Iterable[str], last: str) -> str:
    return f"{name:{WIDTH}} " + " ".join(f"{cell:>{COLUMN}}" for cell in (*cells, last))
