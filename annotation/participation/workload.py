"""The workload of a campaign by its settings: slots, parts, people and gold, before anybody begins."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count

from annotation.models import Campaign, Item
from annotation.participation import gold


@dataclass(frozen=True)
class Workload:
    """What follows if everybody finishes what they take. Training and gold items come on top.

    gradings: the slots; skips: how many texts of a part may be skipped; people: how many are needed
    at least; hourly: what a part's pay comes to in an hour, None where pay or minutes are not stated.
    """

    items: int
    raters: int
    gradings: int
    parts: int
    items_in_part: int
    skips: int
    parts_each: int
    people: int
    hourly: Decimal | None


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
    parts = divided_up(gradings, in_part)
    parts_each = gold.parts_each(items, campaign.items_per_part, campaign.max_parts)
    items_each = min(items, in_part * parts_each)
    return Workload(
        items=items,
        raters=campaign.raters_per_item,
        gradings=gradings,
        parts=parts,
        items_in_part=in_part,
        skips=campaign.skip_limit(in_part),
        parts_each=parts_each,
        people=max(campaign.raters_per_item, divided_up(gradings, items_each)),
        hourly=hourly(campaign),
    )


@dataclass(frozen=True)
class GoldPlan:
    """What a person meets of hidden gold who does all their parts.

    texts: how many gold texts; parts: in how many parts; in_first: how many of them in the first, which
    has most; fewest and most: how many of their questions have a label, which are what is scored, by
    which of the texts they meet.
    """

    texts: int
    parts: int
    in_first: int
    fewest: int
    most: int

    enough = gold.ENOUGH
    """Answers to such questions from which on a person can be flagged."""


def gold_plan(campaign: Campaign) -> GoldPlan | None:
    """What comes of a campaign's hidden gold; None where none is drawn."""
    drawn = campaign.items.filter(purpose=Item.Purpose.GOLD)
    labelled = sorted(
        drawn.annotate(n=Count("asked__expected")).order_by().values_list("n", flat=True)
    )
    if not labelled:
        return None
    terms = gold.terms(
        drawn=len(labelled),
        per_person=campaign.gold_per_person,
        items=campaign.items.filter(purpose=Item.Purpose.STUDY).count(),
        items_per_part=campaign.items_per_part,
        max_parts=campaign.max_parts,
    )
    return GoldPlan(
        texts=terms.met,
        parts=terms.parts,
        in_first=terms.due(1, 0),
        fewest=sum(labelled[: terms.met]),
        most=sum(labelled[-terms.met :]),
    )


def hourly(campaign: Campaign) -> Decimal | None:
    """The pay of an hour, from that of a part and its minutes; None where either is not stated."""
    if campaign.pay_per_part is None or not campaign.minutes_per_part:
        return None
    return (campaign.pay_per_part * 60 / campaign.minutes_per_part).quantize(Decimal("0.01"))


def divided_up(number: int, size: int) -> int:
    """A quotient of whole numbers, rounded up."""
    return -(-number // size)
