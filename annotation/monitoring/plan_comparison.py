"""Planned against actual figures of a running study, and the estimate of the rest.

An arrival comes for one part. It is done with the part; it left where the part ran out, was given
back or is overdue, or where the participation ended before one (and where none was begun in the time
of a part); else it is under way.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median

from django.db.models import Count, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import Campaign, Part
from annotation.monitoring.progress import day_of
from annotation.participation.pay_rate import ENOUGH, part_durations
from annotation.participation.payout import OWN_PEOPLE, Amount
from annotation.participation.planning import Figure, arrivals_for, money, plan
from annotation.participation.workflow import ENDED_OUTCOMES
from annotation.participation.workload import divide_rounding_up, workload
from annotation.plurals import n_of

ENOUGH_ARRIVALS = 10  # done or left, before a share of them is told
MINUTE = timedelta(minutes=1)
NONE = Figure(None)
CLOSED = Figure(None, "the study is closed")


@dataclass(frozen=True)
class Arrivals:
    """Counts of arrivals, each for one part, by outcome, and of days (UTC) with arrivals."""

    done: int
    n_left: int
    under_way: int
    days: int

    @property
    def n(self) -> int:
        return self.done + self.n_left + self.under_way

    @property
    def ended(self) -> int:
        return self.done + self.n_left


@dataclass(frozen=True)
class Line:
    """A row of the table: a number as planned, so far, and still to come."""

    label: str
    planned: Figure
    so_far: Figure
    remaining: Figure = NONE


def arrivals(campaign: Campaign, at: datetime | None = None) -> Arrivals:
    """Count the arrivals of a campaign.

    A person who was invited, and has neither agreed nor tried the check, has not arrived.
    """
    at = at or timezone.now()
    parts = Part.objects.filter(participant__campaign=campaign).order_by()
    has_ended = Q(outcome__in=[Part.Outcome.EXPIRED, Part.Outcome.RETURNED])
    counts = parts.aggregate(
        n=Count("pk"),
        done=Count("pk", filter=Q(outcome=Part.Outcome.DONE)),
        left=Count("pk", filter=has_ended | Q(outcome=Part.Outcome.UNDER_WAY, expires__lte=at)),
    )
    has_arrived = Q(consented_at__isnull=False) | Q(checked_at__isnull=False) | Q(check_tries__gt=0)
    without_part = (
        campaign.participants.filter(has_arrived | ~Q(source__in=OWN_PEOPLE), parts=None)
        .annotate(since=Coalesce("checked_at", "consented_at", "joined"))
        .order_by()
    )
    departed = Q(outcome__in=ENDED_OUTCOMES)
    if campaign.lease_hours:
        departed |= Q(since__lte=at - timedelta(hours=campaign.lease_hours))
    ended = without_part.aggregate(n=Count("pk"), left=Count("pk", filter=departed))
    n_left = counts["left"] + ended["left"]
    days = {
        *parts.values_list(day_of("began"), flat=True).distinct(),
        *without_part.values_list(day_of("since"), flat=True).distinct(),
    }
    return Arrivals(
        done=counts["done"],
        n_left=n_left,
        under_way=counts["n"] + ended["n"] - counts["done"] - n_left,
        days=len(days),
    )


def compare_with_plan(campaign: Campaign, slots_handed_in: int, amount_due: Amount) -> list[Line]:
    """Return the table of a study: planned, so far, still to come; empty without a sample.

    `slots_handed_in` and `amount_due` are those of all its people so far.
    """
    work = workload(campaign)
    if work is None:
        return []
    planned, counts = plan(campaign, work), arrivals(campaign)
    slots = max(0, work.gradings - slots_handed_in)
    parts = divide_rounding_up(slots, work.items_in_part)
    pay, fee, total = money(campaign, parts)
    arrivals_to_come = _arrivals_to_come(parts, counts)
    minutes, minutes_to_come = _minutes(campaign, parts, counts.done)
    currency = f" ({campaign.currency})" if campaign.currency else ""
    drop_out_percent = campaign.drop_out_percent
    is_paid = campaign.pay_per_part is not None
    lines = [
        Line(
            "Assignments",
            planned.slots,
            Figure(slots_handed_in, "submitted"),
            Figure(slots, "not submitted"),
        ),
        Line(
            "Parts",
            planned.parts,
            Figure(counts.done, "done"),
            Figure(parts, f"of {n_of(work.items_in_part, 'text')}, including open parts"),
        ),
        Line(
            "Arrivals",
            planned.arrivals,
            Figure(
                counts.n,
                f"{counts.done} done, {counts.n_left} left, {counts.under_way} in progress",
            ),
            arrivals_to_come,
        ),
        Line(
            "Arrivals without a finished part, in %",
            Figure(drop_out_percent, "stated")
            if drop_out_percent is not None
            else Figure(None, "not stated"),
            _share_that_left(counts),
        ),
        Line("Minutes", planned.minutes, minutes, minutes_to_come),
        Line(f"Pay{currency}", planned.pay, _so_far(amount_due.pay, is_paid), pay),
        Line(f"Fee{currency}", planned.fee, _so_far(amount_due.fee, is_paid), fee),
        Line(f"Pay and fee{currency}", planned.total, _so_far(amount_due.total, is_paid), total),
        Line(
            "Days",
            planned.days,
            Figure(counts.days, "with arrivals, in UTC"),
            _days_to_come(arrivals_to_come, counts),
        ),
    ]
    if campaign.state != Campaign.State.CLOSED:
        return lines
    return [Line(line.label, line.planned, line.so_far, CLOSED) for line in lines]


def _too_few(counts: Arrivals) -> Figure:
    n = counts.ended
    n_ended = f"{n} arrival{' has' if n == 1 else 's have'} ended"
    return Figure(None, f"only {n_ended}; at least {ENOUGH_ARRIVALS} are needed")


def _share_that_left(counts: Arrivals) -> Figure:
    if counts.ended < ENOUGH_ARRIVALS:
        return _too_few(counts)
    return Figure(
        100 * counts.n_left / counts.ended, f"{counts.n_left} of {counts.ended} that ended"
    )


def _arrivals_to_come(parts: int, counts: Arrivals) -> Figure:
    if not parts:
        return Figure(0, "no parts remain")
    if counts.ended < ENOUGH_ARRIVALS:
        return _too_few(counts)
    if not counts.done:
        return Figure(None, f"none of {counts.ended} ended arrivals finished a part")
    return Figure(
        arrivals_for(parts, counts.done, counts.ended),
        f"at the rate of {counts.done} finished parts of {counts.ended}",
    )


def _days_to_come(arrivals_to_come: Figure, counts: Arrivals) -> Figure:
    if arrivals_to_come.value is None or not arrivals_to_come.value:
        return arrivals_to_come
    return Figure(
        divide_rounding_up(int(arrivals_to_come.value) * counts.days, counts.n),
        f"at {counts.n / counts.days:.1f} arrivals a day, of {counts.n}",
    )


def _minutes(campaign: Campaign, parts: int, n_done: int) -> tuple[Figure, Figure]:
    """Return the minutes of finished parts by the server's clock, and an estimate of the rest.

    The estimate is at the median of the finished parts.
    """
    done = Part.objects.filter(participant__campaign=campaign, outcome=Part.Outcome.DONE)
    part_minutes = [duration / MINUTE for duration in part_durations(done).values()]
    n = len(part_minutes)
    so_far = Figure(sum(part_minutes), f"by the server's clock, {n} of {n_done} parts done")
    if not parts:
        return so_far, Figure(0, "no parts remain")
    if n < ENOUGH:
        return so_far, Figure(
            None,
            f"only {n} part{' is' if n == 1 else 's are'} done; at least {ENOUGH} are needed",
        )
    median_minutes = median(part_minutes)
    return so_far, Figure(
        parts * median_minutes, f"at {median_minutes:.1f} a part, the median of {n}"
    )


def _so_far(amount: Decimal, is_paid: bool) -> Figure:
    return Figure(amount, "due") if is_paid else Figure(None, "no pay is stated")
