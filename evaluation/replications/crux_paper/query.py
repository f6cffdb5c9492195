"""Query of the page of tables and figures: scoring options, and systems."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from django.utils.http import urlencode

from annotation.plurals import n_of
from evaluation.data.filter_line import Phrase
from evaluation.data.query import Joined, OneOf, parameter
from evaluation.replications.crux_paper.system_choice import (
    Systems,
    chosen_systems,
    join_names,
    system_names,
)
from evaluation.scoring.options import ScoringQuery


class PaperQuery(ScoringQuery):
    """The options of `manage.py tables`, except files of the server."""

    intervals: bool = parameter(
        OneOf("switch of intervals", ("0", "1"), initial="0", coerce="1".__eq__)
    )
    systems: Systems = parameter(Joined(required=False))
    """Ticked systems."""

    first_ranks = "first {}"

    @cached_property
    def every_system(self) -> Systems:
        return system_names(self.dataset)

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        systems = chosen_systems(self.every_system, values["systems"])
        return super().resolve(values) | {"systems": systems}

    @cached_property
    def given_params(self) -> dict[str, Any]:
        systems = {"systems": join_names(self.systems)} if self.systems else {}
        return {**super().given_params, **systems}

    def filter_phrases(self) -> Iterator[Phrase]:
        yield from super().filter_phrases()
        if self.systems:
            yield Phrase(f"{len(self.systems)} of {n_of(len(self.every_system), 'system')}")

    @property
    def whole_query(self) -> str:
        """Query string with all options explicit, for the URL of a file that somebody keeps."""
        params = self.options.params() | {"intervals": int(self.intervals)}
        if self.systems:
            params["systems"] = join_names(self.systems)
        return urlencode(params)

    @property
    def system_boxes(self) -> list[tuple[str, str, bool]]:
        """Checkboxes of systems: value as a parameter, name, and whether it is ticked."""
        return [(join_names([name]), name, name in self.systems) for name in self.every_system]
