"""What the retrieval room shows: whose grades, how they are scored, and what is compared by what.

All of it is in the URL. What a URL leaves out takes its default; what it asks for wrongly is
answered with the choices there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django import forms

from annotation.models import Dataset
from evaluation.data.query import OneOf
from evaluation.data.relevance import relevance_sources
from evaluation.data.selection import one_of
from evaluation.data.sources import sources
from evaluation.retrieval.board import ANY, SAME
from evaluation.scoring.options import ORACLE, SIZE, ScoringChoice, ScoringForm
from evaluation.scoring.row_score import METRICS, REPORTS, RUNS

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
TOPICS = {SAME: "those on the same topics", ANY: "all"}
NAME = "name"
DEFAULT_SORT = "-coverage"
OF_A_PAGE = ("page", "row", "carried")  # what one page alone understands, and no link takes along


class RetrievalForm(ScoringForm):
    """Beside how it is scored, what is compared by what, and the order of the table of systems."""

    metric = OneOf("metric", METRICS, initial=METRICS[0])
    among = OneOf("kind of system", AMONG, initial=RUNS)
    topics = OneOf("choice of topics", TOPICS, initial=SAME)
    sort = forms.CharField(required=False, strip=False, empty_value=DEFAULT_SORT)

    def clean_sort(self) -> str:
        sort: str = self.cleaned_data["sort"]
        one_of("order", sort.removeprefix("-"), (NAME, *METRICS))
        return sort


@dataclass(frozen=True)
class Choice(ScoringChoice):
    """One state of the room."""

    metric: str
    among: str
    topics: str
    sort: str

    @property
    def has_relevance(self) -> bool:
        """Return True if passages have grades for whole topics, as in qrels."""
        return bool(relevance_sources(self.dataset))

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
    def among_kinds(self) -> list[tuple[str, str]]:
        return list(AMONG.items())

    @property
    def topic_choices(self) -> list[tuple[str, str]]:
        """Choices of the systems to compare: those on the same topics, or all."""
        return list(TOPICS.items())


def retrieval_choice(dataset: Dataset, asked: Mapping[str, str]) -> Choice | None:
    """The state that these parameters ask for; None if nobody has rated the dataset.

    Raises SelectionError, which lists the choices, for a source of grades, eta, cut-off, ideal,
    rules, kind of question, metric, kind of system or order that is not there.
    """
    every_source = sources(dataset)
    if not every_source:
        return None
    words = {key: value for key, value in asked.items() if value and key not in OF_A_PAGE}
    form = RetrievalForm(dataset, words)
    asked = form.asked()
    return Choice(
        dataset=dataset,
        options=form.options(),
        sources=every_source,
        etas=form.etas,
        kinds=form.kinds,
        words=words,
        metric=asked["metric"],
        among=asked["among"],
        topics=asked["topics"],
        sort=asked["sort"],
    )
