"""Retrieval runs by relevance grades: what the page and the command are asked for, and their tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.http import urlencode

from annotation.decimals import decimals
from annotation.models import Dataset
from evaluation.csv_tables import estimate_cells, estimate_header
from evaluation.data.cache import cached
from evaluation.data.query import OneOf, QueryForm
from evaluation.data.relevance import RelevanceSource, relevance_source, relevance_sources
from evaluation.data.selection import SelectionError
from evaluation.retrieval.board import ANY, SAME
from evaluation.retrieval.differences import PairTest, pair_tests
from evaluation.retrieval.export import Table, tests_table
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


class RelevanceForm(QueryForm):
    """Parameters of the page, and of `manage.py score` by relevance grades."""

    source = forms.CharField(required=False, strip=False)
    eta = OneOf("eta", coerce=int)
    cutoff = forms.CharField(required=False, initial=str(DEPTH))
    zeros = OneOf("choice for topics without results", (*ZEROS, ALL), initial=OF_RUNS)
    metric = OneOf("measure", MEASURES, initial=NDCG)
    topics = OneOf("choice of topics", TOPICS, initial=SAME)

    def __init__(self, dataset: Dataset, query: Mapping[str, Any]) -> None:
        super().__init__(query)
        self.graded_by = relevance_source(dataset, query.get("source"))
        self.offer(eta=self.graded_by.levels)

    def clean_cutoff(self) -> int | None:
        value: str = self.cleaned_data["cutoff"] or str(DEPTH)
        if value == SIZE:
            return None
        if re.fullmatch(r"[0-9]{1,7}", value) and int(value) > 0:
            return int(value)
        raise SelectionError(
            f"There is no cut-off “{value}” of relevance grades. There are: {', '.join(DEPTHS)}, or another "
            "whole number from 1."
        )

    def options(self, others: Sequence[str] = ()) -> RelevanceOptions:
        """Raises SelectionError, which lists the choices, for what is not there."""
        asked = self.asked()
        eta = self.graded_by.eta if asked["eta"] is None else asked["eta"]
        zeros = NONE if asked["zeros"] == NONE else OF_RUNS
        return RelevanceOptions(self.graded_by, eta, asked["cutoff"], zeros, tuple(others))


@dataclass(frozen=True)
class RelevanceChoice:
    """State of the page. `words` are its parameters as they came, without empty ones."""

    dataset: Dataset
    options: RelevanceOptions
    sources: tuple[RelevanceSource, ...]
    words: Mapping[str, str]
    metric: str
    topics: str

    @property
    def etas(self) -> tuple[int, ...]:
        return self.options.source.levels

    @property
    def titles(self) -> Mapping[str, str]:
        return self.options.titles

    @property
    def metric_title(self) -> str:
        return self.titles[self.metric]

    @property
    def cutoff(self) -> str:
        return str(self.options.depth or SIZE)

    @property
    def cutoffs(self) -> list[tuple[str, str]]:
        known = DEPTHS if self.cutoff in DEPTHS else (self.cutoff, *DEPTHS)
        return [(name, "all of a run" if name == SIZE else f"rank {name}") for name in known]

    @property
    def zeros(self) -> list[tuple[str, str]]:
        return list(ZEROS.items())

    @property
    def topic_choices(self) -> list[tuple[str, str]]:
        return list(TOPICS.items())

    def query(self, **changes: Any) -> str:
        """The state as the query of a URL, with changes; a value of None drops a parameter."""
        words = {**self.words, **changes}
        return urlencode({key: value for key, value in words.items() if value is not None})


def relevance_choice(dataset: Dataset, asked: Mapping[str, str]) -> RelevanceChoice | None:
    """The state that these parameters ask for; None if nobody has graded passages for whole topics.

    Raises SelectionError, which lists the choices, for what is not there.
    """
    sources = relevance_sources(dataset)
    if not sources:
        return None
    fields = RelevanceForm.base_fields
    words = {key: value for key, value in asked.items() if value and key in fields}
    form = RelevanceForm(dataset, words)
    values = form.asked()
    return RelevanceChoice(
        dataset=dataset,
        options=form.options(),
        sources=sources,
        words=words,
        metric=values["metric"],
        topics=values["topics"],
    )


@dataclass(frozen=True)
class RelevanceGroup:
    """Runs of the table, the best first; those apart are on other topics than most."""

    title: str
    rows: tuple[RelevanceRow, ...]
    is_apart: bool


@dataclass(frozen=True)
class RelevancePage:
    """The runs by group, and tests of all pairs of the compared runs by the chosen measure."""

    scores: RelevanceScores
    groups: tuple[RelevanceGroup, ...]
    metric: str
    tests: tuple[PairTest, ...]

    @property
    def defined_tests(self) -> list[PairTest]:
        """The tests of pairs with a common topic."""
        return [test for test in self.tests if test.difference.value is not None]

    @property
    def n_undefined(self) -> int:
        return len(self.tests) - len(self.defined_tests)


def relevance_page(choice: RelevanceChoice) -> RelevancePage:
    """The numbers of a state of the page, kept until the data change."""
    scores = relevance_scores(choice.dataset, choice.options)
    together = scores.rows if choice.topics == ANY else on_same_topics(scores.rows)
    names = {row.name for row in together}
    apart = tuple(row for row in scores.rows if row.name not in names)
    key = ("relevance tests", choice.options, choice.topics, choice.metric)
    tests = cached(choice.dataset, key, lambda: pair_tests(together, choice.metric))
    groups = (
        RelevanceGroup("Retrieval runs", _ordered(together, choice.metric), is_apart=False),
        RelevanceGroup(
            "Retrieval runs on fewer or other topics: not compared with those above",
            _ordered(apart, choice.metric),
            is_apart=True,
        ),
    )
    shown = tuple(group for group in groups if group.rows)
    return RelevancePage(scores, shown, choice.metric, tests)


def _ordered(rows: Iterable[RelevanceRow], metric: str) -> tuple[RelevanceRow, ...]:
    def key(row: RelevanceRow) -> tuple[bool, float, str]:
        value = row.means[metric].value
        return value is None, -(value or 0.0), row.name

    return tuple(sorted(rows, key=key))


def relevance_table(page: RelevancePage) -> Table:
    """The means of every run, a line a run."""
    header = ["name", "topics", "topics_without_results", "is_compared"]
    for measure in page.scores.options.measures:
        header += estimate_header(measure)
    return header, (
        [
            *(row.name, row.n_topics, row.n_absent, not group.is_apart),
            *(c for m in page.scores.options.measures for c in estimate_cells(row.means[m])),
        ]
        for group in page.groups
        for row in group.rows
    )


def relevance_topics_table(page: RelevancePage) -> Table:
    """A line for each run and topic with results, or with something to find."""
    scores = page.scores
    measures = scores.options.measures

    def lines() -> Iterator[list[Any]]:
        for row in scores.rows:
            for place in (row.has | row.judged).nonzero()[0].tolist():
                values = [float(row.of(measure)[place]) for measure in measures]
                known = [value if value == value else None for value in values]
                yield [
                    *(row.name, scores.topics[place], bool(row.has[place])),
                    *(int(row.n_unjudged[place]), *known),
                ]

    return ["name", "topic", "has_results", "unjudged", *measures], lines()


def relevance_tests_table(page: RelevancePage) -> Table:
    """A line for each pair of compared runs."""
    return tests_table(page.tests, page.metric)


TABLES = {
    "runs": relevance_table,
    "topics": relevance_topics_table,
    "tests": relevance_tests_table,
}


WIDTH = 34  # of a name in a table
COLUMN = 12


def relevance_lines(slug: str, scores: RelevanceScores) -> Iterator[str]:
    """The scores as a table of plain text: of one run its topics too."""
    options = scores.options
    depth = f"rank {options.depth}" if options.depth else "the end"
    yield f"{slug}: grades of {options.source.title}, relevant from {options.eta}, runs to {depth}"
    yield "MAP and MRR of the whole run; rankings by score, equal scores in the order of the file"
    yield ""
    yield _line("", options.titles.values(), "topics")
    together = on_same_topics(scores.rows)
    if len(scores.rows) == 1:
        (row,) = scores.rows
        for place in (row.has | row.absent).nonzero()[0].tolist():
            values = [float(row.of(measure)[place]) for measure in options.measures]
            yield _line(scores.topics[place], map(_number, values), "")
    for row in together:
        yield from _means(row, scores)
    if len(together) < len(scores.rows):
        yield from ("", "On other topics than most runs:")
        names = {row.name for row in together}
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
