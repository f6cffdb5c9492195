"""Endings: the outcome of a visit, and the rest of a part that can no longer be finished."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from annotation.models import Assignment, Campaign, Item, Part, Participant
from annotation.participation import assigning, entry, parts
from annotation.participation.withdrawal import is_part_ended_by_staff, is_returned_by_staff
from annotation.participation.workflow import has_used_submission, next_part, under_way


class Kind(StrEnum):
    """Outcome of a visit."""

    PART = "part"
    ALL_DONE = "all"
    SCREENED_OUT = "screened_out"
    FAILED_CHECK = "failed_check"
    DECLINED = "declined"
    WITHDRAWN = "left"
    ENDED_BY_STAFF = "ended_by_staff"
    EXCLUDED = "excluded"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Ending:
    """Outcome of a visit, with the completion code and URL where the platform pays for it."""

    kind: Kind
    code: str = ""
    url: str = ""

    @property
    def is_done(self) -> bool:
        """True if the visit ended with a part that is done."""
        return self.kind in (Kind.PART, Kind.ALL_DONE)

    @property
    def is_early(self) -> bool:
        """True if the work ended before its time, by staff or by the person."""
        return self.is_by_staff or self.kind == Kind.WITHDRAWN

    @property
    def is_by_staff(self) -> bool:
        """True if staff ended the visit: the person may think that it is a mistake."""
        return self.kind in (Kind.ENDED_BY_STAFF, Kind.EXCLUDED)


class Cause(StrEnum):
    """Cause of the end of an unfinished part."""

    TIME = "time"
    CLOSED = "closed"
    STAFF = "staff"
    UNKNOWN = "unknown"  # its participant left and was readmitted


@dataclass(frozen=True)
class Stopped:
    """Part that ended unfinished: numbers of its texts by progress, without practice.

    `ended` is None if the study was closed during the part. With `can_be_done` the person may
    still submit the begun texts, until `held_until` (None: without a limit). A repeat that stays
    with the person counts as begun. `n_released` of the begun texts are back in the pool. With
    `shortens_next`, submitted texts make the next part smaller.
    """

    cause: Cause
    ended: datetime | None
    submitted: int
    begun: int
    untouched: int
    n_released: int
    can_be_done: bool
    held_until: datetime | None
    shortens_next: bool

    @property
    def is_worked(self) -> bool:
        return bool(self.submitted or self.begun)

    @property
    def holds_begun(self) -> bool:
        """True if begun texts are still the person's."""
        return self.begun > self.n_released


def stopped(participant: Participant, part: Part | None) -> Stopped | None:
    """Return the rest of the last part if it ended unfinished, or in a closed study."""
    if part is None or part.outcome == Part.Outcome.DONE:
        return None
    if not part.outcome and participant.campaign.counts_answers():
        return None
    rows = part.assignments.exclude(item__purpose=Item.Purpose.TRAINING)
    n = Counter(
        "submitted"
        if state == Assignment.State.SUBMITTED
        else "untouched"
        if not answered and not (repeated and part.outcome and state == Assignment.State.OPEN)
        else "released"
        if state == Assignment.State.RELEASED
        else "begun"
        for state, answered, repeated in rows.annotate(answered=assigning.ANSWERED).values_list(
            "state", "answered", "repeats"
        )
    )
    return Stopped(
        cause=_cause(part),
        ended=part.ended,
        submitted=n["submitted"],
        begun=n["begun"] + n["released"],
        untouched=n["untouched"],
        n_released=n["released"],
        can_be_done=participant.campaign.counts_answers() and parts.can_be_done(part),
        held_until=parts.release_time(part, participant.campaign),
        shortens_next=bool(participant.campaign.items_per_part)
        and assigning.unpaid(participant) > 0,
    )


def _cause(part: Part) -> Cause:
    if part.outcome == Part.Outcome.UNDER_WAY:
        return Cause.CLOSED
    if part.outcome == Part.Outcome.EXPIRED:
        return Cause.TIME
    return Cause.STAFF if is_part_ended_by_staff(part) else Cause.UNKNOWN


def ending(participant: Participant, session_id: str = "") -> Ending | None:
    """Return the outcome of the visit; None while there is work under way or to begin.

    With a submission's id only a part that was done for it counts, so that one part is not
    paid twice.
    """
    campaign, outcome = participant.campaign, participant.outcome
    if outcome == Participant.Outcome.SCREENED_OUT:
        return _ending(Kind.SCREENED_OUT, participant, campaign.code_screened_out)
    if outcome == Participant.Outcome.FAILED_CHECK:
        return _ending(Kind.FAILED_CHECK, participant, campaign.code_failed_check)
    if kind := _ended_early(participant):
        # What they came for was finished before that; without its id, that is the last part.
        last = participant.parts.order_by("number").last()
        ended_done = last is not None and last.outcome == Part.Outcome.DONE
        if has_used_submission(participant, session_id) or (not session_id and ended_done):
            return _ending(kind, participant, campaign.code_done)
        return Ending(kind)
    if under_way(participant):
        return None
    last = participant.parts.order_by("number").last()
    if session_id:
        last = participant.parts.filter(session_id__in=["", session_id]).last()
    if last and last.outcome == Part.Outcome.DONE:
        kind = Kind.PART if _has_more(participant) else Kind.ALL_DONE
        return _ending(kind, participant, campaign.code_done)
    return None if next_part(participant) else Ending(Kind.NOTHING)


def _ended_early(participant: Participant) -> Kind | None:
    """Return the kind of an early end, by staff or the participant; None without one."""
    if participant.set_aside_at:
        return Kind.EXCLUDED
    if participant.outcome != Participant.Outcome.RETURNED:
        return None
    if is_returned_by_staff(participant):
        return Kind.ENDED_BY_STAFF
    declined = participant.campaign.consent and participant.consented_at is None
    return Kind.DECLINED if declined else Kind.WITHDRAWN


def _has_more(participant: Participant) -> bool:
    return participant.outcome != Participant.Outcome.DONE and next_part(participant) is not None


def _ending(kind: Kind, participant: Participant, code: str) -> Ending:
    campaign: Campaign = participant.campaign
    if campaign.platform and participant.source != campaign.platform:
        return Ending(kind)  # somebody with an account or a link: no platform waits for them
    is_done = kind in (Kind.PART, Kind.ALL_DONE)
    url = entry.completion_redirect_url(campaign, code, participant.external_id, is_done=is_done)
    return Ending(kind, code, url)
