"""Participants in all states of a study, so that its table has content."""

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from annotation.models import Assignment, Campaign, Part, Participant
from annotation.participation import assigning, entry
from annotation.task import saving
from annotation.text.spans import Span

FIRST_WORDS = Span(0, 6, "Report")


def arrive(campaign: Campaign, pid: str) -> Participant:
    return entry.get_or_create_participant(campaign, pid)


def make_consented(campaign: Campaign, pid: str) -> Participant:
    """Create a participant who has agreed to the terms and passed the check."""
    participant = arrive(campaign, pid)
    participant.consented_at = participant.checked_at = timezone.now()
    participant.consent_version = campaign.consent_version
    participant.save()
    return participant


def make_working(campaign: Campaign, pid: str, session: str = "") -> Participant:
    """Create a participant with an active part, unanswered."""
    participant = make_consented(campaign, pid)
    assigning.begin_part(participant, study_id="st1" if session else "", session_id=session)
    return participant


def open_assignments(participant: Participant) -> list[Assignment]:
    assignments = participant.assignments.filter(state="open").order_by("position")
    return list(assignments.select_related("item__text", "participant__campaign__rubric", "part"))


def backdate_opening(assignment: Assignment) -> None:
    """Backdate the opening of an assignment by a day.

    So the server's clock allows the active time that a test claims.
    """
    Assignment.objects.filter(pk=assignment.pk).update(opened_at=timezone.now() - timedelta(days=1))


def answer(assignment: Assignment, grade: int = 0, ms: int = 60_000, key=None) -> None:
    """Answer the first question of an item."""
    backdate_opening(assignment)
    item_question = assignment.item.asked.order_by("position").first()
    spans = [FIRST_WORDS] if grade else []
    saving.save_answer(
        assignment,
        item_question.question,
        key=key or uuid4(),
        grade=grade,
        spans=spans,
        active_ms=ms,
    )


def submit_item(assignment: Assignment, grade: int = 0, ms: int = 60_000) -> None:
    """Answer all questions of an item and its attention check, and submit it."""
    backdate_opening(assignment)
    spans = [FIRST_WORDS] if grade else []
    for item_question in assignment.item.asked.order_by("position"):
        saving.save_answer(
            assignment, item_question.question, key=uuid4(), grade=grade, spans=spans, active_ms=ms
        )
    if assignment.check_asked:
        saving.save_answer(
            assignment, assignment.check_asked, key=uuid4(), grade=0, spans=[], active_ms=ms
        )
    saving.submit(assignment, ms)


def finish(participant: Participant, session: str = "", study: str = "st1") -> Part:
    """Work through a part from its beginning to its end."""
    part = assigning.begin_part(participant, study_id=study if session else "", session_id=session)
    for number, assignment in enumerate(open_assignments(participant)):
        submit_item(assignment, grade=number % 2)
    part.refresh_from_db()
    participant.refresh_from_db()
    return part


def end(participant: Participant, outcome: str) -> Participant:
    participant.outcome = outcome
    participant.save()
    return participant


def fill(campaign: Campaign) -> dict[str, Participant]:
    """Create one participant of each status, and return them by status."""
    by_status = {"invited": entry.make_links(campaign, ["Maria"])[0]}
    by_status["consented"] = make_consented(campaign, "pid-consented")
    by_status["in_check"] = arrive(campaign, "pid-check")
    Participant.objects.filter(pk=by_status["in_check"].pk).update(
        check_tries=1, consented_at=timezone.now()
    )
    by_status["done"] = make_consented(campaign, "pid-done")
    finish(by_status["done"], "sub-done-1")
    finish(by_status["done"], "sub-done-2")
    by_status["part_done"] = make_consented(campaign, "pid-part")
    finish(by_status["part_done"], "sub-part-1")
    by_status["screened_out"] = end(arrive(campaign, "pid-screened"), "screened_out")
    by_status["failed_check"] = end(arrive(campaign, "pid-failed"), "failed_check")
    by_status["returned"] = end(arrive(campaign, "pid-returned"), "returned")
    by_status["lapsed"] = make_working(campaign, "pid-lapsed", "sub-lapsed")
    make_overdue(by_status["lapsed"])
    assigning.expire(campaign)
    by_status["working"] = make_working(campaign, "pid-working", "sub-working")
    first, second, _ = open_assignments(by_status["working"])
    answer(first, grade=1)
    saving.skip(second, "=1+1 is cut off in the middle")
    by_status["overdue"] = make_working(campaign, "pid-overdue", "sub-overdue")
    make_overdue(by_status["overdue"])
    return by_status


def make_overdue(participant: Participant) -> None:
    participant.parts.filter(outcome="").update(expires=timezone.now() - timedelta(hours=1))
