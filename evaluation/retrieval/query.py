"""Query of the retrieval pages: source of grades, scoring, metric and systems.

All of it is in the URL. A missing parameter takes its default; an invalid one is
answered with the choices there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from evaluation.data.filter_line import Phrase
from evaluation.data.query import Joined, OneOf, parameter
from evaluation.retrieval.leaderboard import ANY, SAME
from evaluation.scoring.options import ORACLE, SIZE, ScoringQuery
from evaluation.scoring.row_score import METRICS, REPORTS, RUNS

TITLES = {
    "coverage": "Coverage",
    "alpha_ndcg": "α-nDCG",
    "density": "Density",
    "recall": "Recall",
    "average_precision": "MAP",
    "ndcg": "nDCG",
}
UNITS = {
    "coverage": "share of sub-questions",
    "alpha_ndcg": "1 = ideal ranking",
    "density": "1 = as dense as Z*",
    "recall": "share of relevant passages",
    "average_precision": "0 to 1",
    "ndcg": "1 = ideal ranking",
}
AMONG = {RUNS: "retrieval runs", REPORTS: "systems with reports"}
TOPICS = {SAME: "only those with the same topics", ANY: "all"}
NAME = "name"
DEFAULT_SORT = "-coverage"
OF_A_PAGE = ("page", "row", "carried")  # parameters of a single page, not carried by links


class SystemsOrder(OneOf):
    """Form field for the metric that orders the systems; a minus before it reverses them.

    The order of another table or by another column, which only the page has, is the initial one here.
    """

    def clean(self, value: Any) -> Any:
        table, colon, column = (value or "").rpartition(":")
        is_column = table == "systems" and column.removeprefix("-") in self.choices
        return super().clean(column if is_column or not colon else None)

    def look_up(self, name: str) -> str:
        super().look_up(name.removeprefix("-"))
        return name


class RetrievalQuery(ScoringQuery):
    """Metric, kind of system and order of the pages, beside the scoring options."""

    metric: str = parameter(OneOf("metric", METRICS, initial=METRICS[0]))
    among: str = parameter(OneOf("kind of system", AMONG, initial=RUNS))
    topics: str = parameter(OneOf("choice of topics", TOPICS, initial=SAME))
    sort: str = parameter(SystemsOrder("order", (NAME, *METRICS), initial=DEFAULT_SORT))
    compared: str = parameter(Joined(required=False), "with")
    """Sources of grades that the page of judges compares, separated by commas."""

    @cached_property
    def given_params(self) -> dict[str, Any]:
        """Parameters as they came, also those of single pages."""
        params = {name: v for name, v in self.data.items() if v and name not in OF_A_PAGE}
        return params | ({"with": self.compared} if self.compared else {})

    def filter_phrases(self) -> Iterator[Phrase]:
        yield from super().filter_phrases()
        if self.among != RUNS:
            yield Phrase(AMONG[self.among])
        if self.topics != SAME:
            yield Phrase("runs on any topics")

    @property
    def by(self) -> str:
        """Column that orders the table of systems."""
        return self.sort.removeprefix("-")

    @property
    def falls(self) -> bool:
        return self.sort.startswith("-")

    @property
    def depth(self) -> str:
        """Cut-off of ranks, as printed behind an @."""
        return {SIZE: "|Z|", ORACLE: "|Z*|"}.get(self.cutoff, self.cutoff)

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the metrics by their names, with the depth where they have one."""
        deep = ("recall", "average_precision", "ndcg")
        return {
            name: f"{TITLES[name]}@{self.depth}" if name in deep else TITLES[name]
            for name in METRICS
        }

    @property
    def metric_title(self) -> str:
        return self.titles[self.metric]

    @property
    def metric_axis(self) -> str:
        """Title of an axis with values of the metric: its title and unit."""
        return f"{self.metric_title} ({UNITS[self.metric]})"
