"""What the page of the mixed model is asked for: a selection, what is modelled, a base and a margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from evaluation.data.query import OneOf, QueryForm
from evaluation.data.selection import Selection
from evaluation.scoring.system_values import OUTCOMES, SystemValues, outcomes, system_values

MARGIN = 0.05  # of the scale, where nobody states another one
NO_MARGIN = "The margin is a number above 0 and at most 1000, such as 0.05."


class ModelForm(QueryForm):
    """What is modelled, and what the systems are held against."""

    outcome = OneOf("value to model, called")
    base = OneOf("system with a finished text, called")
    margin = forms.FloatField(
        required=False,
        min_value=0.0001,
        max_value=1000,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), NO_MARGIN),
    )


@dataclass(frozen=True)
class ModelChoice:
    """One state of the page. `base` is empty where no system has a value."""

    selection: Selection
    outcome: str
    base: str
    margin: float
    values: SystemValues

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(name, OUTCOMES[name]) for name in outcomes(self.selection)]

    @property
    def title(self) -> str:
        return OUTCOMES[self.outcome]

    @property
    def query(self) -> str:
        """The state as the query of a URL."""
        return self.selection.query(outcome=self.outcome, base=self.base, margin=f"{self.margin:g}")


def model_choice(selection: Selection, words: Mapping[str, Any]) -> ModelChoice:
    """The state that these parameters ask for. Raises SelectionError for what is not there."""
    form = ModelForm(words)
    form.offer(outcome=outcomes(selection), base=())
    named = words.get("outcome")
    outcome = named if named in outcomes(selection) else outcomes(selection)[0]
    values = system_values(selection, outcome)
    form.offer(base=values.names)
    asked = form.asked()
    levels = selection.levels
    scale = 1 if outcome == "coverage" else levels[-1] - levels[0]
    return ModelChoice(
        selection,
        outcome,
        asked["base"] or (values.names[0] if values.names else ""),
        asked["margin"] or MARGIN * scale,
        values,
    )
