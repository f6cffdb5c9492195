"""Views of the feedback page: decisions beside own answers, and notes of disagreement."""

import math
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.http import AuthenticatedRequest
from annotation.models import Participant
from annotation.models.rubric_wording import campaign_wording
from annotation.participation import feedback, workflow
from annotation.participation.feedback import DecidedPair, DecisionChangedError
from annotation.participation.forms import DisagreeForm
from annotation.participation.messages import newest_message
from annotation.participation.views import get_own_participant
from annotation.participation.withdrawal import ParticipationError
from annotation.throttling import WorkerMessages


@never_cache  # or Back would show a decision that has changed since
@require_safe
def campaign_feedback(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the decisions on pairs that the reader answered; record the first time."""
    participant = get_own_participant(request, slug)
    if step := workflow.required_step_url(participant):
        return redirect(step)
    pairs = feedback.decided_pairs(participant)
    if not pairs:
        messages.info(request, _("There is no feedback on your answers yet."))
        return redirect("work_campaign", slug)
    if request.method == "GET":
        feedback.note_opening(participant)
    return _page(request, participant, pairs)


@require_POST
def disagree(
    request: AuthenticatedRequest, slug: str, item_pk: int, question_pk: int
) -> HttpResponseBase:
    """Send a note to the researchers about a decision with which the reader disagrees."""
    participant = get_own_participant(request, slug)
    if step := workflow.required_step_url(participant):
        return redirect(step)
    pairs = feedback.decided_pairs(participant)
    pair = next((pair for pair in pairs if pair.key == (item_pk, question_pk)), None)
    if pair is None:
        raise Http404("There is no decision on this pair for this person.")
    form = _form(pair, request.POST)
    if not form.is_valid():
        return _page(request, participant, pairs, form, status=422)
    throttle = WorkerMessages()
    if not throttle.allow_request(request):
        form.add_error("body", _("You sent many messages. Please wait, then send it again."))
        response = _page(request, participant, pairs, form, status=429)
        response.headers["Retry-After"] = str(math.ceil(throttle.wait() or 60))
        return response
    sent = form.cleaned_data
    try:
        feedback.disagree(participant, pair, sent["body"], sent["newest"], sent["decision"])
    except DecisionChangedError as error:
        return _changed_page(request, participant, pair, str(error))
    except ParticipationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Your note is sent. You can read the answer under Messages."))
    return redirect(f"{reverse('campaign_feedback', args=[slug])}#pair-{pair.item_question.pk}")


def _form(pair: DecidedPair, data: Any = None, **initial: Any) -> DisagreeForm:
    return DisagreeForm(data, initial=initial, auto_id=f"id_{pair.item_question.pk}_%s")


def _changed_page(
    request: AuthenticatedRequest, participant: Participant, pair: DecidedPair, problem: str
) -> HttpResponseBase:
    """Show the present decisions with the note that was not sent, in the form of its pair."""
    pairs = feedback.decided_pairs(participant)
    present = next((row for row in pairs if row.key == pair.key), None)
    if present is None:
        messages.error(request, _("This decision was withdrawn. Your note is not sent."))
        return redirect("campaign_feedback", participant.campaign.slug)
    data = request.POST.copy()
    data["decision"] = str(present.decision.key)
    form = _form(present, data)
    form.is_valid()
    form.add_error("body", problem)
    return _page(request, participant, pairs, form, status=409)


def _page(
    request: AuthenticatedRequest,
    participant: Participant,
    pairs: list[DecidedPair],
    refused: DisagreeForm | None = None,
    status: int = 200,
) -> HttpResponseBase:
    campaign = participant.campaign
    rubric_wording = campaign_wording(campaign, pairs[0].item_question.item.text.kind)
    newest = newest_message(participant)
    rows = []
    for pair in pairs:
        form = _form(pair, newest=newest, decision=pair.decision.key)
        if refused and refused.auto_id == form.auto_id:
            form = refused
        rows.append(
            {
                "pair": pair,
                "form": form,
                "answer": rubric_wording.grade_text(pair.answer.grade),
                "decision": rubric_wording.grade_text(pair.decision.grade),
            }
        )
    context = {
        "campaign": campaign,
        "rows": rows,
        "n_different": sum(pair.differs for pair in pairs),
        "asks": rubric_wording.question,
        "takes_spans": campaign.rubric.span_from is not None,
        "room": "work",
    }
    return render(
        request, "annotation/participation/campaign_feedback.html", context, status=status
    )
