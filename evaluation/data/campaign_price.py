"""Price of further grades, from the newest paid campaign under a rubric."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from django.db.models import Count

from annotation.models import Campaign, Dataset, ItemQuestion


@dataclass(frozen=True)
class Price:
    """Time and pay of people; None where no campaign says it."""

    minutes: int | None
    pay: Decimal | None
    currency: str


def price_of(dataset: Dataset, rubric: int, n_grades: int) -> Price:
    """Return the price of so many grades, as in the newest paid campaign under a rubric."""
    campaign, pairs_of_part = _priced_campaign(dataset, rubric)
    parts = Decimal(n_grades) / Decimal(pairs_of_part) if pairs_of_part else Decimal(0)
    return Price(
        int(parts * campaign.minutes_per_part) if campaign and campaign.minutes_per_part else None,
        (parts * campaign.pay_per_part).quantize(Decimal("0.01"), ROUND_UP)
        if campaign and campaign.pay_per_part
        else None,
        campaign.currency if campaign else "",
    )


def _priced_campaign(dataset: Dataset, rubric: int) -> tuple[Campaign | None, float]:
    """Return the newest paid campaign under the rubric, and the mean pairs of its parts."""
    campaigns = dataset.campaigns.published().filter(rubric=rubric)
    campaign = campaigns.exclude(minutes_per_part=None, pay_per_part=None).order_by("-pk").first()
    if campaign is None:
        return None, 0.0
    counts = ItemQuestion.objects.filter(item__campaign=campaign).aggregate(
        pairs=Count("pk"), items=Count("item", distinct=True)
    )
    n_items = counts["items"] or 1
    return campaign, counts["pairs"] / n_items * campaign.items_per_part
