"""Query of the power page: source of variances, difference, power, rater assignment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from annotation.models import Campaign
from evaluation.data.filter_line import Phrase
from evaluation.data.query import OneOf, PageQuery, number, parameter
from evaluation.data.selection import select
from evaluation.scoring.system_values import OUTCOMES, outcomes

DIFFERENT, SAME = "different", "same"
READERS = {
    DIFFERENT: "different people, as in a crowd",
    SAME: "the same people",
}


class PowerQuery(PageQuery):
    """Parameters of the page. `selection` is of the study that variances are estimated from."""

    study: str = parameter(forms.CharField(required=False))
    outcome: str = parameter(OneOf("value to compare, called", takes_first=True))
    difference: float = parameter(
        number("The difference is a number from 0.001 to 100.", 0.001, 100, initial=0.05)
    )
    power: float = parameter(
        number("The power is a number from 0.5 to 0.99.", 0.5, 0.99, initial=0.8)
    )
    readers: str = parameter(
        OneOf("assignment of the texts of a topic, called", READERS, initial=DIFFERENT)
    )

    def __init__(self, campaign: Campaign, params: Mapping[str, Any]) -> None:
        self.campaign = campaign
        self.selection = select(
            campaign.dataset, rubric=campaign.rubric.slug, campaign=params.get("study") or None
        )
        offered = {name: OUTCOMES[name] for name in outcomes(self.selection)}
        super().__init__(params, outcome=offered)

    def filter_phrases(self) -> Iterator[Phrase]:
        yield Phrase(f"variances of {dict(self.studies)[self.study]}")
        yield Phrase(self.labels["outcome"])
        yield Phrase(f"difference {self.difference:g}")
        yield Phrase(f"power {self.power:g}")
        yield Phrase(self.labels["readers"])

    @property
    def studies(self) -> list[tuple[str, str]]:
        """Sources of variances: all ratings of the dataset, or those of one study."""
        studies = [study for study in self.selection.campaigns if study.pk != self.campaign.pk]
        return [("", "all ratings of the dataset"), *((row.slug, row.title) for row in studies)]
