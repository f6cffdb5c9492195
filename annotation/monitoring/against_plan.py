"""Planned against actual: what was planned of a running study, what came so far, and what is still to come.

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
from annotation.participation.due import OWN_PEOPLE, Amount
from annotation.participation.earnings import ENOUGH, clock
from annotation.participation.journey import OVER
from annotation.participation.planning import Figure, arrivals_for, money, plan
from annotation.participation.workload import divided_up, workload

ENOUGH_ARRIVALS = 10  # done or left, before a share of them is told
MINUTE = timedelta(minutes=1)
NONE = Figure(None)
CLOSED = Figure(None, "the study is closed")


@dataclass(frozen=True)
class Arrivals:
    """How many came, each for one part, by what became of it, and on how many days (UTC) somebody did."""

    done: int
    left: int
    under_way: int
    days: int

    @property
    def n(self) -> int:
        return self.done + self.left + self.under_way

    @property
    def ended(self) -> int:
        return self.done + self.left


@dataclass(frozen=True)
class Line:
    """A row of the table: a number as it was planned, as it is, and what is still to come."""

    label: str
    planned: Figure
    so_far: Figure
    to_come: Figure = NONE


def arrivals(campaign: Campaign, now: datetime | None = None) -> Arrivals:
    """Who came to a campaign. Who was invited, and has neither agreed nor tried the check, did not."""
    now = now or timezone.now()
    parts = Part.objects.filter(participant__campaign=campaign).order_by()
    is_gone = Q(outcome__in=[Part.Outcome.EXPIRED, Part.Outcome.RETURNED])
    counts = parts.aggregate(
        n=Count("pk"),
        done=Count("pk", filter=Q(outcome=Part.Outcome.DONE)),
        left=Count("pk", filter=is_gone | Q(outcome=Part.Outcome.UNDER_WAY, expires__lte=now)),
    )
    came = Q(consented_at__isnull=False) | Q(checked_at__isnull=False) | Q(check_tries__gt=0)
    without = (
        campaign.participants.filter(came | ~Q(source__in=OWN_PEOPLE), parts=None)
        .annotate(since=Coalesce("checked_at", "consented_at", "joined"))
        .order_by()
    )
    is_over = Q(outcome__in=OVER)
    if campaign.lease_hours:
        is_over |= Q(since__lte=now - timedelta(hours=campaign.lease_hours))
    ended = without.aggregate(n=Count("pk"), left=Count("pk", filter=is_over))
    left = counts["left"] + ended["left"]
    days = {
        *parts.values_list(day_of("began"), flat=True).distinct(),
        *without.values_list(day_of("since"), flat=True).distinct(),
    }
    return Arrivals(
        done=counts["done"],
        left=left,
        under_way=counts["n"] + ended["n"] - counts["done"] - left,
        days=len(days),
    )


def against_plan(campaign: Campaign, slots_handed_in: int, due: Amount) -> list[Line]:
    """The table of a study: planned, so far, still to come. Empty where no texts are drawn.

    `slots_handed_in` and `due` are those of all its people so far.
    """
    work = workload(campaign)
    if work is None:
        return []
    planned, came = plan(campaign, work), arrivals(campaign)
    slots = max(0, work.gradings - slots_handed_in)
    parts = divided_up(slots, work.items_in_part)
    pay, fee, total = money(campaign, parts)
    arrivals_to_come = _arrivals_to_come(parts, came)
    minutes, minutes_to_come = _minutes(campaign, parts, came.done)
    currency = f" ({campaign.currency})" if campaign.currency else ""
    stated = campaign.drop_out_percent
    is_paid = campaign.pay_per_part is not None
    lines = [
        Line(
            "Slots",
            planned.slots,
            Figure(slots_handed_in, "handed in"),
            Figure(slots, "not handed in"),
        ),
        Line(
            "Parts",
            planned.parts,
            Figure(came.done, "done"),
            Figure(parts, f"of {work.items_in_part} texts, those under way among them"),
        ),
        Line(
            "Arrivals",
            planned.arrivals,
            Figure(came.n, f"{came.done} done, {came.left} left, {came.under_way} under way"),
            arrivals_to_come,
        ),
        Line(
            "Finish no part, in %",
            Figure(stated, "stated") if stated is not None else Figure(None, "it is not stated"),
            _share_that_left(came),
        ),
        Line("Minutes", planned.minutes, minutes, minutes_to_come),
        Line(f"Pay{currency}", planned.pay, _so_far(due.pay, is_paid), pay),
        Line(f"Fee{currency}", planned.fee, _so_far(due.fee, is_paid), fee),
        Line(f"Pay and fee{currency}", planned.total, _so_far(due.total, is_paid), total),
        Line(
            "Days",
            planned.days,
            Figure(came.days, "on which somebody came, in UTC"),
            _days_to_come(arrivals_to_come, came),
        ),
    ]
    if campaign.state != Campaign.State.CLOSED:
        return lines
    return [Line(line.label, line.planned, line.so_far, CLOSED) for line in lines]


def _too_few(came: Arrivals) -> Figure:
    n = came.ended
    have = f"{n} arrival{' has' if n == 1 else 's have'} ended"
    return Figure(None, f"only {have}, and {ENOUGH_ARRIVALS} are needed to say")


def _share_that_left(came: Arrivals) -> Figure:
    if came.ended < ENOUGH_ARRIVALS:
        return _too_few(came)
    return Figure(100 * came.left / came.ended, f"{came.left} of {came.ended} that ended")


def _arrivals_to_come(parts: int, came: Arrivals) -> Figure:
    if not parts:
        return Figure(0, "no part is to come")
    if came.ended < ENOUGH_ARRIVALS:
        return _too_few(came)
    if not came.done:
        return Figure(None, f"none of the {came.ended} that ended finished a part")
    return Figure(
        arrivals_for(parts, came.done, came.ended),
        f"at {came.done} of {came.ended} that finish a part",
    )


def _days_to_come(to_come: Figure, came: Arrivals) -> Figure:
    if to_come.value is None or not to_come.value:
        return to_come
    return Figure(
        divided_up(int(to_come.value) * came.days, came.n),
        f"at {came.n / came.days:.1f} arrivals a day, of {came.n}",
    )


def _minutes(campaign: Campaign, parts: int, n_done: int) -> tuple[Figure, Figure]:
    """Of parts that are done, by the server's clock; and of those to come, at the median."""
    done = Part.objects.filter(participant__campaign=campaign, outcome=Part.Outcome.DONE)
    measured = [spent / MINUTE for spent in clock(done).values()]
    n = len(measured)
    so_far = Figure(sum(measured), f"by the server's clock, {n} of {n_done} parts done")
    if not parts:
        return so_far, Figure(0, "no part is to come")
    if n < ENOUGH:
        return so_far, Figure(
            None,
            f"only {n} part{' is' if n == 1 else 's are'} done, and {ENOUGH} are needed to say",
        )
    middle = median(measured)
    return so_far, Figure(parts * middle, f"at {middle:.1f} a part, the median of {n}")


def _so_far(amount: Decimal, is_paid: bool) -> Figure:
    return Figure(amount, "due") if is_paid else Figure(None, "no pay is stated")
