"""What the page of tables and figures is asked for: how they are scored, and of which systems."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict
from django.utils.http import urlencode

from annotation.models import Dataset
from evaluation.data.query import OneOf
from evaluation.data.sources import sources
from evaluation.http import OF_SCORES
from evaluation.paper.chosen import Systems, as_words, chosen_systems, system_names
from evaluation.scoring.options import ScoringChoice, ScoringForm


class PaperForm(ScoringForm):
    """The options of `manage.py tables`, but for files of the machine that it runs on."""

    intervals = OneOf("switch of intervals", ("0", "1"), initial="0", coerce="1".__eq__)


@dataclass(frozen=True)
class PaperChoice(ScoringChoice):
    """One state of the page."""

    intervals: bool
    every_system: Systems
    systems: Systems
    """Those that are ticked."""

    first_ranks = "first {}"

    @property
    def whole_query(self) -> str:
        """The state with nothing left to a default, as the query of a file that somebody keeps."""
        words = self.options.params() | {"intervals": int(self.intervals)}
        if self.systems:
            words["systems"] = as_words(self.systems)
        return urlencode(words)

    @property
    def system_boxes(self) -> list[tuple[str, str, bool]]:
        """The systems to choose from: as a parameter has it, by name, and whether it is ticked."""
        return [(as_words([name]), name, name in self.systems) for name in self.every_system]


def paper_choice(dataset: Dataset, asked: QueryDict) -> PaperChoice | None:
    """The state that these parameters ask for; None if nobody has rated the dataset.

    Raises SelectionError, which lists the choices, for what is not there.
    """
    every_source = sources(dataset)
    if not every_source:
        return None
    words = {name: asked[name] for name in (*OF_SCORES, "intervals") if asked.get(name)}
    names = system_names(dataset)
    systems = chosen_systems(names, ",".join(asked.getlist("systems")))
    if systems:
        words["systems"] = as_words(systems)
    form = PaperForm(dataset, words)
    return PaperChoice(
        dataset=dataset,
        options=form.options(),
        sources=every_source,
        etas=form.etas,
        kinds=form.kinds,
        words=words,
        intervals=form.asked()["intervals"],
        every_system=names,
        systems=systems,
    )
