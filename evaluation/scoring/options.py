"""Scoring options of a dataset: source of grades, eta, cut-off, rules."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Self

from django import forms

from annotation.models import Dataset, Rubric
from annotation.models.standard import GRADED
from evaluation.data.filter_line import Phrase
from evaluation.data.query import OneOf, PageQuery, parameter
from evaluation.data.question_kinds import QuestionKind, question_kinds
from evaluation.data.selection import SelectionError
from evaluation.data.sources import Source, source, sources
from evaluation.scoring.rules import PAPER, RULES, Rules
from evaluation.scoring.tokens import WHITESPACE_WORDS, Tokenizer

Ideal = Literal["standard", "paper_eq4"]
Cutoff = int | Literal["oracle"] | None

IDEALS: tuple[Ideal, ...] = ("standard", "paper_eq4")
DEFAULT_ETA = 3  # of the paper
SIZE: Final = "size"
ORACLE: Final = "oracle"
ALL: Final = "all"
NONE: Final = "none"
OF_RUNS: Final = "runs"
ZERO_WORDS = {OF_RUNS: "0 for runs", ALL: "0 for runs and reports", NONE: "left out"}
"""Whose topics without results count as 0."""
CUTOFFS = (SIZE, ORACLE, "10", "20")
"""The choices that a page offers; any whole number from 1 is taken."""
CUTOFF_WORDS = {SIZE: "whole run", ORACLE: "length of Z*"}
DEPTH_WORDS = {SIZE: "whole runs", ORACLE: "runs read to |Z*|"}
FILTER_NOUNS = {"ideal": "ideal", "rules": "rules", "questions": "questions:"}
IDEAL_WORDS = {"standard": "greedy over P*", "paper_eq4": "Z*, equation 4"}
RULE_WORDS = {"paper": "of the paper", "authors": "of the authors’ code"}


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that a score depends on, besides the data.

    `cutoff` limits Z to that many passages: a number, `oracle` for as many as the topic's Z* has
    (as in the paper; a topic without one is not cut off), None for all of it. It applies to
    retrieval runs alone. `ideal` names the reading of alpha-nDCG. `rules` are those of the paper or
    of its authors' code. `questions` are those that count: of one kind, None for all. `zeros` says
    for which rows a topic without results counts as 0 (one of ZERO_WORDS); for others it is missing.
    """

    source: Source
    eta: int = DEFAULT_ETA
    cutoff: Cutoff = None
    ideal: Ideal = "standard"
    rules: Rules = PAPER
    tokenizer: Tokenizer = WHITESPACE_WORDS
    alpha: float = 0.5
    questions: QuestionKind | None = None
    zeros: str = OF_RUNS

    def params(self) -> dict[str, str]:
        """Return the options as parameters of ScoringQuery."""
        params = {
            "source": self.source.name,
            "eta": self.eta,
            "cutoff": SIZE if self.cutoff is None else self.cutoff,
            "ideal": self.ideal,
            "rules": self.rules.name,
            "questions": self.questions.name if self.questions else ALL,
            "zeros": self.zeros,
        }
        return {name: str(value) for name, value in params.items()}


class ScoringQuery(PageQuery):
    """The options, by the same names in the URLs of pages and in commands.

    The default cut-off is that of the rules: as many passages as Z* has under the paper's.
    """

    only_given = True
    unparsed = ("rubric",)
    first_ranks: ClassVar = "{}"
    """Format of the label of a cut-off at a number of ranks."""

    source: Source = parameter(
        forms.CharField(
            required=False,
            strip=False,
            help_text="whose grades: a rater's name, majority (of the people), or people:JUDGE; "
            "default: the judge that the pages take, and the output says why",
        )
    )
    eta: int = parameter(
        OneOf(
            "eta",
            initial=str(DEFAULT_ETA),
            coerce=int,
            help_text="grade at or above which a pair counts as answerable; default: 3",
        )
    )
    cutoff: str = parameter(
        forms.CharField(
            required=False,
            strip=False,
            help_text="passages of a run that count: oracle (as many as Z* has, the default under the "
            "rules of the paper), size (all, the default under those of the authors), or a number",
        )
    )
    ideal: Ideal = parameter(
        OneOf(
            "ideal",
            IDEAL_WORDS,
            initial=IDEALS[0],
            help_text="what alpha-nDCG divides by: standard (ndeval, the default) or paper_eq4",
        )
    )
    rules: Rules = parameter(
        OneOf(
            "set of rules",
            RULE_WORDS,
            initial=PAPER.name,
            coerce=RULES.__getitem__,
            help_text="paper (the default), or authors: as their code for the paper counts",
        )
    )

    questions: str = parameter(
        OneOf(
            "kind of question",
            initial=ALL,
            help_text="questions that count: all (the default), or those that a rater called so, as "
            "RUBRIC:RATER:GRADE, such as question-type:ben:2",
        )
    )
    zeros: str = parameter(
        OneOf(
            "kind of row whose topics without results count as 0, called",
            ZERO_WORDS,
            help_text="topics without results count as 0: runs (of runs alone, as trec_eval -c, the "
            "default under the rules of the paper), all (of reports too), or none (they are missing, the "
            "default under those of the authors)",
        )
    )

    def __init__(self, dataset: Dataset, params: Mapping[str, Any]) -> None:
        self.dataset = dataset
        self.kinds = question_kinds(dataset)
        # A threshold is a level of the graded rubric above the lowest.
        graded = Rubric.objects.filter(slug=GRADED.slug).first()
        self.etas = tuple(graded.grades()[1:]) if graded else ()
        questions = {ALL: "all", **{kind.name: kind.title for kind in self.kinds}}
        super().__init__(params, eta=self.etas, questions=questions)

    @classmethod
    def of_rated(cls, dataset: Dataset, params: Mapping[str, Any]) -> Self | None:
        """Parse the parameters of a URL; None if the dataset has no ratings.

        Raises SelectionError, which lists the choices, for a choice that does not exist.
        """
        return cls(dataset, params).parse() if sources(dataset) else None

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        rules = values["rules"]
        cutoff = values["cutoff"] or (ORACLE if rules.as_long_as_oracle else SIZE)
        return values | {
            "source": source(self.dataset, values["source"]),
            "cutoff": str(_cutoff(cutoff) or SIZE),
            "zeros": values["zeros"] or (OF_RUNS if rules.absent_is_zero else NONE),
        }

    def filter_phrases(self) -> Iterator[Phrase]:
        yield Phrase(f"grades of {self.source.title}", self.source.judge)
        yield Phrase(f"answerable from grade {self.eta}")
        yield Phrase(DEPTH_WORDS.get(self.cutoff, f"runs read to rank {self.cutoff}"))
        for name, default in (("ideal", IDEALS[0]), ("rules", PAPER.name), ("questions", ALL)):
            value = getattr(self, name)
            if getattr(value, "name", value) != default:
                yield Phrase(f"{FILTER_NOUNS[name]} {self.labels[name]}")
        if self.zeros != (OF_RUNS if self.rules.absent_is_zero else NONE):
            yield Phrase(f"topics without results: {self.labels['zeros']}")

    @cached_property
    def options(self) -> Options:
        return Options(
            source=self.source,
            eta=self.eta,
            cutoff=_cutoff(self.cutoff),
            ideal=self.ideal,
            rules=self.rules,
            questions=next((kind for kind in self.kinds if kind.name == self.questions), None),
            zeros=self.zeros,
        )

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        return sources(self.dataset)

    @property
    def cutoffs(self) -> list[tuple[str, str]]:
        """The usual ones, and the number in the URL where that is another one."""
        names = dict.fromkeys([*CUTOFFS, self.cutoff])
        return [(name, CUTOFF_WORDS.get(name) or self.first_ranks.format(name)) for name in names]


def add_options(parser: ArgumentParser) -> None:
    """Add the parameters of ScoringQuery as options of a command."""
    for name, field in ScoringQuery.base_fields.items():
        older = ["--judge"] if name == "source" else []
        parser.add_argument(f"--{name}", *older, help=str(field.help_text))


def _cutoff(value: str) -> Cutoff:
    if value == SIZE:
        return None
    if value == ORACLE:
        return ORACLE
    if re.fullmatch(r"[0-9]{1,7}", value) and 0 < int(value) <= 1_000_000:
        return int(value)
    listed = ", ".join(CUTOFFS)
    raise SelectionError(
        f"There is no cut-off “{value}”. There are: {listed}, or another whole number from 1."
    )
