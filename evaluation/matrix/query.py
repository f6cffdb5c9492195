"""Query of the rating matrices: source of grades, scoring, and runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.db.models import Count

from annotation.models import Dataset
from evaluation.data.cache_keys import CacheKey
from evaluation.data.filter_line import Phrase
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.data.query import OneOf, Switch, parameter
from evaluation.scoring.options import ScoringQuery

LISTED = 3  # runs beside the topics, where none is chosen


class RepeatedChoice(OneOf):
    """Form field for several of the choices, each a parameter of its own; a tuple."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.look_up(name) for name in value or () if name))


class MatrixQuery(ScoringQuery):
    """Scoring, runs, and what the pages show of them."""

    runs: tuple[str, ...] = parameter(RepeatedChoice("run"), "run")
    expands_groups: bool = parameter(Switch("1"), "all")
    opens_replies: bool = parameter(Switch("reply"), "opens")
    """True if a cell opens the judge's reply instead of the page of the pair."""

    first_ranks = "first {}"

    def __init__(self, dataset: Dataset, params: Mapping[str, Any]) -> None:
        super().__init__(dataset, params)
        self.offer(run=self.every_run)

    def filter_phrases(self) -> Iterator[Phrase]:
        yield from super().filter_phrases()
        if self.runs:
            yield Phrase(f"run {', '.join(self.runs)}")

    @cached_property
    def every_run(self) -> tuple[str, ...]:
        """All runs by name."""
        return tuple(sorted(self._runs_by_topics))

    @property
    def listed(self) -> tuple[str, ...]:
        """Runs beside the topics: the requested ones, or else those with most topics."""
        return self.runs or tuple(sorted(self._runs_by_topics[:LISTED]))

    @property
    def run(self) -> str:
        """Run of a matrix; empty where the required subset is shown as one."""
        return self.runs[0] if self.runs else ""

    @property
    def _runs_by_topics(self) -> list[str]:
        runs = self.dataset.runs.annotate(n=Count("ranked__topic", distinct=True))
        names = runs.order_by("-n", "name").values_list("name", flat=True)
        return SHARED_CACHE.until_db_write(
            (CacheKey.RUNS_BY_TOPICS, self.dataset.pk), lambda: [*names]
        )
