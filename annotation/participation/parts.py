"""End of a part: done in time or late, and the items that keep it from being done."""

from datetime import datetime, timedelta

from django.utils import timezone

from annotation.models import Assignment, Campaign, Item, Part, Participant
from annotation.participation import assigning, skips


def end_if_done(assignment: Assignment) -> None:
    """End a part as done once no item is open and a study item was submitted.

    Hidden gold that was skipped is waited for. An expired part is done late if all of it
    was submitted, and nothing of it went back to the pool or into a later part.
    """
    part = assignment.part
    if part is None or not can_be_done(part):
        return
    assignments = part.assignments
    if (
        assignments.filter(state=Assignment.State.OPEN).exists()
        or skips.skipped_gold(assignments.all()).exists()
    ):
        return
    handed_in = assignments.filter(
        state=Assignment.State.SUBMITTED, item__purpose=Item.Purpose.STUDY, repeats=None
    )
    if handed_in.exists():
        finish(part, assignment.participant)


def can_be_done(part: Part) -> bool:
    """Return whether the participant can still complete a part."""
    if part.outcome != Part.Outcome.EXPIRED:
        return part.outcome == Part.Outcome.UNDER_WAY
    released = part.assignments.filter(state=Assignment.State.RELEASED, was_skipped=False)
    # The repeat of a text that was skipped goes with it.
    released = released.exclude(repeats__was_skipped=True)
    later = Part.objects.filter(participant=part.participant_id, number__gt=part.number)
    return not released.exists() and not later.exists()


def release_time(part: Part, campaign: Campaign) -> datetime | None:
    """Return the time at which begun items of a part are released; None if they never are."""
    if campaign.begun_lease_hours is None or part.expires is None:
        return None
    return max(part.expires, part.began + timedelta(hours=campaign.begun_lease_hours))


def finish(part: Part, participant: Participant) -> None:
    """End a part as done, and with the last part the participation.

    In a transaction that locks the part. Where items return to the pool at all, those that were
    skipped untouched do so now.
    """
    campaign = participant.campaign
    part.outcome, part.ended = Part.Outcome.DONE, timezone.now()
    part.save(update_fields=["outcome", "ended"])
    if campaign.lease_hours:
        assigning.release_untouched(part.assignments.all())
    if campaign.items_per_part is None or participant.parts_done() == campaign.max_parts:
        participant.outcome = Participant.Outcome.DONE
        participant.save(update_fields=["outcome"])
