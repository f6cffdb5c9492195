"""Report of the power page: topics needed by number of raters, and power of the draft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.models import Campaign, EqualText, Item
from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey, Key
from evaluation.power.query import SAME, PowerQuery
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
class DraftSample:
    """Sample of the campaign: topics with texts of two systems or more, systems, raters."""

    topics: int
    systems: int
    raters: int


@dataclass(frozen=True)
class Design:
    """Design with a number of raters per text: topics needed, and power of the drawn topics.

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
    """Variance model, the campaign's sample, and a design for each number of raters."""

    model: MixedModel
    sample: DraftSample
    designs: tuple[Design, ...]


def power_report(choice: PowerQuery) -> PowerReport:
    """Return the report of a choice; the model is cached until the data change."""
    selection = choice.selection
    key: Key = (CacheKey.POWER_MODEL, selection.key, choice.outcome)
    model = cached(selection.dataset, key, lambda: _model(choice))
    sample = _draft_sample(choice.campaign)
    return PowerReport(
        model, sample, () if model.reason else tuple(_designs(choice, model, sample))
    )


def _model(choice: PowerQuery) -> MixedModel:
    values = system_values(choice.selection, choice.outcome)
    base = values.names[0] if values.names else ""  # variances are the same with any base
    return mixed_model(values.values, values.systems, values.topics, values.raters, base)


def _draft_sample(campaign: Campaign) -> DraftSample:
    items = campaign.items.filter(purpose=Item.Purpose.STUDY)
    # A text that gets the grades of an equal one is a text of its system, too.
    texts = (items, EqualText.objects.filter(item__in=items))
    pairs = {
        pair
        for rows in texts
        for pair in rows.exclude(text__system="").values_list("text__topic", "text__system")
    }
    of_topic: dict[int | None, int] = {}
    for topic, _ in pairs:
        of_topic[topic] = of_topic.get(topic, 0) + 1
    compared = sum(n > 1 for n in of_topic.values())
    return DraftSample(compared, len({system for _, system in pairs}), campaign.raters_per_item)


def _designs(choice: PowerQuery, model: MixedModel, sample: DraftSample) -> Iterator[Design]:
    for raters in sorted({*RATERS, sample.raters}):
        variance = difference_variance(model.components, raters, same_raters=choice.readers == SAME)
        if variance.value is None:
            unknown = Estimate(None, f"undefined, because {variance.reason}", 0)
            yield Design(raters, variance, unknown, unknown, unknown, max(sample.systems, 2))
            continue
        yield Design(
            raters,
            variance,
            topics_needed(choice.difference, variance.value, choice.power),
            smallest_difference(variance.value, sample.topics, choice.power),
            _power(choice.difference, variance.value, sample.topics),
            max(sample.systems, 2),
        )


def _power(difference: float, variance: float, topics: int) -> Estimate:
    if topics < 2:
        return Estimate(None, "undefined, because a test over topics needs two topics", topics)
    value = power_of(difference, variance, topics) if variance > 0 else 1.0
    return Estimate(value, None, topics)
