"""Views of the survey pages, before and after the work."""

from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.http import AuthenticatedRequest
from annotation.models import Participant, SurveyQuestion
from annotation.participation import endings, entry, survey, workflow
from annotation.participation.forms import SurveyForm
from annotation.participation.views import get_own_participant
from annotation.row_versions import VERSION

METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(METHODS)
def survey_before(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show and store the questions before the work; nobody works before they are sent."""
    participant = get_own_participant(request, slug)
    questions = survey.questions_of(participant.campaign, survey.BEFORE_WORK)
    other_step = workflow.required_step_url(participant) not in ("", request.path)
    if other_step or not _can_answer(request, participant, questions):
        return redirect("work_campaign", slug)
    form = _form(request, participant, questions, survey.BEFORE_WORK)
    if _is_stored(form, participant, survey.BEFORE_WORK):
        return redirect("work_campaign", slug)
    return _page(request, participant, form, survey.BEFORE_WORK)


@require_http_methods(METHODS)
def survey_after(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show and store the questions after the work, with the completion code below them."""
    participant = get_own_participant(request, slug)
    questions = survey.questions_of(participant.campaign, survey.AFTER_WORK)
    if not participant.parts_done() or not _can_answer(request, participant, questions):
        return redirect("study_end", slug)
    form = _form(request, participant, questions, survey.AFTER_WORK)
    if _is_stored(form, participant, survey.AFTER_WORK):
        return redirect("study_end", slug)
    _study, submission = entry.submission_ids(request, participant.campaign)
    platform = entry.PLATFORMS.get(participant.source)
    context = {
        "ending": endings.ending(participant, submission),
        "platform": participant.get_source_display() if platform else "",
        "n_left": len(survey.unanswered_after(participant)),
    }
    return _page(request, participant, form, survey.AFTER_WORK, context)


def _can_answer(
    request: AuthenticatedRequest, participant: Participant, questions: list[SurveyQuestion]
) -> bool:
    """Return whether there is a page to show; who sends one is always told why it is refused."""
    is_open = participant.campaign.counts_answers() and not participant.erased_at
    return bool(questions) and (is_open or request.method == "POST")


def _form(
    request: AuthenticatedRequest,
    participant: Participant,
    questions: list[SurveyQuestion],
    page: str,
) -> SurveyForm:
    data = request.POST if request.method == "POST" else None
    return SurveyForm(questions, survey.stored_values(participant, page), data)


def _is_stored(form: SurveyForm, participant: Participant, page: str) -> bool:
    """Store the answers of a valid form; where they are refused, the form says why."""
    if not form.is_valid():
        return False
    try:
        survey.save_answers(participant, page, form.values(), form.data.get(VERSION, ""))
    except survey.SurveyError as error:
        form.refuse(error)
        return False
    return True


def _page(
    request: AuthenticatedRequest,
    participant: Participant,
    form: SurveyForm,
    page: str,
    context: dict[str, Any] | None = None,
) -> HttpResponseBase:
    common = {"campaign": participant.campaign, "form": form, "page": page, "room": "work"}
    template = "annotation/participation/survey.html"
    return render(request, template, common | (context or {}), status=form.status)
