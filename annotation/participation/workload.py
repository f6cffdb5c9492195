"""The workload of a campaign by its settings: parts, people, hours and money, before anybody begins."""

from dataclasses import dataclass
from decimal import Decimal

from annotation.models import Campaign, Item


@dataclass(frozen=True)
class Workload:
    """What follows if everybody finishes what they take. Training and gold items come on top.

    skips: how many texts of a part may be skipped; people: how many are needed at least; pay and
    minutes: of all parts, None where one part's are not stated; hourly: what a part's pay comes to
    in an hour.
    """

    items: int
    raters: int
    gradings: int
    parts: int
    items_in_part: int
    skips: int
    parts_each: int
    people: int
    minutes: int | None
    pay: Decimal | None
    hourly: Decimal | None
    currency: str

    @property
    def hours(self) -> float | None:
        return None if self.minutes is None else self.minutes / 60


def workload(campaign: Campaign) -> Workload | None:
    """The workload of a campaign's study items; None where none are drawn.

    A person is never handed an item twice, so an item that k people rate needs k of them, and
    nobody can do more parts than hold the items once.
    """
    items = campaign.items.filter(purpose=Item.Purpose.STUDY).count()
    if not items:
        return None
    gradings = items * campaign.raters_per_item
    in_part = min(campaign.items_per_part or items, items)
    parts = _ceil(gradings, in_part)
    parts_each = _ceil(items, in_part)
    if campaign.max_parts:
        parts_each = min(parts_each, campaign.max_parts)
    items_each = min(items, in_part * parts_each)
    minutes, pay = campaign.minutes_per_part, campaign.pay_per_part
    return Workload(
        items=items,
        raters=campaign.raters_per_item,
        gradings=gradings,
        parts=parts,
        items_in_part=in_part,
        skips=campaign.skip_limit(in_part),
        parts_each=parts_each,
        people=max(campaign.raters_per_item, _ceil(gradings, items_each)),
        minutes=None if minutes is None else parts * minutes,
        pay=None if pay is None else parts * pay,
        hourly=hourly(campaign),
        currency=campaign.currency,
    )


def hourly(campaign: Campaign) -> Decimal | None:
    """The pay of an hour, from that of a part and its minutes; None where either is not stated."""
    if campaign.pay_per_part is None or not campaign.minutes_per_part:
        return None
    return (campaign.pay_per_part * 60 / campaign.minutes_per_part).quantize(Decimal("0.01"))


def _ceil(number: int, size: int) -> int:
    return -(-number // size)
