"""Result of the screening questions that the consent page asks.

The answers are not stored: the session remembers until the check that they were right.
"""

from django.http import HttpRequest

from annotation.models import CheckQuestion, Participant
from annotation.participation import workflow
from annotation.participation.forms import ConsentForm

_SESSION_KEY = "passed_screening"  # in the session: the key of the participant


def record(request: HttpRequest, participant: Participant, form: ConsentForm) -> None:
    """End the participation of a person who is screened out; remember that the others are not."""
    if not form.screening:
        return
    if not form.passes_screening:
        workflow.screen_out(participant)
        return
    purpose = CheckQuestion.Purpose.COMPREHENSION
    if participant.campaign.check_questions.filter(purpose=purpose).exists():
        request.session[_SESSION_KEY] = participant.pk
    else:
        workflow.pass_check(participant)


def has_passed_screening(request: HttpRequest, participant: Participant) -> bool:
    return bool(request.session.get(_SESSION_KEY) == participant.pk)
