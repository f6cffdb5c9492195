"""How a dataset is scored: the source of grades, eta, the size of contexts, and which reading."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from django import forms

from annotation.models import Dataset, Rubric
from annotation.models.rubric import GRADED
from evaluation.data.query import OneOf, QueryForm
from evaluation.data.selection import SelectionError
from evaluation.data.sources import Source, source
from evaluation.scoring.rules import PAPER, RULES, Rules
from evaluation.scoring.tokens import WORDS, Tokenizer

Ideal = Literal["standard", "paper_eq4"]
Cutoff = int | Literal["oracle"] | None

IDEALS: tuple[Ideal, ...] = ("standard", "paper_eq4")
DEFAULT_ETA = 3  # of the paper
SIZE: Final = "size"
ORACLE: Final = "oracle"
CUTOFFS = (SIZE, ORACLE, "10", "20")
"""The choices that a page offers; any whole number from 1 is taken."""


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that a score depends on, besides the data.

    `cutoff` limits Z to that many passages: a number, `oracle` for as many as the topic's Z* has
    (as in the paper; a topic without one is not cut off), None for all of it. It applies to
    retrieval runs alone. `ideal` names the reading of alpha-nDCG. `rules` are those of the paper or
    of its authors' code.
    """

    source: Source
    eta: int = DEFAULT_ETA
    cutoff: Cutoff = None
    ideal: Ideal = "standard"
    rules: Rules = PAPER
    tokenizer: Tokenizer = WORDS
    alpha: float = 0.5

    def params(self) -> dict[str, str]:
        """As the parameters of ScoringForm."""
        params = {
            "source": self.source.name,
            "eta": self.eta,
            "cutoff": SIZE if self.cutoff is None else self.cutoff,
            "ideal": self.ideal,
            "rules": self.rules.name,
        }
        return {name: str(value) for name, value in params.items()}


def etas() -> tuple[int, ...]:
    """The thresholds that can be chosen: the levels of the graded rubric above the lowest."""
    rubric = Rubric.objects.filter(slug=GRADED.slug).first()
    return tuple(rubric.grades()[1:]) if rubric else ()


class ScoringForm(QueryForm):
    """The options, by the same names in the addresses of pages and in commands.

    The default cut-off is that of the rules: as many passages as Z* has under the paper's.
    """

    source = forms.CharField(
        required=False,
        strip=False,
        help_text="whose grades: a rater's name, majority (of the people), or people:JUDGE; "
        "default: the judge that the pages take, and the output says why",
    )
    eta = OneOf(
        "eta",
        initial=str(DEFAULT_ETA),
        coerce=int,
        help_text="grade at or above which a pair counts as answerable; default: 3",
    )
    cutoff = forms.CharField(
        required=False,
        strip=False,
        help_text="passages of a run that count: oracle (as many as Z* has, the default under the "
        "rules of the paper), size (all, the default under those of the authors), or a number",
    )
    ideal = OneOf(
        "ideal",
        IDEALS,
        initial=IDEALS[0],
        help_text="what alpha-nDCG divides by: standard (ndeval, the default) or paper_eq4",
    )
    rules = OneOf(
        "set of rules",
        RULES,
        initial=PAPER.name,
        coerce=RULES.__getitem__,
        help_text="paper (the default), or authors: as their code for the paper counts",
    )

    def __init__(self, dataset: Dataset, query: Mapping[str, Any]) -> None:
        super().__init__(query)
        self.dataset = dataset
        self.offer(eta=etas())

    def clean_source(self) -> Source:
        return source(self.dataset, self.cleaned_data["source"])

    def options(self, tokenizer: Tokenizer = WORDS) -> Options:
        """Raises SelectionError, which lists the choices, for what is not there.

        A tokenizer is no parameter: its file is not for a page to name.
        """
        asked = self.asked()
        by_default = ORACLE if asked["rules"].as_long_as_oracle else SIZE
        return Options(
            source=asked["source"],
            eta=asked["eta"],
            cutoff=_cutoff(asked["cutoff"] or by_default),
            ideal=asked["ideal"],
            rules=asked["rules"],
            tokenizer=tokenizer,
        )


def add_options(parser: ArgumentParser) -> None:
    """The parameters of ScoringForm as options of a command."""
    for name, field in ScoringForm.base_fields.items():
        older = ["--judge"] if name == "source" else []
        parser.add_argument(f"--{name}", *older, help=str(field.help_text))


def _cutoff(value: str) -> Cutoff:
    if value == SIZE:
        return None
    if value == ORACLE:
        return ORACLE
    if value.isascii() and value.isdigit() and 0 < int(value) <= 1_000_000:
        return int(value)
    listed = ", ".join(CUTOFFS)
    raise SelectionError(
        f"There is no cut-off “{value}”. There are: {listed}, or another whole number from 1."
    )


CUTOFF_WORDS = {"size": "as long as the run", "oracle": "as long as Z*"}


IDEAL_WORDS = {"standard": "greedy over P*", "paper_eq4": "Z*, equation 4"}


RULE_WORDS = {"paper": "of the paper", "authors": "of the authors’ code"}
