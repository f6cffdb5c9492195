"""Query of the page of Rel and Rel': raters, retrieval run, depth and rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from django import forms

from annotation.models import Dataset, Rating, Rubric, Text
from annotation.models.standard import GRADED
from annotation.plurals import n_of
from evaluation.data.cache_keys import CacheKey
from evaluation.data.columns import independent
from evaluation.data.filter_line import Phrase
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.data.query import OneOf, PageQuery, number, parameter
from evaluation.data.selection import SelectionError
from evaluation.data.sources import MAJORITY, Source, source, sources
from evaluation.metrics.relevance_seen import Rules
from evaluation.models import RetrievalRun

Rel = Literal["answerable", "asked"]

OWN_RUN = "own"
RELS: dict[Rel, str] = {"answerable": "answerable in P*", "asked": "all asked"}
RULE_WORDS: dict[Rules, str] = {"paper": "of the paper", "authors": "of ALCE’s code"}
DEFAULT_ETA = 3
LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that a value depends on, besides the data.

    `source` says which passages answer what, `rater` which questions a report answers, both at `eta`.
    `rel` are the questions that should be answered. `run` is the retrieval run that stands for what
    all systems saw, none for the run of each system's own name; `depth` its first passages that
    count, None for all.
    """

    source: Source
    rater: Source
    eta: int
    rel: Rel
    run: str
    depth: int | None
    rules: Rules

    def params(self) -> dict[str, str]:
        """Return the options as parameters of SeenQuery."""
        return {
            "judge": self.source.name,
            "rater": self.rater.name,
            "eta": str(self.eta),
            "rel": self.rel,
            "seen": self.run or OWN_RUN,
            "depth": str(self.depth or ""),
            "rules": self.rules,
        }


class SeenQuery(PageQuery):
    """The options, by the same names in URLs and in the command."""

    only_given = True
    unparsed = ("rubric",)

    source: Source = parameter(
        forms.CharField(
            required=False,
            strip=False,
            help_text="whose grades say which passages answer a question: a rater's name, majority (of "
            "the people), or people:JUDGE; default: the judge that the pages take",
        ),
        "judge",
    )
    rater: Source = parameter(
        forms.CharField(
            required=False,
            strip=False,
            help_text="who says which questions a report answers; default: the majority of the people who "
            "rated reports, the one person who did, or else the judge",
        )
    )
    eta: int = parameter(
        OneOf(
            "eta",
            initial=str(DEFAULT_ETA),
            coerce=int,
            help_text="grade at or above which a pair counts as answered; default: 3",
        )
    )
    rel: Rel = parameter(
        OneOf(
            "reading of Rel",
            RELS,
            initial="answerable",
            help_text="questions that should be answered: answerable (by a passage of P*, the default) or "
            "asked (all that are not filtered)",
        )
    )
    run: str = parameter(
        forms.CharField(
            required=False,
            strip=False,
            help_text="what was seen: own (the retrieval run of each system's name, the default), or a "
            "run that stands for what all of them saw",
        ),
        "seen",
    )
    depth: int | None = parameter(
        number(
            "The depth is a whole number from 1.",
            1,
            LARGEST,
            is_whole=True,
            help_text="how many of the first passages of what was seen count; default: all",
        )
    )
    rules: Rules = parameter(
        OneOf(
            "set of rules",
            RULE_WORDS,
            initial="paper",
            help_text="paper (the default: sets, and no precision of an empty output), or authors: as "
            "ALCE's code counts, where what is cited twice counts twice in precision, an empty output "
            "has a precision of 0, and a statement has three citations at most",
        )
    )

    def __init__(self, dataset: Dataset, params: Mapping[str, Any]) -> None:
        self.dataset = dataset
        graded = Rubric.objects.filter(slug=GRADED.slug).first()
        self.etas = tuple(graded.grades()[1:]) if graded else ()
        runs = RetrievalRun.objects.filter(dataset=dataset).order_by("name")
        self.runs = tuple(runs.values_list("name", flat=True))
        super().__init__(params, eta=self.etas)

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        judge = source(self.dataset, values["judge"])
        rater = values["rater"]
        return values | {
            "judge": judge,
            "rater": source(self.dataset, rater)
            if rater
            else rater_by_default(self.dataset, judge),
            "seen": self._run(values["seen"]),
        }

    def filter_phrases(self) -> Iterator[Phrase]:
        yield Phrase(f"grades of {self.source.title}", self.source.judge)
        yield Phrase(f"answered from grade {self.eta}")
        yield Phrase(f"reports read by {self.rater.title}", self.rater.judge)
        yield Phrase(f"run {self.run}" if self.run else "run of the system’s name")
        if self.depth:
            yield Phrase(f"first {n_of(self.depth, 'passage')}")
        if self.rel != "answerable":
            yield Phrase(RELS[self.rel])
        yield Phrase(f"rules {RULE_WORDS[self.rules]}")

    def _run(self, name: str) -> str:
        if name in ("", OWN_RUN):
            return ""
        if name not in self.runs:
            listed = ", ".join([OWN_RUN, *self.runs[:20]])
            raise SelectionError(f"There is no retrieval run “{name}”. There are: {listed}.")
        return name

    @cached_property
    def options(self) -> Options:
        return Options(
            self.source, self.rater, self.eta, self.rel, self.run, self.depth, self.rules
        )

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        return sources(self.dataset)


def seen_query(dataset: Dataset, params: Mapping[str, Any]) -> SeenQuery | None:
    """Parse the parameters of a URL or of the command; None if the dataset has no ratings.

    Raises SelectionError, which lists the choices, for what is not there.
    """
    return SeenQuery(dataset, params).parse() if sources(dataset) else None


def rater_by_default(dataset: Dataset, judge: Source) -> Source:
    """Return the default rater of answers in reports: people who rated any, else the judge."""
    rated = Rating.objects.of_dataset(dataset).filter(text__kind=Text.Kind.REPORT)
    report_raters = SHARED_CACHE.until_db_write(
        (CacheKey.RATERS_OF_REPORTS, dataset.pk),
        lambda: set(rated.order_by().values_list("rater", flat=True).distinct()),
    )
    all_sources = sources(dataset)
    single = [
        candidate
        for candidate in all_sources
        if candidate.kind == "rater" and candidate.rater and candidate.rater.pk in report_raters
    ]
    people = {
        column.pk
        for column in independent(candidate.rater for candidate in single if candidate.rater)
    }
    if len(people) > 1:
        return next(candidate for candidate in all_sources if candidate.name == MAJORITY)
    by_people = [
        candidate for candidate in single if candidate.rater and candidate.rater.pk in people
    ]
    if by_people or judge in single or not single:
        return by_people[0] if by_people else judge
    return single[0]
