"""What the retrieval room shows: whose grades, how they are scored, and what is compared by what.

All of it is in the URL. What a URL leaves out takes its default; what it asks for wrongly is
answered with the choices there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.http import urlencode

from annotation.models import Dataset
from evaluation.data.selection import one_of
from evaluation.data.sources import Source, sources
from evaluation.retrieval.board import REPORTS, RUNS
from evaluation.scoring.options import (
    CUTOFF_WORDS,
    CUTOFFS,
    IDEAL_WORDS,
    IDEALS,
    ORACLE,
    RULE_WORDS,
    SIZE,
    Options,
    ScoringForm,
    etas,
)
from evaluation.scoring.rules import RULES
from evaluation.scoring.score import METRICS

TITLES = {
    "coverage": "Coverage",
    "alpha_ndcg": "α-nDCG",
    "density": "Density",
    "recall": "Recall",
    "average_precision": "MAP",
    "ndcg": "nDCG",
}
DEPTHS = {ORACLE: "@|Z*|", SIZE: "to the end"}
AMONG = {RUNS: "retrieval runs", REPORTS: "systems with reports"}
NAME = "name"
DEFAULT_SORT = "-coverage"
OF_A_PAGE = ("page", "row")  # what one page alone understands, and no link takes along


@dataclass(frozen=True)
class Choice:
    """One state of the room. `words` are its parameters as they came, without empty ones."""

    dataset: Dataset
    options: Options
    sources: tuple[Source, ...]
    etas: tuple[int, ...]
    metric: str
    among: str
    sort: str
    words: Mapping[str, str]

    @property
    def by(self) -> str:
        """The column that orders the table of systems."""
        return self.sort.removeprefix("-")

    @property
    def falls(self) -> bool:
        return self.sort.startswith("-")

    @property
    def depth(self) -> str:
        """Where ranks stop, as a reader of a table expects it behind an @."""
        return {SIZE: "|Z|", ORACLE: "|Z*|"}.get(self.cutoff, self.cutoff)

    @property
    def depths(self) -> list[tuple[str, str, bool]]:
        """The cut-offs by what stands behind an @, and whether it is the chosen one."""
        names = [ORACLE, *(name for name, _ in self.cutoffs if name not in (ORACLE, SIZE)), SIZE]
        return [(name, DEPTHS.get(name, f"@{name}"), name == self.cutoff) for name in names]

    @property
    def titles(self) -> dict[str, str]:
        """The metrics by their names, with the depth where they have one."""
        deep = ("recall", "average_precision", "ndcg")
        return {
            name: f"{TITLES[name]}@{self.depth}" if name in deep else TITLES[name]
            for name in METRICS
        }

    @property
    def metric_title(self) -> str:
        return self.titles[self.metric]

    @property
    def among_title(self) -> str:
        return AMONG[self.among]

    @property
    def cutoffs(self) -> list[tuple[str, str]]:
        """What the form offers, and the number in the URL where that is another one."""
        names = dict.fromkeys([*CUTOFFS, self.options.params()["cutoff"]])
        return [(name, CUTOFF_WORDS.get(name, name)) for name in names]

    @property
    def cutoff(self) -> str:
        return self.options.params()["cutoff"]

    @property
    def ideals(self) -> list[tuple[str, str]]:
        return [(name, IDEAL_WORDS[name]) for name in IDEALS]

    @property
    def rules(self) -> list[tuple[str, str]]:
        return [(name, RULE_WORDS[name]) for name in RULES]

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return list(AMONG.items())

    def query(self, **changes: Any) -> str:
        """The state as the query of a URL, with changes; a value of None drops a parameter."""
        words: dict[str, Any] = {**self.words, **changes}
        return urlencode({key: value for key, value in words.items() if value is not None})


def retrieval_choice(dataset: Dataset, asked: Mapping[str, str]) -> Choice | None:
    """The state that these parameters ask for; None if nobody has rated the dataset.

    Raises SelectionError, which lists the choices, for a source of grades, eta, cut-off, ideal,
    rules, metric, kind of system or order that is not there.
    """
    found = sources(dataset)
    if not found:
        return None
    words = {key: value for key, value in asked.items() if value and key not in OF_A_PAGE}
    sort = words.get("sort", DEFAULT_SORT)
    one_of("order", sort.removeprefix("-"), (NAME, *METRICS))
    return Choice(
        dataset=dataset,
        options=ScoringForm(dataset, words).options(),
        sources=found,
        etas=etas(),
        metric=one_of("metric", words.get("metric", METRICS[0]), METRICS),
        among=one_of("kind of system", words.get("among", RUNS), AMONG),
        sort=sort,
        words=words,
    )
