"""The progress of a campaign: which items are whole, what came in by day, what is to be paid.

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
from annotation.participation.due import NOTHING, Amount, for_outcome
from annotation.participation.earnings import MINUTE_MS

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
    """The study items of one system (or of all), and the slots that raters hold of them."""

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
class Due:
    """Parts of people of one source that ended in one way, and what is due for them.

    Who ended before a part was begun counts as one. The amount is None where no pay is stated.
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
    """How many assigned items are open, submitted, skipped and released, training and gold among them.

    What was skipped is no released one, whether its place went back or not.
    """
    assignments = Assignment.objects.filter(participant__campaign=campaign).order_by()
    counts = dict(
        assignments.annotate(is_now=shown_state()).values_list("is_now").annotate(Count("pk"))
    )
    return {state.value: counts.get(state.value, 0) for state in Assignment.State}


def abandoned(campaign: Campaign) -> dict[str, int]:
    """Items that were begun in parts whose time is over, and never handed in, and whose they are."""
    waiting = assigning.abandoned(campaign)
    return waiting.aggregate(
        items=Count("pk"),
        slots=Count("pk", filter=Q(slot__isnull=False)),
        people=Count("participant", distinct=True),
    )


def items(campaign: Campaign) -> list[ItemsOf]:
    """The study items of each system by state, and of all of them first.

    Complete: as many raters as it needs have handed it in. Under way: somebody holds it. Waiting:
    nobody does.
    """
    k = campaign.raters_per_item
    slots = Assignment.objects.filter(item=OuterRef("pk"), slot__isnull=False)
    held = slots.order_by().values("item")
    handed_in = Count("pk", filter=Q(state=Assignment.State.SUBMITTED))
    study = campaign.items.filter(purpose=Item.Purpose.STUDY).order_by()
    counted = (
        study.annotate(
            n_submitted=_number(held.annotate(n=handed_in)),
            n_held=_number(held.annotate(n=Count("pk"))),
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
    for system, how, n, n_submitted, n_held in counted:
        own = by_system.setdefault(system, ItemsOf(system, raters_per_item=k))
        for row in (own, total):
            setattr(row, how, getattr(row, how) + n)
            row.submitted += n_submitted
            row.held += n_held - n_submitted
    return [total, *(by_system[system] for system in sorted(by_system))]


def _number(counted: QuerySet[Any]) -> Coalesce:
    return Coalesce(Subquery(counted.values("n"), output_field=IntegerField()), 0)


def day_of(moment: str) -> Substr:
    """The day of a moment in UTC. Truncating a date calls Python for each row in SQLite, and is slow."""
    return Substr(Cast(F(moment), TextField()), 1, 10)


def by_day(campaign: Campaign) -> list[Day]:
    """What came in on each day (UTC), oldest first: answers, items, and how many people gave them.

    Every answer counts, a changed one too; attention checks do not. A day without work has no row.
    """
    answers = Answer.objects.filter(
        assignment__participant__campaign=campaign, question__isnull=False
    )
    answered: dict[str, tuple[int, int]] = {
        day: (n, people)
        for day, n, people in answers.order_by()
        .annotate(day=day_of("created"))
        .values_list("day")
        .annotate(Count("pk"), Count("assignment__participant", distinct=True))
    }
    assignments = Assignment.objects.filter(
        participant__campaign=campaign, submitted_at__isnull=False, state="submitted"
    )
    submitted: dict[str, int] = dict(
        assignments.order_by()
        .annotate(day=day_of("submitted_at"))
        .values_list("day")
        .annotate(Count("pk"))
    )
    most = max((n for n, _ in answered.values()), default=0)
    days = []
    for day in sorted(answered.keys() | submitted.keys()):
        n, people = answered.get(day, (0, 0))
        percent = round(100 * n / most) if most else 0
        days.append(Day(day, n, submitted.get(day, 0), people, percent))
    return days


def late(campaign: Campaign) -> dict[str, int]:
    """How many answers were kept and are no ratings, because they came too late, by the reason."""
    answers = Answer.objects.filter(
        assignment__participant__campaign=campaign, question__isnull=False
    ).exclude(late=Answer.Late.NO)
    return dict(answers.order_by().values_list("late").annotate(Count("pk")))


def pay_due(campaign: Campaign) -> list[Due]:
    """What is due by where people came from and how their parts ended. What was paid is not known."""
    parts = Part.objects.filter(participant__campaign=campaign).order_by()
    counts: Counter[tuple[str, str]] = Counter()
    for source, outcome, n in parts.values_list("participant__source", "outcome").annotate(
        Count("pk")
    ):
        counts[source, outcome] += n
    without = campaign.participants.filter(parts=None).exclude(outcome__in=["", "done"])
    for source, outcome, n in (
        without.order_by().values_list("source", "outcome").annotate(Count("pk"))
    ):
        counts[source, outcome] += n
    rows = []
    for source in Participant.Source:
        for outcome, label in OUTCOMES.items():
            n = counts[source.value, outcome]
            amount = for_outcome(campaign, source, outcome)
            if n:
                rows.append(Due(source.label, label, n, amount and amount.times(n)))
    return rows


def total_due(dues: Iterable[Due]) -> Amount:
    """The sum of what is due; nothing where no pay is stated."""
    return sum((due.amount for due in dues if due.amount), start=NOTHING)


def time_of_parts(campaign: Campaign) -> Time:
    """The median of the active minutes of the newest parts that are done; idle time is not counted."""
    parts = Part.objects.filter(participant__campaign=campaign, outcome=Part.Outcome.DONE)
    measured = active_time.by_part(parts.order_by("-ended")[:NEWEST_PARTS]).values()
    minutes = median(measured) / MINUTE_MS if measured else None
    n = parts.count()
    return Time(minutes, len(measured), min(n, NEWEST_PARTS), n)
