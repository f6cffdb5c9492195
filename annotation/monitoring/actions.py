"""Staff actions on a campaign and its participants, each with an entry in the audit log.

An entry has the person, time, action and participant. Actions lock the campaign's row, as dealing
does, so an action and a deal come one after the other. The log never holds a name that came from a
platform, or text that somebody typed.
"""

from datetime import timedelta

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Item,
    LogEntry,
    Message,
    Part,
    Participant,
    User,
)
from annotation.participation import assigning, entry, parts, rating_sync, skips
from annotation.participation.withdrawal import (
    ACTIVE_STATES,
    READMITTED,
    RETURNED,
    ParticipationError,
    end_participation,
    end_parts,
    lock_active_items,
    lock_campaign,
    lock_participant,
)
from annotation.plurals import n_of

DID = {
    Campaign.State.OPEN: "opened again",
    Campaign.State.PAUSED: "paused",
    Campaign.State.CLOSED: "closed",
}
FROM = {
    Campaign.State.OPEN: (Campaign.State.PAUSED, Campaign.State.CLOSED),
    Campaign.State.PAUSED: (Campaign.State.OPEN,),
    Campaign.State.CLOSED: (Campaign.State.OPEN, Campaign.State.PAUSED),
}


@transaction.atomic
def set_state(campaign: Campaign, state: str, by: User, known_state: str = "") -> Campaign:
    """Pause, resume, close or reopen a campaign. Nothing that was saved changes.

    `known_state` is the state that the person saw. Raises ParticipationError for a draft, where the
    campaign is in that state already, and where somebody has changed its state since the page was
    opened.
    """
    campaign = lock_campaign(campaign)
    old_state = campaign.get_state_display()
    if state not in FROM:
        raise ParticipationError("A campaign is open, paused or closed.")
    if campaign.is_draft:
        raise ParticipationError("The campaign is a draft: open it first.")
    if known_state and known_state != campaign.state:
        raise ParticipationError(
            f"Nothing was done: the campaign has become {old_state} since you opened the page. Check it again."
        )
    if campaign.state not in FROM[Campaign.State(state)]:
        raise ParticipationError(f"The campaign is {old_state}, so it cannot become {state}.")
    if state == Campaign.State.OPEN and _has_edited_text(campaign):
        raise ParticipationError(
            "A text of this campaign was edited while it was closed, so old and new answers would "
            "not be comparable. Copy the campaign, or restore the text first."
        )
    campaign.state = state
    campaign.save(update_fields=["state"])
    LogEntry.record(campaign, by, DID[Campaign.State(state)], f"it was {old_state}")
    return campaign


def _has_edited_text(campaign: Campaign) -> bool:
    """Return whether texts that it showed or copied grades to have been edited since."""
    edited = Q(shown_body__isnull=False) | Q(asked__shown_body__isnull=False)
    edited |= Q(equal_texts__shown_body__isnull=False)
    return campaign.items.filter(edited).exists()


@transaction.atomic
def extend(participant: Participant, hours: int, by: User) -> Part:
    """Extend the last part by some hours, from its end or, if that is past, from now.

    A part whose time ran out is under way again, with those of its items that are still free.

    Raises ParticipationError where no part is under way or ran out, or where it has no end.
    """
    participant = lock_participant(participant)
    part = participant.parts.last()
    if part is None or part.outcome not in (Part.Outcome.UNDER_WAY, Part.Outcome.EXPIRED):
        raise ParticipationError("There is no open or overdue part to extend.")
    if part.expires is None:
        raise ParticipationError("This part has no deadline to extend.")
    if participant.outcome != Participant.Outcome.UNDER_WAY:
        raise ParticipationError("The participation has ended, so its parts cannot be extended.")
    part.expires = max(part.expires, timezone.now()) + timedelta(hours=hours)
    detail = f"part {part.number} by {hours} h"
    if part.outcome == Part.Outcome.EXPIRED:
        part.outcome, part.ended = Part.Outcome.UNDER_WAY, None
        retaken = [assigning.retake(item) for item in _locked_released(part)]
        detail += f"; its time had run out, {retaken.count(False)} of its items are with others"
    part.save(update_fields=["expires", "outcome", "ended"])
    LogEntry.record(participant.campaign, by, "extended", detail, participant)
    return part


@transaction.atomic
def declare_done(participant: Participant, by: User) -> Part:
    """Declare the last part done, whatever was submitted: it is paid, and has its code.

    Its open and skipped items go back to the pool; answers stay.

    Raises ParticipationError where there is no part, or the last is done already.
    """
    participant = lock_participant(participant)
    part = participant.parts.last()
    if part is None or part.outcome == Part.Outcome.DONE:
        raise ParticipationError("There is no unfinished part.")
    was = part.outcome
    n = assigning.release_begun(lock_active_items(participant).filter(part=part))
    parts.finish(part, participant)
    detail = f"part {part.number}, it was {Part.Outcome(was).label}; {n_of(n, 'item')} released"
    LogEntry.record(participant.campaign, by, "declared done", detail, participant)
    return part


@transaction.atomic
def return_abandoned(campaign: Campaign, by: User) -> int:
    """Release begun and unsubmitted items of overdue parts; return their number. Answers stay.

    Raises ParticipationError where there is none.
    """
    campaign = lock_campaign(campaign)
    assigning.expire(campaign)
    abandoned = assigning.abandoned(campaign)
    people = abandoned.values("participant").distinct().count()
    n = assigning.release_begun(abandoned)
    if not n:
        raise ParticipationError("There are no begun items in overdue parts.")
    detail = f"{n_of(n, 'item')} of {n_of(people, 'participant')}"
    LogEntry.record(campaign, by, "released begun items", detail)
    return n


@transaction.atomic
def release_item(assignment: Assignment, by: User) -> Assignment:
    """Release an open or skipped item to the pool; its answers stay, and no longer count.

    A part of which all other items were submitted is done by that.

    Raises ParticipationError where it was submitted, or is in the pool already.
    """
    participant = lock_participant(assignment.participant)
    assignment = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if assignment.state not in ACTIVE_STATES:
        raise ParticipationError(
            f"The item is {assignment.shown_state.label}, so it is not assigned to anybody."
        )
    assigning.release_begun(Assignment.objects.filter(pk=assignment.pk))
    assignment.refresh_from_db(fields=["state", "slot"])
    parts.end_if_done(assignment)
    _end_empty_part(participant)
    LogEntry.record(
        participant.campaign,
        by,
        "released an item",
        f"item {assignment.item.position + 1}",
        participant,
    )
    return assignment


@transaction.atomic
def release_untouched(participant: Participant, by: User) -> int:
    """Release the participant's items without an answer to the pool; return their number.

    A part without open items then ends unfinished. Raises ParticipationError where there is none.
    """
    participant = lock_participant(participant)
    n = assigning.release_untouched(lock_active_items(participant))
    if not n:
        raise ParticipationError("There are no untouched open items.")
    _end_empty_part(participant)
    items = n_of(n, "item")
    LogEntry.record(participant.campaign, by, "released untouched items", items, participant)
    return n


@transaction.atomic
def return_participant(participant: Participant, by: User) -> int:
    """End the participation as returned; return the number of items released.

    Unsubmitted items go back to the pool, and their answers stay.
    Raises ParticipationError where the participation was ended like that before.
    """
    participant = lock_participant(participant)
    if participant.outcome == Participant.Outcome.RETURNED:
        raise ParticipationError("This participation has already ended.")
    n = end_participation(participant)
    released = f"{n_of(n, 'item')} released"
    LogEntry.record(participant.campaign, by, RETURNED, released, participant)
    return n


@transaction.atomic
def readmit(participant: Participant, by: User) -> None:
    """Let a person whose participation had ended go on; by a new link if they came by one.

    A person who failed the check, or was screened out, starts it again.
    Raises ParticipationError for a participation that has not ended, or is done.
    """
    participant = lock_participant(participant)
    if participant.outcome in (Participant.Outcome.UNDER_WAY, Participant.Outcome.DONE):
        raise ParticipationError(
            f"The participation is {participant.get_outcome_display()}, so it cannot be readmitted."
        )
    if participant.erased_at:
        raise ParticipationError("A participation without personal data cannot be readmitted.")
    before = participant.get_outcome_display()
    if participant.outcome != Participant.Outcome.RETURNED:
        participant.check_tries, participant.checked_at = 0, None
    participant.outcome = Participant.Outcome.UNDER_WAY
    participant.save(update_fields=["outcome", "check_tries", "checked_at"])
    if participant.source == Participant.Source.LINK:
        entry.renew_link(participant, None)
    LogEntry.record(participant.campaign, by, READMITTED, f"was {before}", participant)


@transaction.atomic
def renew_link(participant: Participant, days: int | None, by: User) -> None:
    """Create a new invitation link and end the one before.

    It holds for so many days, or as long as the study.
    Raises ParticipationError for somebody who did not come by a link.
    """
    participant = _with_link(participant)
    until = timezone.now() + timedelta(days=days) if days else None
    entry.renew_link(participant, until)
    detail = f"for {days} d" if days else "as long as the study"
    LogEntry.record(participant.campaign, by, "made a new link", detail, participant)


@transaction.atomic
def revoke_link(participant: Participant, by: User) -> None:
    """End the invitation link, and log out the guest who used it.

    Their work stays, as does the part.
    Raises ParticipationError for somebody who did not come by a link, and where it has ended.
    """
    participant = _with_link(participant)
    if participant.link_has_ended():
        raise ParticipationError("This link has already ended.")
    entry.renew_link(participant, timezone.now())
    if participant.rater.user:
        _forget_sessions(participant.rater.user)
    LogEntry.record(participant.campaign, by, "revoked the link", participant=participant)


@transaction.atomic
def exclude_work(participant: Participant, by: User) -> int:
    """Exclude all answers of the participant and free their slots.

    Return the number of submitted items, without practice. Answers stay, and exports mark them. The
    part under way ends, and none is begun.

    Raises ParticipationError where that was done before.
    """
    participant = lock_participant(participant)
    if participant.set_aside_at:
        raise ParticipationError("This work is already excluded.")
    assigning.release_begun(lock_active_items(participant))
    end_parts(participant.parts.filter(outcome=Part.Outcome.UNDER_WAY))
    handed_in = participant.assignments.filter(state=Assignment.State.SUBMITTED)
    locked = handed_in.select_for_update(of=("self",)).order_by("pk")
    items = dict(locked.values_list("pk", "item__purpose"))
    everything = participant.assignments.values_list("pk", flat=True)
    rating_sync.exclude_answers(list(everything), Answer.Late.EXCLUDED)
    Assignment.objects.filter(pk__in=items).update(slot=None)
    participant.set_aside_at = timezone.now()
    participant.save(update_fields=["set_aside_at"])
    n = sum(purpose != Item.Purpose.TRAINING for purpose in items.values())
    LogEntry.record(participant.campaign, by, "set work aside", n_of(n, "item"), participant)
    return n


@transaction.atomic
def include_work(participant: Participant, by: User) -> tuple[int, int]:
    """Undo `set_aside`: submitted items count again where their slot is still free.

    Returns how many items do, and how many do not, as others have their slots.

    Raises ParticipationError where the work is not excluded.
    """
    participant = lock_participant(participant)
    if not participant.set_aside_at:
        raise ParticipationError("This work is not excluded.")
    participant.set_aside_at = None
    participant.save(update_fields=["set_aside_at"])
    handed_in = participant.assignments.filter(state=Assignment.State.SUBMITTED)
    items = handed_in.select_related("item", "participant__campaign").select_for_update(
        of=("self",)
    )
    restored = [(item.item.purpose, assigning.restore_item(item)) for item in items]
    work = [has_slot for purpose, has_slot in restored if purpose != Item.Purpose.TRAINING]
    n_back = sum(work)
    n_taken = len(work) - n_back
    detail = f"{n_of(n_back, 'item')}; the places of {n_taken} are taken"
    LogEntry.record(participant.campaign, by, "counts work again", detail, participant)
    return n_back, n_taken


@transaction.atomic
def return_overdue(campaign: Campaign, by: User | None) -> int:
    """End overdue parts; return the number of untouched items released. Logged if any ended."""
    campaign = lock_campaign(campaign)
    at = timezone.now()
    under_way = Part.objects.filter(participant__campaign=campaign, outcome=Part.Outcome.UNDER_WAY)
    ended = under_way.filter(expires__lte=at).count()
    n = assigning.expire(campaign, at)
    if ended:
        detail = f"{n_of(ended, 'part')} ended, {n_of(n, 'item')} released"
        LogEntry.record(campaign, by, "returned overdue items", detail)
    return n


@transaction.atomic
def send_message(
    campaign: Campaign, body: str, by: User, known_message: int | None = None
) -> Message:
    """Send a message to all workers of a campaign. They see it until they dismiss it.

    `known_message` is the newest that the page of the form displayed: a form that is sent twice is
    one message.
    """
    campaign = lock_campaign(campaign)
    if known_message is not None:
        later_messages = campaign.messages_sent.addressed_to_all().filter(pk__gt=known_message)
        if sent_before := later_messages.filter(by=by, body=body).first():
            return sent_before
    message = Message.objects.create(campaign=campaign, body=body, by=by)
    LogEntry.record(campaign, by, "sent a message", f"message {message.pk}")
    return message


@transaction.atomic
def erase(participant: Participant, by: User, *, with_notes: bool) -> None:
    """Delete the participant's personal data; labels stay, under the pseudonym.

    The platform's ids of the person and of their sessions are deleted, a guest's account with its
    sessions, their messages, the answers to the survey, and their notes if that is asked for. A guest's
    unsubmitted items go back to the pool, because nobody can come back to them. An account that
    somebody logs in with is unchanged.

    Raises ParticipationError where that was done before.
    """
    participant = lock_participant(participant)
    if participant.erased_at:
        raise ParticipationError("The personal data of this participant is already deleted.")
    guest = (
        participant.rater.user
        if participant.rater.user and participant.rater.user.is_guest
        else None
    )
    if guest and participant.outcome == Participant.Outcome.UNDER_WAY:
        end_participation(participant)
    participant.external_id, participant.erased_at = "", timezone.now()
    participant.save(update_fields=["external_id", "erased_at"])
    participant.parts.update(
        study_id="",
        session_id="",
        submission="",
        submission_reviewed_at=None,
        submission_listed_at=None,
    )
    participant.messages.all().delete()
    participant.survey_answers.all().delete()
    if with_notes:
        participant.assignments.update(note="")
        answers = Answer.objects.filter(assignment__participant=participant)
        answers.exclude(note="").update(note="")
    if guest:
        _forget_sessions(guest)
        guest.delete()
    detail = "notes deleted too" if with_notes else "notes kept"
    LogEntry.record(participant.campaign, by, "erased personal data", detail, participant)


def refuse_if_changed(participant: Participant, known_entry: str) -> None:
    """Raise ParticipationError for an action on a participant from a stale page.

    `known_entry` is the key of the newest log entry that the page knew of, "" where it is not
    known. In a transaction, before the action: the participant is locked from here on.
    """
    newest = lock_participant(participant).log.select_related("by").first()
    if newest and known_entry.isdecimal() and newest.pk > int(known_entry):
        action = f"{newest.action}, {newest.detail}" if newest.detail else newest.action
        raise ParticipationError(
            f"Nothing was done: {newest.by or 'somebody'} has acted since you opened the page "
            f"(“{action}”). Check it, and repeat your action if it is still needed."
        )


def _with_link(participant: Participant) -> Participant:
    """Return the participant, locked.

    Raises ParticipationError where there is no invitation link to them.
    """
    participant = lock_participant(participant)
    if participant.source != Participant.Source.LINK or participant.erased_at:
        raise ParticipationError("This participant has no invitation link.")
    return participant


def _end_empty_part(participant: Participant) -> None:
    """End the part under way if it has no open items left, so that another one can begin.

    Hidden gold that was skipped is waited for, and asked again. The part ends as returned: it was not
    finished, and its submitted items stay.
    """
    of_parts = participant.assignments.filter(part__isnull=False)
    unfinished = of_parts.filter(state=Assignment.State.OPEN) | skips.skipped_gold(of_parts)
    under_way = participant.parts.filter(outcome=Part.Outcome.UNDER_WAY)
    end_parts(under_way.exclude(pk__in=unfinished.values("part")))


def _locked_released(part: Part) -> list[Assignment]:
    """Lock and return the items of a part that were released and not skipped."""
    released = part.assignments.filter(state=Assignment.State.RELEASED, was_skipped=False)
    return list(
        released.select_related("item", "participant__campaign").select_for_update(of=("self",))
    )


def _forget_sessions(guest: User) -> None:
    """Delete all sessions of a guest, which may hold the ids that they arrived with.

    They are found by decoding all sessions, as no column tells them apart.
    """
    for session in Session.objects.iterator():
        if session.get_decoded().get(SESSION_KEY) == str(guest.pk):
            session.delete()
