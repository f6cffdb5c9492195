"""Prerequisites of an item: consent, check, survey and practice, before it is shown.

The rule is written once, as an expression of the database, so that the address that all answers go
to reads it in the statement that it makes anyway.
"""

from django.db.models import Case, Exists, OuterRef, Q, Value, When
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.errors import UserError
from annotation.models import Assignment, CheckQuestion, Item, SurveyQuestion

CONSENT, CHECK, SURVEY, PRACTICE = "consent", "check", "survey_before", "practice"
MESSAGES = {
    CONSENT: _("Please read the terms of this study first."),
    CHECK: _("Please answer the questions that come before the work first."),
    SURVEY: _("Please answer the questions that come before the work first."),
    PRACTICE: _("Please submit the practice texts first."),
}


class PrerequisiteError(UserError):
    """A prerequisite is missing; the message is for the person, and `url` leads to it."""

    def __init__(self, step: str, url: str) -> None:
        super().__init__(str(MESSAGES[step]))
        self.url = url


def _practice() -> Q:
    """Match training items that were never submitted, including those released by a lease.

    A submitted one that is open again keeps nobody from the work. Nor does one that was
    skipped when that could still be done.
    """
    return Q(item__purpose=Item.Purpose.TRAINING, submitted_at=None) & ~Q(
        state=Assignment.State.SKIPPED
    )


def missing_prerequisite() -> Case:
    """Return an expression for the next missing prerequisite of an assignment; "" for none."""
    questions = CheckQuestion.objects.filter(campaign=OuterRef("participant__campaign"))
    survey = SurveyQuestion.objects.filter(
        campaign=OuterRef("participant__campaign"), page=SurveyQuestion.Page.BEFORE_WORK
    )
    # Nothing is asked of a person whose data was deleted.
    lacks_survey = Q(participant__surveyed_at=None, participant__erased_at=None)
    # First by the campaign's index: most have no practice, and a person may have many open items.
    training = Item.objects.filter(
        campaign=OuterRef("participant__campaign"), purpose=Item.Purpose.TRAINING
    )
    practice = Assignment.objects.filter(_practice(), participant=OuterRef("participant"))
    lacks_consent = Q(participant__consented_at=None) & ~Q(participant__campaign__consent="")
    is_study = ~Q(item__purpose=Item.Purpose.TRAINING)
    return Case(
        When(lacks_consent, then=Value(CONSENT)),
        When(Q(participant__checked_at=None) & Exists(questions), then=Value(CHECK)),
        When(lacks_survey & Exists(survey), then=Value(SURVEY)),
        When(is_study & Exists(training) & Exists(practice), then=Value(PRACTICE)),
        default=Value(""),
    )


def require_prerequisites(assignment: Assignment, step: str) -> Assignment:
    """Return the assignment if no prerequisite is missing.

    Raises PrerequisiteError where one is.
    """
    if not step:
        return assignment
    participant = assignment.participant
    participant.campaign.activate_language()
    if step == PRACTICE:
        first = participant.assignments.filter(_practice()).first()
        # Submitted at this very moment: then the item itself is next.
        raise PrerequisiteError(step, (first or assignment).get_absolute_url())
    raise PrerequisiteError(step, reverse(step, args=[participant.campaign.slug]))
