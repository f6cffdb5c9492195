"""People at every point of their way through a study, so that its table has something to show."""

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from annotation.models import Assignment, Campaign, Part, Participant
from annotation.participation import assigning, entry
from annotation.task import saving
from annotation.text.spans import Span

FIRST_WORDS = Span(0, 6, "Report")


def come(campaign: Campaign, pid: str) -> Participant:
    return entry.arrive(campaign, pid)


def agreed(campaign: Campaign, pid: str) -> Participant:
    """Somebody who has agreed to the terms and passed the check."""
    participant = come(campaign, pid)
    participant.consented_at = participant.checked_at = timezone.now()
    participant.consent_version = campaign.consent_version
    participant.save()
    return participant


def begun(campaign: Campaign, pid: str, session: str = "") -> Participant:
    """Somebody with a part in hand, nothing of it touched."""
    participant = agreed(campaign, pid)
    assigning.begin_part(participant, study_id="st1" if session else "", session_id=session)
    return participant


def in_hand(participant: Participant) -> list[Assignment]:
    assignments = participant.assignments.filter(state="open").order_by("position")
    return list(assignments.select_related("item__text", "participant__campaign__rubric", "part"))


def was_opened(assignment: Assignment) -> None:
    """As if its page had been shown a day ago, so that the server's clock has room for what is claimed."""
    Assignment.objects.filter(pk=assignment.pk).update(opened_at=timezone.now() - timedelta(days=1))


def answer(assignment: Assignment, grade: int = 0, ms: int = 60_000, key=None) -> None:
    """Answer the first question of an item."""
    was_opened(assignment)
    asked = assignment.item.asked.order_by("position").first()
    spans = [FIRST_WORDS] if grade else []
    saving.save_answer(
        assignment, asked.question, key=key or uuid4(), grade=grade, spans=spans, active_ms=ms
    )


def hand_in(assignment: Assignment, grade: int = 0, ms: int = 60_000) -> None:
    """Answer every question of an item and its attention check, and hand it in."""
    was_opened(assignment)
    spans = [FIRST_WORDS] if grade else []
    for asked in assignment.item.asked.order_by("position"):
        saving.save_answer(
            assignment, asked.question, key=uuid4(), grade=grade, spans=spans, active_ms=ms
        )
    if assignment.check_asked:
        saving.save_answer(
            assignment, assignment.check_asked, key=uuid4(), grade=0, spans=[], active_ms=ms
        )
    saving.submit(assignment, ms)


def finish(participant: Participant, session: str = "", study: str = "st1") -> Part:
    """Work a part through from its beginning to its end."""
    part = assigning.begin_part(participant, study_id=study if session else "", session_id=session)
    for number, assignment in enumerate(in_hand(participant)):
        hand_in(assignment, grade=number % 2)
    part.refresh_from_db()
    participant.refresh_from_db()
    return part


def end(participant: Participant, outcome: str) -> Participant:
    participant.outcome = outcome
    participant.save()
    return participant


def fill(campaign: Campaign) -> dict[str, Participant]:
    """One person of each status, by the status."""
    by_status = {"invited": entry.make_links(campaign, ["Maria"])[0]}
    by_status["consented"] = agreed(campaign, "pid-consented")
    by_status["in_check"] = come(campaign, "pid-check")
    Participant.objects.filter(pk=by_status["in_check"].pk).update(
        check_tries=1, consented_at=timezone.now()
    )
    by_status["done"] = agreed(campaign, "pid-done")
    finish(by_status["done"], "sub-done-1")
    finish(by_status["done"], "sub-done-2")
    by_status["part_done"] = agreed(campaign, "pid-part")
    finish(by_status["part_done"], "sub-part-1")
    by_status["screened_out"] = end(come(campaign, "pid-screened"), "screened_out")
    by_status["failed_check"] = end(come(campaign, "pid-failed"), "failed_check")
    by_status["returned"] = end(come(campaign, "pid-returned"), "returned")
    by_status["lapsed"] = begun(campaign, "pid-lapsed", "sub-lapsed")
    make_overdue(by_status["lapsed"])
    assigning.expire(campaign)
    by_status["working"] = begun(campaign, "pid-working", "sub-working")
    first, second, _ = in_hand(by_status["working"])
    answer(first, grade=1)
    saving.skip(second, "=1+1 is cut off in the middle")
    by_status["overdue"] = begun(campaign, "pid-overdue", "sub-overdue")
    make_overdue(by_status["overdue"])
    return by_status


def make_overdue(participant: Participant) -> None:
    participant.parts.filter(outcome="").update(expires=timezone.now() - timedelta(hours=1))
