"""Participants of a campaign: status, progress and activity of each."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q

from annotation.models import Answer, Assignment, Campaign, Item, Part, Participant
from annotation.models.participation import shown_state
from annotation.participation import active_time
from annotation.participation.pay_rate import MINUTE_MS


@dataclass(frozen=True)
class Share:
    """A count as a share of all."""

    key: str
    label: str
    n: int
    of: int

    @property
    def percent(self) -> int:
        return round(100 * self.n / self.of) if self.of else 0


@dataclass
class Row:
    """A participant, with counts of their work so far; practice counts as none."""

    participant: Participant
    status: str
    parts: int = 0
    expires: datetime | None = None
    in_hand: int = 0
    submitted: int = 0
    skipped: int = 0
    released: int = 0
    answers: int = 0
    altered: int = 0  # answers on pages that a browser had translated or changed
    active_ms: int = 0
    activity_times: list[datetime] = field(default_factory=list)

    @property
    def minutes(self) -> float | None:
        return self.active_ms / MINUTE_MS if self.active_ms else None

    @property
    def last_seen(self) -> datetime | None:
        return max(self.activity_times, default=None)

    @property
    def label(self) -> str:
        return Participant.STATUSES[self.status]


def statuses(campaign: Campaign) -> list[Share]:
    """Count the participants by status, in the order of a participation, zeros included."""
    participants = campaign.participants.order_by().with_status()
    counts: dict[str, int] = dict(participants.values_list("status").annotate(Count("pk")))
    total = sum(counts.values())
    return [
        Share(key, label, counts.get(key, 0), total) for key, label in Participant.STATUSES.items()
    ]


def rows(participants: Iterable[Any]) -> list[Row]:
    """Return a page of participants (each with its status), with counts of their work."""
    by_participant = {
        participant.pk: Row(participant, participant.status) for participant in participants
    }
    assignments = Assignment.objects.filter(participant__in=by_participant).order_by()
    field_of_state = {
        Assignment.State.OPEN: "in_hand",
        Assignment.State.SUBMITTED: "submitted",
        Assignment.State.RELEASED: "released",
    }
    counted = assignments.annotate(is_now=shown_state()).values_list("participant", "is_now")
    for pk, state, n, skipped, last in counted.annotate(
        n=Count("pk", filter=~Q(item__purpose=Item.Purpose.TRAINING)),
        skipped=Count("pk", filter=Q(was_skipped=True)),
        last=Max("submitted_at"),
    ):
        if name := field_of_state.get(Assignment.State(state)):
            setattr(by_participant[pk], name, n)
        by_participant[pk].skipped += skipped
        by_participant[pk].activity_times += [last] if last else []
    answers = Answer.objects.filter(assignment__participant__in=by_participant).order_by()
    is_work = ~Q(assignment__item__purpose=Item.Purpose.TRAINING)
    answer_counts = answers.values_list("assignment__participant").annotate(
        n=Count("pk", filter=Q(question__isnull=False) & is_work),
        altered=Count("pk", filter=Q(altered=True)),
        last=Max("created"),
    )
    for pk, n, altered, last in answer_counts:
        by_participant[pk].answers, by_participant[pk].altered = n, altered
        by_participant[pk].activity_times.append(last)
    owners = list(assignments.values_list("pk", "participant"))
    times = active_time.by_assignment(by_participant)
    for assignment, pk in owners:
        by_participant[pk].active_ms += times[assignment].ms
    for part in Part.objects.filter(participant__in=by_participant):
        row = by_participant[part.participant_id]
        row.parts += part.outcome == Part.Outcome.DONE
        row.activity_times.append(part.began)
        if part.outcome == Part.Outcome.UNDER_WAY:
            row.expires = part.expires
    for row in by_participant.values():
        row.activity_times += [
            moment
            for moment in (row.participant.consented_at, row.participant.checked_at)
            if moment
        ]
    return list(by_participant.values())
