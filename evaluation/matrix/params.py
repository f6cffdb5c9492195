"""What the rating matrices show: whose grades, how they are scored, and which runs stand in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.http import QueryDict
from django.utils.http import urlencode

from annotation.models import Dataset
from evaluation.data.selection import one_of
from evaluation.data.sources import Source, sources
from evaluation.scoring.options import (
    CUTOFF_WORDS,
    CUTOFFS,
    IDEAL_WORDS,
    IDEALS,
    RULE_WORDS,
    Options,
    ScoringForm,
    etas,
)
from evaluation.scoring.rules import RULES

LISTED = 3  # runs beside the topics, where none is chosen
ONE = ("source", "eta", "cutoff", "ideal", "rules")  # parameters that have one value


@dataclass(frozen=True)
class MatrixChoice:
    """One state of the pages. `words` are its parameters as they came, without empty ones."""

    dataset: Dataset
    options: Options
    sources: tuple[Source, ...]
    etas: tuple[int, ...]
    every_run: tuple[str, ...]
    """By name of the run."""
    runs: tuple[str, ...]
    """Those that were asked for."""
    listed: tuple[str, ...]
    """Those that stand beside the topics: the ones asked for, or else those with most topics."""
    shows_all: bool
    opens_replies: bool
    """Whether a cell opens the reply that a judge gave, and not what everybody says."""
    words: Mapping[str, Any]

    @property
    def run(self) -> str:
        """The one run of a matrix, nothing where the required subset is shown as one."""
        return self.runs[0] if self.runs else ""

    @property
    def cutoff(self) -> str:
        return self.options.params()["cutoff"]

    @property
    def cutoffs(self) -> list[tuple[str, str]]:
        """What the form offers, and the number in the URL where that is another one."""
        names = dict.fromkeys([*CUTOFFS, self.cutoff])
        return [(name, CUTOFF_WORDS.get(name, f"first {name}")) for name in names]

    @property
    def ideals(self) -> list[tuple[str, str]]:
        return [(name, IDEAL_WORDS[name]) for name in IDEALS]

    @property
    def rules(self) -> list[tuple[str, str]]:
        return [(name, RULE_WORDS[name]) for name in RULES]

    def query(self, **changes: Any) -> str:
        """The state as the query of a URL, with changes; a value of None drops a parameter."""
        words = {**self.words, **changes}
        kept = {key: value for key, value in words.items() if value is not None}
        return urlencode(kept, doseq=True)


def matrix_choice(dataset: Dataset, asked: QueryDict) -> MatrixChoice | None:
    """The state that these parameters ask for; None if nobody has rated the dataset.

    Raises SelectionError, which lists the choices, for a source of grades, eta, cut-off, ideal,
    rules or run that is not there.
    """
    found = sources(dataset)
    if not found:
        return None
    words: dict[str, Any] = {key: asked[key] for key in ONE if asked.get(key)}
    runs = tuple(dict.fromkeys(name for name in asked.getlist("run") if name))
    by_topics = dataset.runs.annotate(n=Count("ranked__topic", distinct=True)).order_by(
        "-n", "name"
    )
    names = list(by_topics.values_list("name", flat=True))
    for name in runs:
        one_of("run", name, sorted(names))
    if runs:
        words["run"] = runs
    shows_all = asked.get("all") == "1"
    if shows_all:
        words["all"] = "1"
    opens_replies = asked.get("opens") == "reply"
    if opens_replies:
        words["opens"] = "reply"
    return MatrixChoice(
        dataset=dataset,
        options=ScoringForm(dataset, words).options(),
        sources=found,
        etas=etas(),
        every_run=tuple(sorted(names)),
        runs=runs,
        listed=runs or tuple(sorted(names[:LISTED])),
        shows_all=shows_all,
        opens_replies=opens_replies,
        words=words,
    )
