"""Progress of a campaign: complete items, daily work, pay due and time of parts.

Every number is counted by the database, but for the time of parts, of which the newest are looked at. A
campaign of many thousand items opens as fast as a small one.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db.models import (
    Case,
    Count,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Substr

from annotation.models import Answer, Assignment, Campaign, Item, Part, Participant
from annotation.models.participation import shown_state
from annotation.participation import active_time, assigning
from annotation.participation.pay_rate import MINUTE_MS
from annotation.participation.payout import ZERO, Amount, outcome_payout

NEWEST_PARTS = 200  # that are done, whose time is looked at
OUTCOMES = {
    "done": "done",
    "": "under way",
    "expired": "time ran out",
    "returned": "returned",
    "screened_out": "screened out",
    "failed_check": "failed the check",
}


@dataclass
class ItemsOf:
    """Study items of one system (or of all) by state, and their slots."""

    system: str
    complete: int = 0
    under_way: int = 0
    waiting: int = 0
    submitted: int = 0
    held: int = 0
    raters_per_item: int = 1

    @property
    def items(self) -> int:
        return self.complete + self.under_way + self.waiting

    @property
    def slots(self) -> int:
        return self.items * self.raters_per_item

    @property
    def percent(self) -> int:
        return round(100 * self.submitted / self.slots) if self.slots else 0


@dataclass(frozen=True)
class Day:
    day: str
    answers: int
    submitted: int
    raters: int
    percent: int


@dataclass(frozen=True)
class PayoutRow:
    """Parts of people of one source and outcome, and the amount due for them.

    A participation that ended before a part was begun counts as one. The amount is None where no
    pay is stated.
    """

    source: str
    outcome: str
    parts: int
    amount: Amount | None


@dataclass(frozen=True)
class Time:
    """Active minutes of the newest parts that are done; None where no page has measured any.

    `measured` of those `looked_at`, of all `parts` that are done.
    """

    minutes: float | None
    measured: int
    looked_at: int
    parts: int


def handed_out(campaign: Campaign) -> dict[str, int]:
    """Count the assigned items by state, gold among them, and practice not: it is no work.

    A skipped item is no released one, whether its slot went back or not.
    """
    assignments = Assignment.objects.filter(participant__campaign=campaign).order_by()
    assignments = assignments.exclude(item__purpose=Item.Purpose.TRAINING)
    counts = dict(
        assignments.annotate(is_now=shown_state()).values_list("is_now").annotate(Count("pk"))
    )
    return {state.value: counts.get(state.value, 0) for state in Assignment.State}


def abandoned(campaign: Campaign) -> dict[str, int]:
    """Count the begun, unsubmitted items of overdue parts, their slots and their people."""
    waiting = assigning.abandoned(campaign)
    return waiting.aggregate(
        items=Count("pk"),
        slots=Count("pk", filter=Q(slot__isnull=False)),
        people=Count("participant", distinct=True),
    )


def items(campaign: Campaign) -> list[ItemsOf]:
    """Return the study items of each system by state, after those of all systems.

    Complete: as many raters as it needs have submitted it. Under way: somebody holds it. Waiting:
    nobody does.
    """
    k = campaign.raters_per_item
    slots = Assignment.objects.filter(item=OuterRef("pk"), slot__isnull=False)
    slots_of_item = slots.order_by().values("item")
    handed_in = Count("pk", filter=Q(state=Assignment.State.SUBMITTED))
    study = campaign.items.filter(purpose=Item.Purpose.STUDY).order_by()
    counted = (
        study.annotate(
            n_submitted=_number(slots_of_item.annotate(n=handed_in)),
            n_held=_number(slots_of_item.annotate(n=Count("pk"))),
        )
        .annotate(
            how=Case(
                When(n_submitted__gte=k, then=Value("complete")),
                When(n_held__gt=0, then=Value("under_way")),
                default=Value("waiting"),
            )
        )
        .values_list("text__system", "how")
        .annotate(Count("pk"), Sum("n_submitted"), Sum("n_held"))
    )
    total = ItemsOf("", raters_per_item=k)
    by_system: dict[str, ItemsOf] = {}
    for system, status, n, n_submitted, n_held in counted:
        system_items = by_system.setdefault(system, ItemsOf(system, raters_per_item=k))
        for row in (system_items, total):
            setattr(row, status, getattr(row, status) + n)
            row.submitted += n_submitted
            row.held += n_held - n_submitted
    return [total, *(by_system[system] for system in sorted(by_system))]


def _number(counted: QuerySet[Any]) -> Coalesce:
    return Coalesce(Subquery(counted.values("n"), output_field=IntegerField()), 0)


def day_of(moment: str) -> Substr:
    """Return the day of a moment in UTC, as text.

    Truncating a date calls Python for each row in SQLite, and is slow.
    """
    return Substr(Cast(F(moment), TextField()), 1, 10)


def by_day(campaign: Campaign) -> list[Day]:
    """Count the answers, submitted items and people of each day (UTC), oldest first.

    Every answer counts, a changed one too; attention checks and practice do not. A day without
    work has no row.
    """
    answers = Answer.objects.filter(
        assignment__participant__campaign=campaign, question__isnull=False
    ).exclude(assignment__item__purpose=Item.Purpose.TRAINING)
    answered: dict[str, tuple[int, int]] = {
        day: (n, people)
        for day, n, people in answers.order_by()
        .annotate(day=day_of("created"))
        .values_list("day")
        .annotate(Count("pk"), Count("assignment__participant", distinct=True))
    }
    assignments = Assignment.objects.filter(
        participant__campaign=campaign, submitted_at__isnull=False, state="submitted"
    ).exclude(item__purpose=Item.Purpose.TRAINING)
    submitted: dict[str, int] = dict(
        assignments.order_by()
        .annotate(day=day_of("submitted_at"))
        .values_list("day")
        .annotate(Count("pk"))
    )
    max_answers = max((n for n, _ in answered.values()), default=0)
    days = []
    for day in sorted(answered.keys() | submitted.keys()):
        n, people = answered.get(day, (0, 0))
        percent = round(100 * n / max_answers) if max_answers else 0
        days.append(Day(day, n, submitted.get(day, 0), people, percent))
    return days


def late(campaign: Campaign) -> dict[str, int]:
    """Count the stored answers that are no ratings as they came too late, by the reason."""
    answers = Answer.objects.filter(
        assignment__participant__campaign=campaign, question__isnull=False
    ).exclude(late=Answer.Late.NO)
    answers = answers.exclude(assignment__item__purpose=Item.Purpose.TRAINING)
    return dict(answers.order_by().values_list("late").annotate(Count("pk")))


def pay_due(campaign: Campaign) -> list[PayoutRow]:
    """Return the amounts due by source and outcome of parts. Amounts paid are not known."""
    parts = Part.objects.filter(participant__campaign=campaign).order_by()
    counts: Counter[tuple[str, str]] = Counter()
    for source, outcome, n in parts.values_list("participant__source", "outcome").annotate(
        Count("pk")
    ):
        counts[source, outcome] += n
    without_part = campaign.participants.filter(parts=None).exclude(outcome__in=["", "done"])
    for source, outcome, n in (
        without_part.order_by().values_list("source", "outcome").annotate(Count("pk"))
    ):
        counts[source, outcome] += n
    rows = []
    for source in Participant.Source:
        for outcome, label in OUTCOMES.items():
            n = counts[source.value, outcome]
            amount = outcome_payout(campaign, source, outcome)
            if n:
                rows.append(PayoutRow(source.label, label, n, amount and amount.times(n)))
    return rows


def total_due(dues: Iterable[PayoutRow]) -> Amount:
    """Return the sum of the amounts due; zero where no pay is stated."""
    return sum((row.amount for row in dues if row.amount), start=ZERO)


def time_of_parts(campaign: Campaign) -> Time:
    """Return the median active minutes of the newest finished parts, without idle time."""
    parts = Part.objects.filter(participant__campaign=campaign, outcome=Part.Outcome.DONE)
    part_ms = active_time.by_part(parts.order_by("-ended")[:NEWEST_PARTS]).values()
    minutes = median(part_ms) / MINUTE_MS if part_ms else None
    n = parts.count()
    return Time(minutes, len(part_ms), min(n, NEWEST_PARTS), n)
