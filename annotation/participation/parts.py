"""The end of a part: done, whether in time or late, and what was handed in without being paid for."""

from datetime import datetime, timedelta

from django.utils import timezone

from annotation.models import Assignment, Campaign, Item, Part, Participant
from annotation.participation import assigning, skips


def end_if_done(assignment: Assignment) -> None:
    """End the part of an item as done once nothing in it is open and a study item was handed in.

    Hidden gold that was skipped is waited for. One whose time is over is done late if all of it
    was handed in, and nothing of it went back to the pool or into a later part.
    """
    part = assignment.part
    if part is None or not can_be_done(part):
        return
    beside = part.assignments
    if beside.filter(state=Assignment.State.OPEN).exists() or skips.needed(beside.all()).exists():
        return
    handed_in = beside.filter(state=Assignment.State.SUBMITTED, item__purpose=Item.Purpose.STUDY)
    if handed_in.exists():
        finish(part, assignment.participant)


def can_be_done(part: Part) -> bool:
    """Whether a part can still become done by what its participant does."""
    if part.outcome != Part.Outcome.EXPIRED:
        return part.outcome == Part.Outcome.UNDER_WAY
    given_back = part.assignments.filter(state=Assignment.State.RELEASED, was_skipped=False)
    later = Part.objects.filter(participant=part.participant_id, number__gt=part.number)
    return not given_back.exists() and not later.exists()


def held_until(part: Part, campaign: Campaign) -> datetime | None:
    """When what was begun in a part goes back to the others; None where it never does."""
    if campaign.begun_lease_hours is None or part.expires is None:
        return None
    return max(part.expires, part.began + timedelta(hours=campaign.begun_lease_hours))


def finish(part: Part, participant: Participant) -> None:
    """Make a part done, and with the last one the participation. In a transaction that holds the part.

    Where items return to the pool at all, those that were skipped untouched do so now.
    """
    campaign = participant.campaign
    part.outcome, part.ended = Part.Outcome.DONE, timezone.now()
    part.save(update_fields=["outcome", "ended"])
    if campaign.lease_hours:
        assigning.release_untouched(part.assignments.all())
    if campaign.items_per_part is None or participant.parts_done() == campaign.max_parts:
        participant.outcome = Participant.Outcome.DONE
        participant.save(update_fields=["outcome"])
