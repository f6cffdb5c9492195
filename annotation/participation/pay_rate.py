"""Hourly pay: a part's pay by the time that parts really took."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import mean, median

from django.db.models import F, Max, Min, Q, QuerySet

from annotation.models import Assignment, Campaign, Part
from annotation.participation import active_time

ENOUGH = 5  # parts of others, before their time is told to somebody who has finished none
MINUTE_MS = 60_000
NEWEST = 50  # of them are looked at: a worker's page counts no whole study


@dataclass(frozen=True)
class Hourly:
    """Pay per hour, and the minutes of a part that it rests on.

    whose: "own" (the mean of the reader's parts), "others" (the median of theirs) or "stated".
    """

    amount: Decimal
    minutes: float
    basis: str

    @property
    def whole_minutes(self) -> int:
        return max(1, round(self.minutes))


def hourly_pay(campaign: Campaign, own_ms: Sequence[int]) -> Hourly | None:
    """Return the hourly pay by active time of the reader's finished parts, else of others'.

    Where both are too few, by the minutes that the study states. None without pay, or without any.
    """
    if campaign.pay_per_part is None:
        return None
    done = Part.objects.filter(participant__campaign=campaign, outcome=Part.Outcome.DONE)
    if own_ms:
        return _hourly(campaign.pay_per_part, mean(own_ms) / MINUTE_MS, "own")
    part_ms_of_others = active_time.by_part(done.order_by("-ended")[:NEWEST]).values()
    if len(part_ms_of_others) >= ENOUGH:
        return _hourly(campaign.pay_per_part, median(part_ms_of_others) / MINUTE_MS, "others")
    if campaign.minutes_per_part:
        return _hourly(campaign.pay_per_part, campaign.minutes_per_part, "stated")
    return None


def _hourly(pay: Decimal, minutes: float, basis: str) -> Hourly:
    amount = (pay * 60 / Decimal(minutes)).quantize(Decimal("0.01"))
    return Hourly(amount, minutes, basis)


def part_durations(parts: QuerySet[Part]) -> dict[int, timedelta]:
    """Return the server-side duration of each part, from its first event to its last.

    Parts without events are left out. Events are the opening of a text, an answer and submitting.
    Those before the part began (of a text that came along), or after it ended, do not count.
    """
    inside = Q(part__began__lte=F("moment")) & (
        Q(part__ended=None) | Q(moment__lte=F("part__ended"))
    )
    signs: dict[int, list[datetime]] = defaultdict(list)
    for name in ("opened_at", "submitted_at", "answers__created"):
        items = Assignment.objects.filter(part__in=parts.values("pk")).order_by()
        within = items.annotate(moment=F(name)).filter(inside).values("part")
        for part, first, last in within.annotate(
            first=Min("moment"), last=Max("moment")
        ).values_list("part", "first", "last"):
            signs[part] += [first, last]
    return {part: max(moments) - min(moments) for part, moments in signs.items()}
