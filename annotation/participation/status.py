"""How far somebody is in a study: the furthest that is true of a participant."""

from datetime import datetime
from typing import Any

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from annotation.models import Part, Participant

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


def with_status(participants: QuerySet[Participant], now: datetime | None = None) -> QuerySet[Any]:
    """The participants, each with its `status`, a key of STATUSES: the furthest that is true of it."""
    now = now or timezone.now()
    parts = Part.objects.filter(participant=OuterRef("pk"))
    began = parts.filter(outcome=Part.Outcome.UNDER_WAY)
    return participants.annotate(
        status=Case(
            When(~Q(outcome=""), then=F("outcome")),
            When(Exists(began.filter(expires__lte=now)), then=Value("overdue")),
            When(Exists(began), then=Value("working")),
            When(Exists(parts.filter(outcome=Part.Outcome.DONE)), then=Value("part_done")),
            When(Exists(parts.filter(outcome=Part.Outcome.EXPIRED)), then=Value("lapsed")),
            When(checked_at=None, check_tries__gt=0, then=Value("in_check")),
            When(
                Q(consented_at__isnull=False) | Q(checked_at__isnull=False), then=Value("consented")
            ),
            default=Value("invited"),
        )
    )
