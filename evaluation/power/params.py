"""What the page of power is asked for: whose variances, the difference to see, how surely, by whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms

from annotation.models import Campaign
from evaluation.data.query import OneOf, QueryForm
from evaluation.data.selection import Selection, select
from evaluation.scoring.system_values import OUTCOMES, outcomes

DIFFERENCE, POWER = 0.05, 0.8
DIFFERENT, SAME = "different", "same"
READERS = {
    DIFFERENT: "different people, as in a crowd",
    SAME: "the same people",
}


def _number(name: str, low: float, high: float) -> forms.FloatField:
    words = f"The {name} is a number from {low:g} to {high:g}."
    return forms.FloatField(
        required=False,
        min_value=low,
        max_value=high,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), words),
    )


class PowerForm(QueryForm):
    """What is known, and what is wanted."""

    study = forms.CharField(required=False)
    outcome = OneOf("value to compare, called")
    difference = _number("difference", 0.001, 100)
    power = _number("power", 0.5, 0.99)
    readers = OneOf("way to hand out the texts of a topic, called", READERS, initial=DIFFERENT)


@dataclass(frozen=True)
class PowerChoice:
    """One state of the page. `selection` is of the study whose variances are taken."""

    campaign: Campaign
    selection: Selection
    outcome: str
    difference: float
    power: float
    readers: str

    @property
    def studies(self) -> list[tuple[str, str]]:
        """Whose variances can be taken: all ratings of the dataset, or those of one study."""
        studies = [study for study in self.selection.campaigns if study.pk != self.campaign.pk]
        return [("", "all ratings of the dataset"), *((row.slug, row.title) for row in studies)]

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(name, OUTCOMES[name]) for name in outcomes(self.selection)]

    @property
    def title(self) -> str:
        return OUTCOMES[self.outcome]

    @property
    def ways(self) -> list[tuple[str, str]]:
        return list(READERS.items())

    @property
    def query(self) -> str:
        """The state as the query of a URL."""
        study = self.selection.campaign
        return urlencode(
            {
                "study": study.slug if study else "",
                "outcome": self.outcome,
                "difference": f"{self.difference:g}",
                "power": f"{self.power:g}",
                "readers": self.readers,
            }
        )


def power_choice(campaign: Campaign, words: Mapping[str, Any]) -> PowerChoice:
    """The state that these parameters ask for. Raises SelectionError for what is not there."""
    selection = select(
        campaign.dataset, rubric=campaign.rubric.slug, campaign=words.get("study") or None
    )
    form = PowerForm(words)
    form.offer(outcome=outcomes(selection))
    asked = form.asked()
    return PowerChoice(
        campaign,
        selection,
        asked["outcome"] or outcomes(selection)[0],
        asked["difference"] or DIFFERENCE,
        asked["power"] or POWER,
        asked["readers"],
    )
