"""Survey of a participant: the pages before and after the work, and storing answers."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.errors import UserError
from annotation.models import Campaign, Participant, SurveyAnswer, SurveyQuestion
from annotation.participation.withdrawal import lock_participant
from annotation.row_versions import version_of

BEFORE_WORK, AFTER_WORK = SurveyQuestion.Page.BEFORE_WORK, SurveyQuestion.Page.AFTER_WORK
Values = dict[int, Any]  # answers by the key of their question


class SurveyError(UserError):
    """Answers that cannot be stored; the message is for the person who gave them."""

    status = 409


class SurveyConflictError(SurveyError):
    """Answers from a page that did not know those that are stored now."""

    def __init__(self, stored: Values) -> None:
        super().__init__(
            _("You sent other answers in another place. Check these, and send them again.")
        )
        self.stored = stored


def questions_of(campaign: Campaign, page: str) -> list[SurveyQuestion]:
    return list(campaign.survey_questions.filter(page=page))


def is_due_before(participant: Participant) -> bool:
    """Return whether the page before the work has still to be sent."""
    if participant.surveyed_at or participant.erased_at:
        return False
    return participant.campaign.survey_questions.filter(page=BEFORE_WORK).exists()


def unanswered_after(participant: Participant) -> list[SurveyQuestion]:
    """Return the questions after the work without an answer, while they can be answered."""
    campaign = participant.campaign
    if participant.erased_at or not campaign.counts_answers():
        return []
    answered = participant.survey_answers.values("question")
    return list(campaign.survey_questions.filter(page=AFTER_WORK).exclude(pk__in=answered))


def can_change_after(participant: Participant) -> bool:
    """Return whether answers to the questions after the work are stored and can be changed."""
    if participant.erased_at or not participant.campaign.counts_answers():
        return False
    return participant.survey_answers.filter(question__page=AFTER_WORK).exists()


def stored_values(participant: Participant, page: str) -> Values:
    """Return a participant's answers to the questions of a page."""
    answers = participant.survey_answers.filter(question__page=page)
    return dict(answers.values_list("question", "value"))


def values_version(values: Values) -> str:
    """Return the version of a page's answers, which its form carries."""
    return version_of(values)


@transaction.atomic
def save_answers(
    participant: Participant, page: str, values: Mapping[int, Any], known_version: str
) -> None:
    """Replace a participant's answers to a page by the sent ones; sent twice is stored once.

    Raises SurveyError where the study is closed and where the person's data was deleted, and
    SurveyConflictError where other answers are stored than the page knew of.
    """
    participant = lock_participant(participant)
    if not participant.campaign.counts_answers():
        raise SurveyError(_("This study is closed. Your answers are not saved."))
    if participant.erased_at:
        raise SurveyError(_("Your personal data was deleted. No new answers are saved."))
    stored, sent = stored_values(participant, page), dict(values)
    if stored != sent:
        if known_version not in ("", values_version(stored)):
            raise SurveyConflictError(stored)
        _replace(participant, stored, sent)
    if page == BEFORE_WORK and participant.surveyed_at is None:
        participant.surveyed_at = timezone.now()
        participant.save(update_fields=["surveyed_at"])


def _replace(participant: Participant, stored: Values, sent: Values) -> None:
    changed = [pk for pk in {*stored, *sent} if stored.get(pk) != sent.get(pk)]
    participant.survey_answers.filter(question__in=changed).delete()
    SurveyAnswer.objects.bulk_create(
        SurveyAnswer(participant=participant, question_id=pk, value=sent[pk])
        for pk in changed
        if pk in sent
    )
