"""How a dataset is scored: the source of grades, eta, the size of contexts, and which reading."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from django import forms
from django.utils.http import urlencode

from annotation.models import Dataset, Rubric
from annotation.models.standard import GRADED
from evaluation.data.query import OneOf, QueryForm
from evaluation.data.question_kinds import QuestionKind, question_kinds
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
ALL: Final = "all"
NONE: Final = "none"
OF_RUNS: Final = "runs"
ZERO_WORDS = {OF_RUNS: "0 for runs", ALL: "0 for runs and reports", NONE: "left out"}
"""Whose topics without results count as 0."""
CUTOFFS = (SIZE, ORACLE, "10", "20")
"""The choices that a page offers; any whole number from 1 is taken."""
CUTOFF_WORDS = {SIZE: "as long as the run", ORACLE: "as long as Z*"}
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
    tokenizer: Tokenizer = WORDS
    alpha: float = 0.5
    questions: QuestionKind | None = None
    zeros: str = OF_RUNS

    def params(self) -> dict[str, str]:
        """As the parameters of ScoringForm."""
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

    questions = OneOf(
        "kind of question",
        initial=ALL,
        help_text="questions that count: all (the default), or those that a rater called so, as "
        "RUBRIC:RATER:GRADE, such as question-type:ben:2",
    )
    zeros = OneOf(
        "kind of row whose topics without results count as 0, called",
        ZERO_WORDS,
        help_text="topics without results count as 0: runs (of runs alone, as trec_eval -c, the default under "
        "the rules of the paper), all (of reports too), or none (they are missing, the default under those "
        "of the authors)",
    )

    def __init__(self, dataset: Dataset, query: Mapping[str, Any]) -> None:
        super().__init__(query)
        self.dataset = dataset
        self.kinds = question_kinds(dataset)
        # A threshold is a level of the graded rubric above the lowest.
        graded = Rubric.objects.filter(slug=GRADED.slug).first()
        self.etas = tuple(graded.grades()[1:]) if graded else ()
        self.offer(eta=self.etas, questions=[ALL, *(kind.name for kind in self.kinds)])

    def clean_source(self) -> Source:
        return source(self.dataset, self.cleaned_data["source"])

    def options(self, tokenizer: Tokenizer = WORDS) -> Options:
        """Raises SelectionError, which lists the choices, for what is not there.

        A tokenizer is no parameter: its file is not for a page to name.
        """
        asked = self.asked()
        source, eta, ideal, rules = (asked[name] for name in ("source", "eta", "ideal", "rules"))
        cutoff = _cutoff(asked["cutoff"] or (ORACLE if rules.as_long_as_oracle else SIZE))
        zeros = asked["zeros"] or (OF_RUNS if rules.absent_is_zero else NONE)
        kind = next((kind for kind in self.kinds if kind.name == asked["questions"]), None)
        return Options(source, eta, cutoff, ideal, rules, tokenizer, questions=kind, zeros=zeros)


@dataclass(frozen=True)
class ScoringChoice:
    """One state of a page of scores, and what its form offers.

    `words` are its parameters as they came, without empty ones.
    """

    dataset: Dataset
    options: Options
    sources: tuple[Source, ...]
    etas: tuple[int, ...]
    kinds: tuple[QuestionKind, ...]
    words: Mapping[str, Any]

    first_ranks: ClassVar = "{}"
    """What a number of ranks is called as a cut-off."""

    @property
    def cutoff(self) -> str:
        return self.options.params()["cutoff"]

    @property
    def cutoffs(self) -> list[tuple[str, str]]:
        """The usual ones, and the number in the URL where that is another one."""
        names = dict.fromkeys([*CUTOFFS, self.cutoff])
        return [(name, CUTOFF_WORDS.get(name) or self.first_ranks.format(name)) for name in names]

    @property
    def question_kinds(self) -> list[tuple[str, str, bool]]:
        """Which questions can count, and whether they do; none where no rater told them apart."""
        if not self.kinds:
            return []
        chosen = self.options.questions
        kinds = [(kind.name, kind.title, kind == chosen) for kind in self.kinds]
        return [(ALL, "all", chosen is None), *kinds]

    @property
    def ideals(self) -> list[tuple[str, str]]:
        return list(IDEAL_WORDS.items())

    @property
    def rules(self) -> list[tuple[str, str]]:
        return list(RULE_WORDS.items())

    @property
    def zeros(self) -> list[tuple[str, str]]:
        """The kinds of systems whose topics without results can count as 0."""
        return list(ZERO_WORDS.items())

    def query(self, **changes: Any) -> str:
        """The state as the query of a URL, with changes; a value of None drops a parameter."""
        words = {**self.words, **changes}
        kept = {key: value for key, value in words.items() if value is not None}
        return urlencode(kept, doseq=True)


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
    if re.fullmatch(r"[0-9]{1,7}", value) and 0 < int(value) <= 1_000_000:
        return int(value)
    listed = ", ".join(CUTOFFS)
    raise SelectionError(
        f"There is no cut-off “{value}”. There are: {listed}, or another whole number from 1."
    )
