"""What the rating matrices show: whose grades, how they are scored, and which runs stand in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.http import QueryDict

from annotation.models import Dataset
from evaluation.data.held import COUNTED
from evaluation.data.selection import one_of
from evaluation.data.sources import sources
from evaluation.http import OF_SCORES
from evaluation.scoring.options import ScoringChoice, ScoringForm

LISTED = 3  # runs beside the topics, where none is chosen


@dataclass(frozen=True)
class MatrixChoice(ScoringChoice):
    """One state of the pages."""

    every_run: tuple[str, ...]
    """By name of the run."""
    runs: tuple[str, ...]
    """Those that were asked for."""
    listed: tuple[str, ...]
    """Those that stand beside the topics: the ones asked for, or else those with most topics."""
    shows_all: bool
    opens_replies: bool
    """Whether a cell opens the reply that a judge gave, and not what everybody says."""

    first_ranks = "first {}"

    @property
    def run(self) -> str:
        """The one run of a matrix, nothing where the required subset is shown as one."""
        return self.runs[0] if self.runs else ""


def matrix_choice(dataset: Dataset, asked: QueryDict) -> MatrixChoice | None:
    """The state that these parameters ask for; None if nobody has rated the dataset.

    Raises SelectionError, which lists the choices, for a source of grades, eta, cut-off, ideal,
    rules, kind of question or run that is not there.
    """
    every_source = sources(dataset)
    if not every_source:
        return None
    words: dict[str, Any] = {key: asked[key] for key in OF_SCORES if asked.get(key)}
    runs = tuple(dict.fromkeys(name for name in asked.getlist("run") if name))
    by_topics = dataset.runs.annotate(n=Count("ranked__topic", distinct=True)).order_by(
        "-n", "name"
    )
    names = COUNTED.while_unwritten(
        ("runs by topics", dataset.pk), lambda: list(by_topics.values_list("name", flat=True))
    )
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
    form = ScoringForm(dataset, asked)
    return MatrixChoice(
        dataset=dataset,
        options=form.options(),
        sources=every_source,
        etas=form.etas,
        kinds=form.kinds,
        words=words,
        every_run=tuple(sorted(names)),
        runs=runs,
        listed=runs or tuple(sorted(names[:LISTED])),
        shows_all=shows_all,
        opens_replies=opens_replies,
    )
