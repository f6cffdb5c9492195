"""What staff do to a campaign and to somebody in it. Each act is logged: who, when, what, about whom.

Who acts holds the campaign's row, as who hands out does, so an act and a deal come one after the
other. The log never holds a name that came from a platform, or words that somebody typed.
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
    LogEntry,
    Message,
    Part,
    Participant,
    User,
)
from annotation.participation import assigning, counting, entry, parts, skips
from annotation.participation.leaving import (
    IN_HAND,
    ActionRefusedError,
    end_parts,
    held,
    hold,
    hold_campaign,
    take_back,
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
def set_state(campaign: Campaign, state: str, by: User, seen: str = "") -> Campaign:
    """Pause a campaign, go on with it, close it, open it again. Nothing that was saved changes.

    `seen` is the state that the person saw. Raises ActionRefusedError for a draft, where the campaign is in
    that state already, and where somebody has changed its state since it was seen.
    """
    campaign = hold_campaign(campaign)
    before = campaign.get_state_display()
    if state not in FROM:
        raise ActionRefusedError("A campaign is open, paused or closed.")
    if campaign.is_draft:
        raise ActionRefusedError("It is a draft: it has to be opened before anything else.")
    if seen and seen != campaign.state:
        raise ActionRefusedError(
            f"Nothing was done: it has become {before} since you opened the page. Look again."
        )
    if campaign.state not in FROM[Campaign.State(state)]:
        raise ActionRefusedError(f"It is {before}, so it cannot become {state}.")
    if state == Campaign.State.OPEN and _shows_other_words(campaign):
        raise ActionRefusedError(
            "Words that it showed were changed while it was closed, and answers to both would be taken for "
            "answers to the same. Copy it, or give the words back first."
        )
    campaign.state = state
    campaign.save(update_fields=["state"])
    LogEntry.record(campaign, by, DID[Campaign.State(state)], f"it was {before}")
    return campaign


def _shows_other_words(campaign: Campaign) -> bool:
    """Whether words that its raters saw are other ones by now."""
    others = Q(shown_body__isnull=False) | Q(asked__shown_body__isnull=False)
    return campaign.items.filter(others).exists()


@transaction.atomic
def extend(participant: Participant, hours: int, by: User) -> Part:
    """Give the last part so many hours more, from its end or, if that is past, from now.

    A part whose time ran out is under way again, with those of its items that are still free.

    Raises ActionRefusedError where no part is under way or ran out, or where it has no end.
    """
    participant = hold(participant)
    part = participant.parts.last()
    if part is None or part.outcome not in (Part.Outcome.UNDER_WAY, Part.Outcome.EXPIRED):
        raise ActionRefusedError("No part is under way or ran out, so there is nothing to extend.")
    if part.expires is None:
        raise ActionRefusedError("This part has no end, so there is nothing to extend.")
    if participant.outcome != Participant.Outcome.UNDER_WAY:
        raise ActionRefusedError("The participation has ended, so no part of it can be extended.")
    part.expires = max(part.expires, timezone.now()) + timedelta(hours=hours)
    detail = f"part {part.number} by {hours} h"
    if part.outcome == Part.Outcome.EXPIRED:
        part.outcome, part.ended = Part.Outcome.UNDER_WAY, None
        taken = [assigning.retake(item) for item in _given_back(part)]
        detail += f"; its time had run out, {taken.count(False)} of its items are with others"
    part.save(update_fields=["expires", "outcome", "ended"])
    LogEntry.record(participant.campaign, by, "extended", detail, participant)
    return part


@transaction.atomic
def declare_done(participant: Participant, by: User) -> Part:
    """Make the last part done, whatever of it was handed in: it is paid, and has its completion code.

    What is in hand of it goes back to the pool; answers stay.

    Raises ActionRefusedError where there is no part, or the last is done already.
    """
    participant = hold(participant)
    part = participant.parts.last()
    if part is None or part.outcome == Part.Outcome.DONE:
        raise ActionRefusedError("There is no unfinished part that could be declared done.")
    was = part.outcome
    n = assigning.release_begun(held(participant).filter(part=part))
    parts.finish(part, participant)
    detail = f"part {part.number}, it was {Part.Outcome(was).label}; {n_of(n, 'item')} released"
    LogEntry.record(participant.campaign, by, "declared done", detail, participant)
    return part


@transaction.atomic
def return_abandoned(campaign: Campaign, by: User) -> int:
    """Put back what was begun and never handed in, in parts whose time is over; answers stay. How many.

    Raises ActionRefusedError where there is none.
    """
    campaign = hold_campaign(campaign)
    assigning.expire(campaign)
    abandoned = assigning.abandoned(campaign)
    people = abandoned.values("participant").distinct().count()
    n = assigning.release_begun(abandoned)
    if not n:
        raise ActionRefusedError("Nothing that was begun waits in a part whose time is over.")
    what = f"{n_of(n, 'item')} of {n_of(people, 'participant')}"
    LogEntry.record(campaign, by, "released begun items", what)
    return n


@transaction.atomic
def release_item(assignment: Assignment, by: User) -> Assignment:
    """Put an item that is in hand back into the pool; its answers stay, and count no more.

    A part of which all the rest was handed in is done by that.

    Raises ActionRefusedError where it was handed in, or is in the pool already.
    """
    participant = hold(assignment.participant)
    assignment = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if assignment.state not in IN_HAND:
        raise ActionRefusedError(
            f"The item is {assignment.shown_state.label}, and is not in anybody's hand."
        )
    assigning.release_begun(Assignment.objects.filter(pk=assignment.pk))
    assignment.refresh_from_db(fields=["state", "slot"])
    parts.end_if_done(assignment)
    _end_what_is_empty(participant)
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
    """Put the participant's items that have no answer back into the pool; how many.

    A part of which nothing is in hand then ends unfinished. Raises ActionRefusedError where there is none.
    """
    participant = hold(participant)
    n = assigning.release_untouched(held(participant))
    if not n:
        raise ActionRefusedError("No item in hand is untouched.")
    _end_what_is_empty(participant)
    items = n_of(n, "item")
    LogEntry.record(participant.campaign, by, "released untouched items", items, participant)
    return n


@transaction.atomic
def return_participant(participant: Participant, by: User) -> int:
    """End the participation as returned; what is not handed in goes back, its answers stay. How many items.

    Raises ActionRefusedError where the participation was ended like that before.
    """
    participant = hold(participant)
    if participant.outcome == Participant.Outcome.RETURNED:
        raise ActionRefusedError("This participant was returned before.")
    n = take_back(participant)
    released = f"{n_of(n, 'item')} released"
    LogEntry.record(participant.campaign, by, "returned", released, participant)
    return n


@transaction.atomic
def readmit(participant: Participant, by: User) -> None:
    """Let somebody whose participation had ended go on; who came by a link has a new one then.

    Who failed the check, or was screened out, meets it anew.
    Raises ActionRefusedError for a participation that has not ended, or is done.
    """
    participant = hold(participant)
    if participant.outcome in (Participant.Outcome.UNDER_WAY, Participant.Outcome.DONE):
        raise ActionRefusedError(
            f"The participation is {participant.get_outcome_display()}, so there is nobody to let in again."
        )
    if participant.erased_at:
        raise ActionRefusedError("Nobody can come back to a participation without personal data.")
    before = participant.get_outcome_display()
    if participant.outcome != Participant.Outcome.RETURNED:
        participant.check_tries, participant.checked_at = 0, None
    participant.outcome = Participant.Outcome.UNDER_WAY
    participant.save(update_fields=["outcome", "check_tries", "checked_at"])
    if participant.source == Participant.Source.LINK:
        entry.renew_link(participant, None)
    LogEntry.record(participant.campaign, by, "readmitted", f"was {before}", participant)


@transaction.atomic
def renew_link(participant: Participant, days: int | None, by: User) -> None:
    """Make a new invitation link, for so many days or as long as the study; the one before ends.

    Raises ActionRefusedError for somebody who did not come by a link.
    """
    participant = _with_link(participant)
    until = timezone.now() + timedelta(days=days) if days else None
    entry.renew_link(participant, until)
    detail = f"for {days} d" if days else "as long as the study"
    LogEntry.record(participant.campaign, by, "made a new link", detail, participant)


@transaction.atomic
def revoke_link(participant: Participant, by: User) -> None:
    """End the invitation link, and log out whoever came in by it. What was done stays, as does the part.

    Raises ActionRefusedError for somebody who did not come by a link, and where it has ended.
    """
    participant = _with_link(participant)
    if participant.link_has_ended():
        raise ActionRefusedError("This link has ended already.")
    entry.renew_link(participant, timezone.now())
    if participant.rater.user:
        _forget_sessions(participant.rater.user)
    LogEntry.record(participant.campaign, by, "revoked the link", participant=participant)


@transaction.atomic
def set_aside(participant: Participant, by: User) -> int:
    """Let nothing that the participant said count: their places go to others. How many items.

    Answers stay, and exports mark them. The part under way ends, and none is begun.

    Raises ActionRefusedError where that was done before.
    """
    participant = hold(participant)
    if participant.set_aside_at:
        raise ActionRefusedError("This work was set aside before.")
    assigning.release_begun(held(participant))
    end_parts(participant.parts.filter(outcome=Part.Outcome.UNDER_WAY))
    handed_in = participant.assignments.filter(state=Assignment.State.SUBMITTED)
    items = list(handed_in.select_for_update().order_by("pk").values_list("pk", flat=True))
    everything = participant.assignments.values_list("pk", flat=True)
    counting.withdraw(list(everything), Answer.Late.SET_ASIDE)
    Assignment.objects.filter(pk__in=items).update(slot=None)
    participant.set_aside_at = timezone.now()
    participant.save(update_fields=["set_aside_at"])
    LogEntry.record(
        participant.campaign, by, "set work aside", n_of(len(items), "item"), participant
    )
    return len(items)


@transaction.atomic
def count_work_again(participant: Participant, by: User) -> tuple[int, int]:
    """Undo `set_aside`: what was handed in counts again where its place is still free.

    Returns how many items do, and how many do not, as others have their places.

    Raises ActionRefusedError where the work is not set aside.
    """
    participant = hold(participant)
    if not participant.set_aside_at:
        raise ActionRefusedError("This work is not set aside.")
    participant.set_aside_at = None
    participant.save(update_fields=["set_aside_at"])
    handed_in = participant.assignments.filter(state=Assignment.State.SUBMITTED)
    items = handed_in.select_related("item", "participant__campaign").select_for_update(
        of=("self",)
    )
    n_back = sum(assigning.take_place(assignment) for assignment in items)
    n_taken = len(items) - n_back
    detail = f"{n_of(n_back, 'item')}; the places of {n_taken} are taken"
    LogEntry.record(participant.campaign, by, "counts work again", detail, participant)
    return n_back, n_taken


@transaction.atomic
def return_overdue(campaign: Campaign, by: User | None) -> int:
    """End the parts whose time is over; how many untouched items came back. Logged if any ended."""
    campaign = hold_campaign(campaign)
    now = timezone.now()
    under_way = Part.objects.filter(participant__campaign=campaign, outcome=Part.Outcome.UNDER_WAY)
    ended = under_way.filter(expires__lte=now).count()
    n = assigning.expire(campaign, now)
    if ended:
        what = f"{n_of(ended, 'part')} ended, {n_of(n, 'item')} released"
        LogEntry.record(campaign, by, "returned overdue items", what)
    return n


@transaction.atomic
def send_message(campaign: Campaign, body: str, by: User) -> Message:
    """Tell all workers of a campaign something. They see it until they put it away."""
    message = Message.objects.create(campaign=campaign, body=body, by=by)
    LogEntry.record(campaign, by, "sent a message", f"message {message.pk}")
    return message


@transaction.atomic
def erase(participant: Participant, by: User, *, with_notes: bool) -> None:
    """Delete the participant's personal data; labels stay, under the pseudonym.

    The platform's ids of the person and of their sessions go, a guest's account with its sessions,
    and their notes if that is asked for. What a guest had not handed in goes back to the pool,
    because nobody can come back to it. An account that somebody logs in with stays as it is.

    Raises ActionRefusedError where that was done before.
    """
    participant = hold(participant)
    if participant.erased_at:
        raise ActionRefusedError("The personal data of this participant was deleted before.")
    guest = (
        participant.rater.user
        if participant.rater.user and participant.rater.user.is_guest
        else None
    )
    if guest and participant.outcome == Participant.Outcome.UNDER_WAY:
        take_back(participant)
    participant.external_id, participant.erased_at = "", timezone.now()
    participant.save(update_fields=["external_id", "erased_at"])
    participant.parts.update(study_id="", session_id="")
    if with_notes:
        participant.assignments.update(note="")
    if guest:
        _forget_sessions(guest)
        guest.delete()
    kept = "notes deleted too" if with_notes else "notes kept"
    LogEntry.record(participant.campaign, by, "erased personal data", kept, participant)


def refuse_if_changed(participant: Participant, seen: str) -> None:
    """Raise ActionRefusedError where somebody has acted on a participant since a page was opened.

    `seen` is the key of the newest log entry that the page knew of, "" where it is not known. In a transaction,
    before the act: the participant is held from here on.
    """
    newest = hold(participant).log.select_related("by").first()
    if newest and seen.isdecimal() and newest.pk > int(seen):
        did = f"{newest.action}, {newest.detail}" if newest.detail else newest.action
        raise ActionRefusedError(
            f"Nothing was done: since you opened the page, {newest.by or 'somebody'} has acted (“{did}”). "
            "Look again, and repeat it if it is still needed."
        )


def _with_link(participant: Participant) -> Participant:
    """The participant, held. Raises ActionRefusedError where there is no invitation link to them."""
    participant = hold(participant)
    if participant.source != Participant.Source.LINK or participant.erased_at:
        raise ActionRefusedError("This participant has no invitation link.")
    return participant


def _end_what_is_empty(participant: Participant) -> None:
    """End the part under way if nothing of it is in hand any more: another one can begin then.

    Hidden gold that was skipped is waited for, and asked again. The part ends as returned: it was not
    finished, and what was handed in of it stays.
    """
    held = participant.assignments.filter(part__isnull=False)
    waiting = held.filter(state=Assignment.State.OPEN) | skips.needed(held)
    under_way = participant.parts.filter(outcome=Part.Outcome.UNDER_WAY)
    end_parts(under_way.exclude(pk__in=waiting.values("part")))


def _given_back(part: Part) -> list[Assignment]:
    """Items of a part that went back to the pool, and that nobody skipped."""
    back = part.assignments.filter(state=Assignment.State.RELEASED, was_skipped=False)
    return list(
        back.select_related("item", "participant__campaign").select_for_update(of=("self",))
    )


def _forget_sessions(guest: User) -> None:
    """Sessions may hold what a guest arrived with, and are not told apart by a column."""
    for session in Session.objects.iterator():
        if session.get_decoded().get(SESSION_KEY) == str(guest.pk):
            session.delete()
