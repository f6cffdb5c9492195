"""Leaving a study: end of a participation, and release of its items to the pool."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.errors import UserError
from annotation.models import Assignment, Campaign, LogEntry, Part, Participant
from annotation.participation import assigning
from annotation.plurals import n_of

ACTIVE_STATES = (Assignment.State.OPEN, Assignment.State.SKIPPED)
DEPARTED, RETURNED, READMITTED = "left", "returned", "readmitted"  # actions of the log
STAFF_ENDED_PART = (RETURNED, "set work aside", "released an item", "released untouched items")


class ParticipationError(UserError):
    """The action is impossible in the present state; the message is for the person who tried."""


def lock_campaign(campaign: Campaign) -> Campaign:
    return Campaign.objects.select_for_update().get(pk=campaign.pk)


def lock_participant(participant: Participant) -> Participant:
    """Lock the campaign and the participant's parts; return the participant as stored now.

    In a transaction. Parts are locked before their items, as where an item is submitted: else two
    could wait for each other for ever. Raises ParticipationError for one who is gone.
    """
    lock_campaign(participant.campaign)
    list(Part.objects.select_for_update().filter(participant=participant).order_by("pk"))
    rows = Participant.objects.select_related("campaign", "rater__user")
    locked = rows.filter(pk=participant.pk).first()
    if locked is None:
        raise ParticipationError("This participant is gone: somebody has withdrawn the invitation.")
    return locked


@transaction.atomic
def leave(participant: Participant) -> None:
    """End the participation at its participant's request; release what is not submitted.

    The answers stay. Raises ParticipationError where the participation had ended before.
    """
    participant = lock_participant(participant)
    if participant.outcome != Participant.Outcome.UNDER_WAY:
        raise ParticipationError("This participation has ended already.")
    n = end_participation(participant)
    LogEntry.record(
        participant.campaign,
        participant.rater.user,
        DEPARTED,
        f"{n_of(n, 'item')} released",
        participant,
    )


def lock_active_items(participant: Participant) -> QuerySet[Assignment]:
    """Lock the participant's open and skipped items in one order. In a transaction."""
    active = participant.assignments.filter(state__in=ACTIVE_STATES)
    keys = list(active.select_for_update().order_by("pk").values_list("pk", flat=True))
    return Assignment.objects.filter(pk__in=keys)


def end_participation(participant: Participant) -> int:
    """End the participation and its part; return the number of items released to the pool."""
    n = assigning.release_begun(lock_active_items(participant))
    end_parts(participant.parts.filter(outcome=Part.Outcome.UNDER_WAY))
    participant.outcome = Participant.Outcome.RETURNED
    participant.save(update_fields=["outcome"])
    return n


def is_returned_by_staff(participant: Participant) -> bool:
    """Return whether staff ended the participation, and not its participant.

    The outcome is the same: the newest entry of the log tells the two apart.
    """
    if participant.outcome != Participant.Outcome.RETURNED:
        return False
    return _newest_action(participant, DEPARTED, RETURNED, READMITTED) == RETURNED


def is_part_ended_by_staff(part: Part) -> bool:
    """Return whether a part that was returned ended by an action of staff."""
    if part.outcome != Part.Outcome.RETURNED:
        return False
    return _newest_action(part.participant, DEPARTED, *STAFF_ENDED_PART) in STAFF_ENDED_PART


def _newest_action(participant: Participant, *actions: str) -> str:
    """Return the newest of these actions in the participant's log; empty without any."""
    entries = participant.log.filter(action__in=actions)
    return entries.values_list("action", flat=True).first() or ""


def end_message(participant: Participant) -> str:
    """Return the reason for which a person may work no more; empty for one who may."""
    if participant.can_work:
        return ""
    if participant.set_aside_at:
        return _("The researchers stopped your work in this study.")
    if is_returned_by_staff(participant):
        return _("The researchers ended your work in this study.")
    if participant.outcome == Participant.Outcome.RETURNED:
        return _("You left this study.")
    return _("Your visit to this study has ended.")


def end_parts(parts: QuerySet[Part]) -> None:
    parts.update(outcome=Part.Outcome.RETURNED, ended=timezone.now())
