"""Leaving a study: the end of a participation, and what of it goes back to the pool."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Assignment, Campaign, LogEntry, Part, Participant
from annotation.participation import assigning
from annotation.plurals import n_of

IN_HAND = (Assignment.State.OPEN, Assignment.State.SKIPPED)


class ActionRefusedError(Exception):
    """What was asked for makes no sense as things are; the message is for the person who asked."""


def hold_campaign(campaign: Campaign) -> Campaign:
    return Campaign.objects.select_for_update().get(pk=campaign.pk)


def hold(participant: Participant) -> Participant:
    """The participant as the database has it now, with the campaign and the parts held. In a transaction.

    Parts are held before their items, as where an item is handed in: else two could wait for each
    other for ever. Raises ActionRefusedError for one who is gone.
    """
    hold_campaign(participant.campaign)
    list(Part.objects.select_for_update().filter(participant=participant).order_by("pk"))
    rows = Participant.objects.select_related("campaign", "rater__user")
    now = rows.filter(pk=participant.pk).first()
    if now is None:
        raise ActionRefusedError("This participant is gone: somebody has withdrawn the invitation.")
    return now


@transaction.atomic
def leave(participant: Participant) -> None:
    """End the participation as its participant asks; what is not handed in goes back, its answers stay.

    Raises ActionRefusedError where the participation had ended before.
    """
    participant = hold(participant)
    if participant.outcome != Participant.Outcome.UNDER_WAY:
        raise ActionRefusedError("This participation has ended already.")
    n = take_back(participant)
    LogEntry.record(
        participant.campaign,
        participant.rater.user,
        "left",
        f"{n_of(n, 'item')} released",
        participant,
    )


def held(participant: Participant) -> QuerySet[Assignment]:
    """What the participant holds, its rows locked in one order. In a transaction."""
    held = participant.assignments.filter(state__in=IN_HAND)
    keys = list(held.select_for_update().order_by("pk").values_list("pk", flat=True))
    return Assignment.objects.filter(pk__in=keys)


def take_back(participant: Participant) -> int:
    """End the participation and its part; what is not handed in goes back to the pool. How many items."""
    n = assigning.release_begun(held(participant))
    end_parts(participant.parts.filter(outcome=Part.Outcome.UNDER_WAY))
    participant.outcome = Participant.Outcome.RETURNED
    participant.save(update_fields=["outcome"])
    return n


def end_parts(parts: QuerySet[Part]) -> None:
    parts.update(outcome=Part.Outcome.RETURNED, ended=timezone.now())
