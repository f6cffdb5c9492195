"""The numbers of the page: topics for each number of raters, and what the draft as it stands can see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.models import Campaign, Item
from evaluation.data.cache import cached
from evaluation.power.params import SAME, PowerChoice
from evaluation.scoring.system_values import system_values
from evaluation.stats.estimate import Estimate
from evaluation.stats.mixed_model import MixedModel, mixed_model
from evaluation.stats.power import (
    Variance,
    difference_variance,
    power_of,
    smallest_difference,
    topics_needed,
)

RATERS = range(1, 6)


@dataclass(frozen=True)
class Drawn:
    """What the campaign has drawn: topics with texts of two systems or more, and how many systems."""

    topics: int
    systems: int
    raters: int


@dataclass(frozen=True)
class Design:
    """So many raters for each text: topics for the difference, and what the drawn topics can see.

    `power` is the chance to find the difference with the drawn topics. `ratings` counts, for the
    topics needed, a text of each system with its raters.
    """

    raters: int
    variance: Variance
    topics: Estimate
    smallest: Estimate
    power: Estimate
    systems: int

    @property
    def ratings(self) -> int | None:
        if self.topics.value is None:
            return None
        return int(self.topics.value) * self.systems * self.raters


@dataclass(frozen=True)
class PowerReport:
    """The model that the variances are of, what is drawn, and a design for each number of raters."""

    model: MixedModel
    drawn: Drawn
    designs: tuple[Design, ...]


def power_report(choice: PowerChoice) -> PowerReport:
    """The numbers of a state of the page; the model is kept until the data change."""
    selection = choice.selection
    key = (
        *("power", selection.rubric.pk, selection.campaign and selection.campaign.pk),
        *(selection.raters, selection.eta, choice.outcome),
    )
    model = cached(selection.dataset, key, lambda: _model(choice))
    drawn = _drawn(choice.campaign)
    return PowerReport(model, drawn, () if model.reason else tuple(_designs(choice, model, drawn)))


def _model(choice: PowerChoice) -> MixedModel:
    values = system_values(choice.selection, choice.outcome)
    base = values.names[0] if values.names else ""  # variances are the same with any base
    return mixed_model(values.values, values.systems, values.topics, values.raters, base)


def _drawn(campaign: Campaign) -> Drawn:
    pairs = set(
        campaign.items.filter(purpose=Item.Purpose.STUDY)
        .exclude(text__system="")
        .values_list("text__topic", "text__system")
    )
    of_topic: dict[int | None, int] = {}
    for topic, _ in pairs:
        of_topic[topic] = of_topic.get(topic, 0) + 1
    compared = sum(n > 1 for n in of_topic.values())
    return Drawn(compared, len({system for _, system in pairs}), campaign.raters_per_item)


def _designs(choice: PowerChoice, model: MixedModel, drawn: Drawn) -> Iterator[Design]:
    for raters in sorted({*RATERS, drawn.raters}):
        variance = difference_variance(model.components, raters, same_raters=choice.readers == SAME)
        if variance.value is None:
            unknown = Estimate(None, f"undefined, because {variance.reason}", 0)
            yield Design(raters, variance, unknown, unknown, unknown, max(drawn.systems, 2))
            continue
        yield Design(
            raters,
            variance,
            topics_needed(choice.difference, variance.value, choice.power),
            smallest_difference(variance.value, drawn.topics, choice.power),
            _power(choice.difference, variance.value, drawn.topics),
            max(drawn.systems, 2),
        )


def _power(difference: float, variance: float, topics: int) -> Estimate:
    if topics < 2:
        return Estimate(None, "undefined, because a test over topics takes two of them", topics)
    value = power_of(difference, variance, topics) if variance > 0 else 1.0
    return Estimate(value, None, topics)
