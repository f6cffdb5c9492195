"""Planning a campaign: its slots, parts, arrivals, minutes, money and days.

    slots     texts × raters for each
    parts     slots ÷ texts of a part, rounded up
    arrivals  parts ÷ the share of arrivals that finish one, rounded up; an arrival comes for one part
    minutes   parts × minutes of a part; and people, at least × practice texts × minutes of a text
    pay, fee  parts × pay of a part, and × its fee, rounded to the penny
    days      arrivals ÷ workers a day, rounded up

It holds if nobody skips, and if a person who comes back for another part is an arrival again.
"""

from dataclasses import dataclass
from decimal import Decimal

from annotation.models import Campaign, Item
from annotation.participation.payout import ZERO, part_payout
from annotation.participation.workload import Workload, divide_rounding_up
from annotation.plurals import n_of


@dataclass(frozen=True)
class Figure:
    """A number of a plan with its derivation, or the reason for which it is undefined."""

    value: int | float | Decimal | None
    how: str = ""

    @property
    def text(self) -> str:
        """Format amounts to the penny, other fractions with one digit; empty where undefined."""
        if self.value is None:
            return ""
        if isinstance(self.value, int):
            return str(self.value)
        return f"{self.value:.2f}" if isinstance(self.value, Decimal) else f"{self.value:.1f}"


@dataclass(frozen=True)
class Plan:
    """Figures of a planned campaign. Money is in the campaign's currency."""

    slots: Figure
    parts: Figure
    arrivals: Figure
    minutes: Figure
    pay: Figure
    fee: Figure
    total: Figure
    days: Figure
    currency: str

    @property
    def hours(self) -> float | None:
        return None if self.minutes.value is None else float(self.minutes.value) / 60


def plan(campaign: Campaign, work: Workload) -> Plan:
    """Return the plan of a campaign by its settings and its expected arrivals."""
    arrivals = _arrivals(campaign, work.parts)
    pay, fee, total = money(campaign, work.parts)
    return Plan(
        slots=Figure(work.gradings, f"{n_of(work.items, 'text')} × {n_of(work.raters, 'rater')}"),
        parts=Figure(
            work.parts,
            f"{n_of(work.gradings, 'slot')} ÷ {n_of(work.items_in_part, 'text')} of a part, rounded up",
        ),
        arrivals=arrivals,
        minutes=_minutes(campaign, work),
        pay=pay,
        fee=fee,
        total=total,
        days=_days(campaign, arrivals.value),
        currency=campaign.currency,
    )


def money(campaign: Campaign, parts: int) -> tuple[Figure, Figure, Figure]:
    """Return the pay of so many parts, the fee of the campaign's platform, and both."""
    amount = part_payout(campaign, has_fee=bool(campaign.platform))
    if amount is None:
        unknown = Figure(None, "no pay is stated")
        return unknown, unknown, unknown
    all_parts = amount.times(parts)
    n = n_of(parts, "part")
    if not campaign.platform:
        fee = Figure(ZERO.fee, "people come from no platform")
    elif not campaign.platform_fee:
        fee = Figure(ZERO.fee, "none is stated")
    else:
        fee = Figure(
            all_parts.fee, f"{n} × {amount.fee}: {campaign.platform_fee}% of the pay of a part"
        )
    return (
        Figure(all_parts.pay, f"{n} × {amount.pay}"),
        fee,
        Figure(all_parts.total, f"{all_parts.pay} + {all_parts.fee}"),
    )


def arrivals_for(parts: int, finished: int, of: int) -> int:
    """Return the arrivals needed for so many parts, where `finished` of `of` finish one.

    Raises ZeroDivisionError where nobody finishes.
    """
    return divide_rounding_up(parts * of, finished)


def _arrivals(campaign: Campaign, parts: int) -> Figure:
    percent = campaign.drop_out_percent
    if percent is None:
        return Figure(None, "no share of arrivals that finish no part is stated")
    return Figure(
        arrivals_for(parts, 100 - percent, 100),
        f"{n_of(parts, 'part')} ÷ {100 - percent}% that finish one, rounded up",
    )


def _minutes(campaign: Campaign, work: Workload) -> Figure:
    minutes = campaign.minutes_per_part
    if not minutes:
        return Figure(None, "the minutes of a part are not stated")
    how = f"{n_of(work.parts, 'part')} × {n_of(minutes, 'minute')}"
    practice = campaign.items.filter(purpose=Item.Purpose.TRAINING).count()
    if practice:
        how += (
            f"; and {'1 person' if work.people == 1 else f'{work.people} people'} × "
            f"{n_of(practice, 'practice text')} × {minutes / work.items_in_part:.1f} minutes, rounded up"
        )
    extra = divide_rounding_up(work.people * practice * minutes, work.items_in_part)
    return Figure(work.parts * minutes + extra, how)


def _days(campaign: Campaign, arrivals: int | float | Decimal | None) -> Figure:
    a_day = campaign.workers_a_day
    if not a_day:
        return Figure(None, "no workers a day are stated")
    if arrivals is None:
        return Figure(None, "how many have to come is undefined")
    return Figure(
        divide_rounding_up(int(arrivals), a_day),
        f"{n_of(int(arrivals), 'arrival')} ÷ {n_of(a_day, 'worker')} a day, rounded up",
    )
