"""How far a study is: who is where, which items are whole, what came in by day, what is to be paid.

Every number is counted by the database. A campaign of many thousand items opens as fast as a small one.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
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
from django.utils import timezone

from annotation.models import Answer, Assignment, Campaign, Item, Participant, Sitting

STATUSES = {
    "invited": "invited",
    "consented": "consented",
    "in_check": "in the check",
    "working": "working",
    "overdue": "overdue",
    "lapsed": "time ran out",
    "part_done": "part done",
    Participant.Outcome.DONE.value: "done",
    Participant.Outcome.SCREENED_OUT.value: "screened out",
    Participant.Outcome.FAILED_CHECK.value: "failed the check",
    Participant.Outcome.RETURNED.value: "returned",
}
MINUTE_MS = 60_000


@dataclass(frozen=True)
class Share:
    """A number of things, out of all of them."""

    key: str
    label: str
    n: int
    of: int

    @property
    def percent(self) -> int:
        return round(100 * self.n / self.of) if self.of else 0


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
    """Parts that were done by people of one source, and their pay; None where no pay is stated."""

    source: str
    parts: int
    amount: Decimal | None


@dataclass(frozen=True)
class Time:
    """Active minutes of the parts that are done; None where no page has measured any."""

    minutes: float | None
    measured: int
    parts: int


@dataclass
class Row:
    """A participant, with what they have done so far."""

    stay: Participant
    status: str
    parts: int = 0
    expires: datetime | None = None
    in_hand: int = 0
    submitted: int = 0
    skipped: int = 0
    released: int = 0
    answers: int = 0
    active_ms: int = 0
    seen: list[datetime] = field(default_factory=list)

    @property
    def minutes(self) -> float | None:
        return self.active_ms / MINUTE_MS if self.active_ms else None

    @property
    def last_seen(self) -> datetime | None:
        return max(self.seen, default=None)

    @property
    def label(self) -> str:
        return STATUSES[self.status]


def with_status(stays: QuerySet[Participant], now: datetime | None = None) -> QuerySet[Any]:
    """The participants, each with its `status`, a key of STATUSES: the furthest that is true of it."""
    now = now or timezone.now()
    parts = Sitting.objects.filter(participant=OuterRef("pk"))
    began = parts.filter(outcome=Sitting.Outcome.UNDER_WAY)
    return stays.annotate(
        status=Case(
            When(~Q(outcome=""), then=F("outcome")),
            When(Exists(began.filter(expires__lte=now)), then=Value("overdue")),
            When(Exists(began), then=Value("working")),
            When(Exists(parts.filter(outcome=Sitting.Outcome.DONE)), then=Value("part_done")),
            When(Exists(parts.filter(outcome=Sitting.Outcome.EXPIRED)), then=Value("lapsed")),
            When(checked_at=None, check_tries__gt=0, then=Value("in_check")),
            When(
                Q(consented_at__isnull=False) | Q(checked_at__isnull=False), then=Value("consented")
            ),
            default=Value("invited"),
        )
    )


def statuses(campaign: Campaign) -> list[Share]:
    """How many participants have each status, in the order of a stay; nobody is a 0."""
    stays = with_status(campaign.participants.order_by())
    counts: dict[str, int] = dict(stays.values_list("status").annotate(Count("pk")))
    total = sum(counts.values())
    return [Share(key, label, counts.get(key, 0), total) for key, label in STATUSES.items()]


def handed_out(campaign: Campaign) -> dict[str, int]:
    """How many lent items are open, submitted, skipped and released, training and gold among them."""
    lent = Assignment.objects.filter(participant__campaign=campaign).order_by()
    counts = dict(lent.values_list("state").annotate(Count("pk")))
    return {state.value: counts.get(state.value, 0) for state in Assignment.State}


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


def _day(moment: str) -> Substr:
    """The day of a moment in UTC. Truncating a date calls Python for each row in SQLite, and is slow."""
    return Substr(Cast(F(moment), TextField()), 1, 10)


def by_day(campaign: Campaign) -> list[Day]:
    """What came in on each day (UTC), oldest first: answers, items, and how many people gave them.

    Every answer counts, a changed one too; attention checks do not. A day without work has no row.
    """
    answers = Answer.objects.filter(
        assignment__participant__campaign=campaign, question__isnull=False
    )
    given: dict[str, tuple[int, int]] = {
        day: (n, people)
        for day, n, people in answers.order_by()
        .annotate(day=_day("created"))
        .values_list("day")
        .annotate(Count("pk"), Count("assignment__participant", distinct=True))
    }
    lent = Assignment.objects.filter(
        participant__campaign=campaign, submitted_at__isnull=False, state="submitted"
    )
    submitted: dict[str, int] = dict(
        lent.order_by().annotate(day=_day("submitted_at")).values_list("day").annotate(Count("pk"))
    )
    most = max((n for n, _ in given.values()), default=0)
    found = []
    for day in sorted(given.keys() | submitted.keys()):
        n, people = given.get(day, (0, 0))
        percent = round(100 * n / most) if most else 0
        found.append(Day(day, n, submitted.get(day, 0), people, percent))
    return found


def pay_due(campaign: Campaign) -> list[Due]:
    """Parts that are done, by where the people came from, and their pay. What was paid is not known."""
    done = Sitting.objects.filter(participant__campaign=campaign, outcome=Sitting.Outcome.DONE)
    counts = dict(done.order_by().values_list("participant__source").annotate(Count("pk")))
    pay = campaign.pay_per_part
    return [
        Due(source.label, counts[source.value], None if pay is None else pay * counts[source.value])
        for source in Participant.Source
        if counts.get(source.value)
    ]


def time_of_parts(campaign: Campaign) -> Time:
    """The median of the active minutes of parts that are done; idle time is not counted."""
    done = Assignment.objects.filter(
        participant__campaign=campaign, sitting__outcome=Sitting.Outcome.DONE
    ).order_by()
    spent: dict[int, int] = defaultdict(int)
    for sitting, ms in done.values_list("sitting").annotate(Sum("active_ms")):
        spent[sitting] += ms
    for sitting, ms in done.values_list("sitting").annotate(Sum("answers__active_ms")):
        spent[sitting] += ms or 0
    measured = [ms for ms in spent.values() if ms]
    minutes = median(measured) / MINUTE_MS if measured else None
    parts = Sitting.objects.filter(participant__campaign=campaign, outcome=Sitting.Outcome.DONE)
    return Time(minutes, len(measured), parts.count())


def rows(stays: Iterable[Any]) -> list[Row]:
    """A page of participants (each with its status), with what they have done."""
    found = {stay.pk: Row(stay, stay.status) for stay in stays}
    lent = Assignment.objects.filter(participant__in=found).order_by()
    kept = {
        Assignment.State.OPEN: "in_hand",
        Assignment.State.SUBMITTED: "submitted",
        Assignment.State.SKIPPED: "skipped",
        Assignment.State.RELEASED: "released",
    }
    counted = lent.values_list("participant", "state")
    for pk, state, n, ms, last in counted.annotate(
        Count("pk"), Sum("active_ms"), Max("submitted_at")
    ):
        setattr(found[pk], kept[Assignment.State(state)], n)
        found[pk].active_ms += ms
        found[pk].seen += [last] if last else []
    given = Answer.objects.filter(assignment__participant__in=found).order_by()
    told = given.values_list("assignment__participant").annotate(
        n=Count("pk", filter=Q(question__isnull=False)), ms=Sum("active_ms"), last=Max("created")
    )
    for pk, n, ms, last in told:
        found[pk].answers = n
        found[pk].active_ms += ms
        found[pk].seen.append(last)
    for part in Sitting.objects.filter(participant__in=found):
        row = found[part.participant_id]
        row.parts += part.outcome == Sitting.Outcome.DONE
        row.seen.append(part.began)
        if part.outcome == Sitting.Outcome.UNDER_WAY:
            row.expires = part.expires
    for row in found.values():
        row.seen += [at for at in (row.stay.consented_at, row.stay.checked_at) if at]
    return list(found.values())
