"""What the page of tables and figures is asked for: how they are scored, and whether intervals are printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.http import urlencode

from annotation.models import Dataset
from evaluation.data.query import OneOf
from evaluation.data.sources import sources
from evaluation.http import OF_SCORES
from evaluation.scoring.options import ScoringChoice, ScoringForm


class PaperForm(ScoringForm):
    """The options of `manage.py tables`, but for files of the machine that it runs on."""

    intervals = OneOf("switch of intervals", ("0", "1"), initial="0", coerce="1".__eq__)


@dataclass(frozen=True)
class PaperChoice(ScoringChoice):
    """One state of the page."""

    intervals: bool

    first_ranks = "first {}"

    @property
    def whole_query(self) -> str:
        """The state with nothing left to a default, as the query of a file that somebody keeps."""
        return urlencode(self.options.params() | {"intervals": int(self.intervals)})


def paper_choice(dataset: Dataset, asked: Mapping[str, str]) -> PaperChoice | None:
    """The state that these parameters ask for; None if nobody has rated the dataset.

    Raises SelectionError, which lists the choices, for what is not there.
    """
    every_source = sources(dataset)
    if not every_source:
        return None
    words = {name: asked[name] for name in (*OF_SCORES, "intervals") if asked.get(name)}
    form = PaperForm(dataset, words)
    return PaperChoice(
        dataset=dataset,
        options=form.options(),
        sources=every_source,
        etas=form.etas,
        kinds=form.kinds,
        words=words,
        intervals=form.asked()["intervals"],
    )
