"""Query of the mixed model page: selection, outcome, base and margin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.data.filter_line import Phrase
from evaluation.data.query import OneOf, PageQuery, number, parameter
from evaluation.data.selection import Selection
from evaluation.scoring.system_values import COVERAGE, OUTCOMES, outcomes, system_values

MARGIN = 0.05  # default, as a share of the scale
NO_MARGIN = "The margin is a number above 0 and at most 1000, such as 0.05."


class ModelQuery(PageQuery):
    """Outcome, base and margin of equivalence. `base` is empty where no system has a value."""

    outcome: str = parameter(OneOf("value to model, called", takes_first=True))
    base: str = parameter(OneOf("system with a finished text, called", takes_first=True))
    margin: float = parameter(number(NO_MARGIN, 0.0001, 1000))

    def __init__(self, selection: Selection, params: Mapping[str, Any]) -> None:
        names = outcomes(selection)
        if params.get("of_rubric", selection.rubric.slug) != selection.rubric.slug:
            params = {}  # the form was filled in for another rubric
        requested = params.get("outcome")
        self.selection = selection
        self.system_values = system_values(selection, requested if requested in names else names[0])
        if "of_rubric" in params and params.get("base") not in self.system_values.names:
            # The form was filled in for other raters.
            params = {name: params[name] for name in ("outcome", "margin") if name in params}
        before = params.get("of_outcome", requested)
        if before != requested and params.get("margin") == f"{self._margin(before):g}":
            # The margin of the form was the default of the other value, which has another scale.
            params = {name: params[name] for name in ("outcome", "base") if name in params}
        super().__init__(
            params,
            outcome={name: OUTCOMES[name] for name in names},
            base=self.system_values.names,
        )

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        return values | {
            "base": values["base"] or "",
            "margin": values["margin"] or self._margin(values["outcome"]),
        }

    def _margin(self, outcome: str) -> float:
        """Return the default margin."""
        levels = self.selection.levels
        return MARGIN * (1 if outcome == COVERAGE else levels[-1] - levels[0])

    def filter_phrases(self) -> Iterator[Phrase]:
        yield from self.selection.filter_phrases()
        yield Phrase(self.labels["outcome"])
        if self.base:
            yield Phrase(f"base {self.base}")
        yield Phrase(f"margin {self.margin:g}")

    def params(self, **changes: Any) -> dict[str, Any]:
        return self.selection.params(**super().params(**changes))
