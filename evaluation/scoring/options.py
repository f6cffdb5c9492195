"""How a dataset is scored: the source of grades, eta, the size of contexts, and which reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.utils.http import urlencode

from annotation.models import Dataset, Rubric
from annotation.models.rubric import GRADED
from evaluation.data.selection import SelectionError, one_of
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

    def params(self, **changes: Any) -> dict[str, str]:
        """As parameters of a URL, with changes; a value of None drops one."""
        params = {
            "judge": self.source.name,
            "eta": self.eta,
            "cutoff": SIZE if self.cutoff is None else self.cutoff,
            "ideal": self.ideal,
            "rules": self.rules.name,
        }
        return {key: str(value) for key, value in (params | changes).items() if value is not None}

    def query(self, **changes: Any) -> str:
        return urlencode(self.params(**changes))


def etas() -> tuple[int, ...]:
    """The thresholds that can be chosen: the levels of the graded rubric above the lowest."""
    rubric = Rubric.objects.filter(slug=GRADED.slug).first()
    return tuple(rubric.grades()[1:]) if rubric else ()


def choose(
    dataset: Dataset,
    *,
    judge: str | None = None,
    eta: str | int | None = None,
    cutoff: str | None = None,
    ideal: str | None = None,
    rules: str | None = None,
    tokenizer: Tokenizer = WORDS,
) -> Options:
    """The options that these words ask for; None or nothing takes the default.

    The default cut-off is that of the rules: as many passages as Z* has under the paper's.
    Raises SelectionError, which lists the choices, for a source, eta, cut-off, ideal or rules that
    are not there. A tokenizer is no word here: its file is not for a page to name.
    """
    counted_by = RULES[one_of("set of rules", rules or PAPER.name, RULES)]
    return Options(
        source=source(dataset, judge),
        eta=_eta(eta),
        cutoff=_cutoff(cutoff or (ORACLE if counted_by.as_long_as_oracle else SIZE)),
        ideal=next(i for i in IDEALS if i == one_of("ideal", ideal or IDEALS[0], IDEALS)),
        rules=counted_by,
        tokenizer=tokenizer,
    )


def chosen_in(dataset: Dataset, words: Mapping[str, str]) -> Options:
    """The options that the parameters of a page's address ask for; its `source` is `choose`'s judge."""
    return choose(
        dataset,
        judge=words.get("source"),
        eta=words.get("eta"),
        cutoff=words.get("cutoff"),
        ideal=words.get("ideal"),
        rules=words.get("rules"),
    )


def _eta(value: str | int | None) -> int:
    return int(one_of("eta", str(value or DEFAULT_ETA), map(str, etas())))


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
