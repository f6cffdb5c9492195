"""The gate of an item, what comes before it is shown, answered, handed in or skipped: consent, check, practice.

The rule is written once, as an expression of the database, so that the address that all answers go
to reads it in the statement that it makes anyway.
"""

from django.db.models import Case, Exists, OuterRef, Q, Value, When
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment, CheckQuestion, Item

CONSENT, CHECK, PRACTICE = "consent", "check", "practice"
SAYS = {
    CONSENT: _("Please read the terms of this study first."),
    CHECK: _("Please answer the questions that come before the work first."),
    PRACTICE: _("Please hand in the practice first: the other texts come after it."),
}


class NotYetError(Exception):
    """Something has to come first; the message is for the person, and `url` leads there."""

    def __init__(self, step: str, url: str) -> None:
        super().__init__(str(SAYS[step]))
        self.url = url


def _practice() -> Q:
    """Texts to practise on that were never handed in, also those that a lease has taken back.

    One that was handed in and is open again keeps nobody from the work. Nor does one that was
    skipped when that could still be done.
    """
    return Q(item__purpose=Item.Purpose.TRAINING, submitted_at=None) & ~Q(
        state=Assignment.State.SKIPPED
    )


def waits_for() -> Case:
    """Of assignments: what its participant has still to do before it; empty where nothing."""
    questions = CheckQuestion.objects.filter(campaign=OuterRef("participant__campaign"))
    practice = Assignment.objects.filter(_practice(), participant=OuterRef("participant"))
    agrees = Q(participant__consented_at=None) & ~Q(participant__campaign__consent="")
    is_study = ~Q(item__purpose=Item.Purpose.TRAINING)
    return Case(
        When(agrees, then=Value(CONSENT)),
        When(Q(participant__checked_at=None) & Exists(questions), then=Value(CHECK)),
        When(is_study & Exists(practice), then=Value(PRACTICE)),
        default=Value(""),
    )


def passed(assignment: Assignment, step: str) -> Assignment:
    """The assignment, if nothing has to come before it. Raises NotYetError where something has."""
    if not step:
        return assignment
    participant = assignment.participant
    participant.campaign.activate_language()
    if step == PRACTICE:
        first = participant.assignments.filter(_practice()).first()
        # Handed in at this very moment: then the item itself is next.
        raise NotYetError(step, (first or assignment).get_absolute_url())
    raise NotYetError(step, reverse(step, args=[participant.campaign.slug]))
