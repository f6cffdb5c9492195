"""Workload of a campaign by its settings: slots, parts, people and gold, before the start."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count

from annotation.models import Campaign, Item
from annotation.participation import gold
from annotation.participation.repeats import repeats_due


@dataclass(frozen=True)
class Workload:
    """Slots, parts and people of a campaign, if all people finish what they take.

    Training, gold items and repeats come on top. gradings: the slots; repeats: how many a part has;
    skips: how many texts of a part may be skipped; people: how many are needed at least; hourly: what
    a part's pay comes to in an hour, None where pay or minutes are not stated.
    """

    items: int
    raters: int
    gradings: int
    parts: int
    items_in_part: int
    repeats: int
    skips: int
    parts_each: int
    people: int
    hourly: Decimal | None


def workload(campaign: Campaign) -> Workload | None:
    """Return the workload of a campaign's study items; None where none are drawn.

    A person is never given an item twice, so an item that k people rate needs k of them, and
    nobody can do more parts than hold the items once.
    """
    items = campaign.items.filter(purpose=Item.Purpose.STUDY).count()
    if not items:
        return None
    gradings = items * campaign.raters_per_item
    in_part = min(campaign.items_per_part or items, items)
    repeats = repeats_due(in_part, campaign.repeat_percent, campaign.repeat_after)
    parts = divide_rounding_up(gradings, in_part)
    parts_each = gold.parts_each(items, campaign.items_per_part, campaign.max_parts)
    items_each = min(items, in_part * parts_each)
    return Workload(
        items=items,
        raters=campaign.raters_per_item,
        gradings=gradings,
        parts=parts,
        items_in_part=in_part,
        repeats=repeats,
        skips=campaign.skip_limit(in_part),
        parts_each=parts_each,
        people=max(campaign.raters_per_item, divide_rounding_up(gradings, items_each)),
        hourly=hourly(campaign),
    )


@dataclass(frozen=True)
class GoldPlan:
    """Hidden gold for a person who does all their parts.

    texts: how many gold texts; parts: in how many parts; in_first: how many of them in the first, which
    has most; fewest and most: how many of their questions have a label, which are what is scored, by
    which of the texts they meet.
    """

    texts: int
    parts: int
    in_first: int
    min_labelled: int
    most: int

    enough = gold.ENOUGH
    """Answers to such questions from which on a person can be flagged."""


def gold_plan(campaign: Campaign) -> GoldPlan | None:
    """Return the plan of a campaign's hidden gold; None where none is drawn."""
    gold_items = campaign.items.filter(purpose=Item.Purpose.GOLD)
    labelled = sorted(
        gold_items.annotate(n=Count("asked__expected")).order_by().values_list("n", flat=True)
    )
    if not labelled:
        return None
    terms = gold.terms(
        n_gold=len(labelled),
        per_person=campaign.gold_per_person,
        items=campaign.items.filter(purpose=Item.Purpose.STUDY).count(),
        items_per_part=campaign.items_per_part,
        max_parts=campaign.max_parts,
    )
    return GoldPlan(
        texts=terms.n_met,
        parts=terms.parts,
        in_first=terms.n_new(1, 0),
        min_labelled=sum(labelled[: terms.n_met]),
        most=sum(labelled[-terms.n_met :]),
    )


def hourly(campaign: Campaign) -> Decimal | None:
    """Return the hourly pay from a part's pay and minutes; None where either is not stated."""
    if campaign.pay_per_part is None or not campaign.minutes_per_part:
        return None
    return (campaign.pay_per_part * 60 / campaign.minutes_per_part).quantize(Decimal("0.01"))


def divide_rounding_up(number: int, size: int) -> int:
    """Divide whole numbers and round up."""
    return -(-number // size)
