"""Preview of a study as its workers will see it; answers are validated and not saved."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.builder.preview.page import first_part, links_in, preview_cards, preview_of
from annotation.http import AuthenticatedRequest, is_by_script, researchers_only
from annotation.models import Campaign, CheckQuestion, Item, Rubric, SurveyQuestion
from annotation.participation import endings, pay_rate, workflow
from annotation.participation.forms import CheckForm, ConsentForm, SurveyForm
from annotation.participation.workload import workload
from annotation.task.forms import AnswerForm, problems
from annotation.task.page import page_context

METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(METHODS)
@researchers_only
def study(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the page of the study before the first part; beginning leads to its first text."""
    campaign = _campaign(slug)
    order = first_part(campaign)
    if request.method == "POST" and order:
        return redirect("preview_item", slug, order[0])
    context: dict[str, Any] = {
        "offer": _offer(campaign),
        "number": 1,
        "is_guest": True,
        "part": None,
    }
    context["assignments"] = []
    context["hourly"] = pay_rate.hourly_pay(campaign, ())
    return _render(request, "participation/work_campaign", campaign, context)


def _offer(campaign: Campaign) -> workflow.Offer:
    training = campaign.items.filter(purpose=Item.Purpose.TRAINING).count()
    work = workload(campaign)
    texts = len(first_part(campaign)) - training
    return workflow.Offer(1, work.parts_each if work else None, texts, training)


@require_http_methods(METHODS)
@researchers_only
def consent(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show the terms, if people are asked to agree to any."""
    campaign = _campaign(slug)
    if not campaign.consent:
        raise Http404("This campaign requests no consent.")
    questions = workflow.screening_questions(campaign)
    form = ConsentForm(questions, request.POST if request.method == "POST" else None)
    if form.is_valid():
        if form.agrees and not form.passes_screening:
            messages.info(request, "A worker who answers this would be screened out here.")
            return redirect(request.path)
        if form.agrees:
            return redirect(_next_page_url(campaign, request.path))
        messages.info(request, "For a worker who does not agree, the participation would end here.")
        return redirect(request.path)
    status = 422 if form.is_bound else 200
    return _render(request, "participation/consent", campaign, {"form": form}, status)


@require_http_methods(METHODS)
@researchers_only
def check(request: AuthenticatedRequest, slug: str, purpose: str) -> HttpResponseBase:
    """Show the questions before the work, of one purpose."""
    campaign = _campaign(slug)
    questions = list(campaign.check_questions.filter(purpose=purpose))
    if not questions:
        raise Http404("There are no questions of this kind.")
    form = CheckForm(questions, purpose, 0, request.POST if request.method == "POST" else None)
    if form.is_valid():
        wrong = form.wrong(purpose)
        if not wrong:
            return redirect(_next_page_url(campaign, request.path))
        if purpose == CheckQuestion.Purpose.SCREENING:
            messages.info(request, "A worker who answers this would be screened out here.")
            return redirect(request.path)
        form.explain(wrong)
    status = 422 if form.is_bound else 200
    context = {"form": form, "step": purpose, "tries": 0, "tries_left": workflow.CHECK_TRIES}
    survey_follows = campaign.survey_questions.filter(page=SurveyQuestion.Page.BEFORE_WORK).exists()
    if purpose == CheckQuestion.Purpose.COMPREHENSION and not survey_follows:
        context |= {"offer": _offer(campaign), "hourly": pay_rate.hourly_pay(campaign, ())}
    return _render(request, "participation/check", campaign, context, status)


@require_http_methods(METHODS)
@researchers_only
def survey(request: AuthenticatedRequest, slug: str, page: str) -> HttpResponseBase:
    """Show a survey page, with the completion code below the questions after the work."""
    campaign = _campaign(slug)
    questions = list(campaign.survey_questions.filter(page=page))
    if not questions:
        raise Http404("There are no survey questions on this page.")
    is_last = page == SurveyQuestion.Page.AFTER_WORK
    form = SurveyForm(questions, {}, request.POST if request.method == "POST" else None)
    if form.is_valid():
        if is_last:
            return redirect("campaign_preview", slug)
        return redirect(_next_page_url(campaign, request.path))
    context: dict[str, Any] = {"form": form, "page": page, "n_left": len(questions)}
    if is_last:
        context["ending"] = endings.Ending(endings.Kind.ALL_DONE, campaign.code_done)
        context["platform"] = campaign.get_platform_display() if campaign.platform else ""
    return _render(request, "participation/survey", campaign, context, form.status)


@require_safe
@researchers_only
def item(request: AuthenticatedRequest, slug: str, position: int) -> HttpResponseBase:
    """Show a single item of the study, as a worker will see it."""
    campaign, item = _item(slug, position)
    order = _order(campaign, position)
    index = order.index(position)
    is_practice = item.purpose == Item.Purpose.TRAINING
    n_practice = campaign.items.filter(purpose=Item.Purpose.TRAINING).count()
    context = page_context(
        campaign,
        item.as_shown(),
        preview_cards(campaign, item, index),
        links_in(campaign, position, order[index - 1] if index else None),
        number=index + 1 if is_practice else index + 1 - n_practice,
        of=n_practice if is_practice else len(order) - n_practice,
        is_practice=is_practice,
    )
    context |= {"assignment": None, "skips": None, "is_closed": False}
    return _render(request, "task/work", campaign, context)


@require_POST
@researchers_only
def answer(
    request: AuthenticatedRequest, slug: str, position: int, question_pk: int, rubric: str = ""
) -> HttpResponseBase:
    """Validate an answer as the real page would, and discard it."""
    campaign, item = _item(slug, position)
    if question_pk not in item.asked.values_list("question_id", flat=True):
        raise Http404("This item does not have this question.")
    further = get_object_or_404(campaign.further_rubrics, slug=rubric) if rubric else None
    return _discard_answer(request, campaign, item, further)


@require_POST
@researchers_only
def check_answer(
    request: AuthenticatedRequest, slug: str, position: int, check_pk: int
) -> HttpResponseBase:
    """Validate an answer to an attention check, and discard it."""
    campaign, item = _item(slug, position)
    get_object_or_404(campaign.attention_checks, pk=check_pk)
    return _discard_answer(request, campaign, item)


@require_safe
@researchers_only
def state(request: AuthenticatedRequest, slug: str, position: int) -> HttpResponseBase:
    """Return no answers, as no other device can have answered in a preview."""
    _item(slug, position)
    return JsonResponse({"state": "open", "answers": []})


@require_POST
@researchers_only
def onwards(request: AuthenticatedRequest, slug: str, position: int) -> HttpResponseBase:
    """Redirect to the next item after submit or skip; after the last one, to the study."""
    campaign, _preview_item = _item(slug, position)
    order = _order(campaign, position)
    next_positions = order[order.index(position) + 1 :]
    url = (
        reverse("preview_item", args=[slug, next_positions[0]])
        if next_positions
        else reverse("campaign_preview", args=[slug])
    )
    if is_by_script(request):
        return JsonResponse({"next": url})
    return redirect(url)


def _campaign(slug: str) -> Campaign:
    campaign = get_object_or_404(Campaign.objects.select_related("rubric"), slug=slug)
    campaign.activate_language()
    return campaign


def _item(slug: str, position: int) -> tuple[Campaign, Item]:
    campaign = _campaign(slug)
    items = campaign.items.select_related("text__topic")
    return campaign, get_object_or_404(items, position=position)


def _order(campaign: Campaign, position: int) -> list[int]:
    """List the items that this one is counted among: the first part's, or it follows them."""
    order = first_part(campaign)
    return order if position in order else [*order, position]


def _next_page_url(campaign: Campaign, url: str) -> str:
    urls = [page.url for page in preview_of(campaign, url).pages]
    return urls[urls.index(url) + 1]


def _discard_answer(
    request: AuthenticatedRequest, campaign: Campaign, item: Item, further: Rubric | None = None
) -> HttpResponseBase:
    form = AnswerForm(request.POST, text=item.as_shown(), rubric=further or campaign.rubric)
    if form.is_valid():
        if is_by_script(request):
            return JsonResponse({"says": _("Preview: nothing is saved")})
        messages.info(request, "A worker's answer would be saved now; this is a preview.")
        return redirect("preview_item", campaign.slug, item.position)
    problem = problems(form)
    if is_by_script(request):
        return HttpResponse(problem, status=422, content_type="text/plain; charset=utf-8")
    messages.error(request, f"A worker would read: {problem}")
    return redirect("preview_item", campaign.slug, item.position)


def _render(
    request: AuthenticatedRequest,
    page: str,
    campaign: Campaign,
    context: dict[str, Any],
    status: int = 200,
) -> HttpResponse:
    context |= {"campaign": campaign, "preview": preview_of(campaign, request.path)}
    return render(request, f"annotation/{page}.html", context, status=status)
