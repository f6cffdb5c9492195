"""Views of the campaign builder: create, copy, the steps, the review and the opening."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.builder import drafts, sent_forms
from annotation.builder.attention_checks import add_ready_made
from annotation.builder.equal_texts import can_choose
from annotation.builder.forms.checks import CheckForms, save_checks
from annotation.builder.forms.expected_reasons import ReasonsForm
from annotation.builder.forms.guideline import GuidelineForm
from annotation.builder.forms.new_campaign import NewCampaignForm
from annotation.builder.forms.steps import GoldForm, PartsForm
from annotation.builder.forms.survey import SurveyForms, save_survey
from annotation.builder.forms.terms import OpenCampaignForm, TermsForm
from annotation.builder.forms.texts import TextsForm
from annotation.builder.pair_set import PairSet
from annotation.builder.readiness import STEPS, steps
from annotation.builder.sample_counts import sample_counts
from annotation.builder.sampling import SampleError
from annotation.builder.summary import summarize
from annotation.errors import UserError
from annotation.form_versions import PREVIEW, for_post, locked_post
from annotation.http import AuthenticatedRequest, View, coordinators_only, researchers_only
from annotation.models import Campaign, Dataset, LogEntry, Role, Rubric
from annotation.models.rubric_wording import campaign_wording
from annotation.participation.planning import plan
from annotation.participation.workload import gold_plan, workload
from annotation.plurals import n_of
from annotation.row_versions import VERSION

FROZEN = "Texts, questions and wording of an opened campaign cannot change. You can edit a copy."


def on_draft(view: Callable[[AuthenticatedRequest, Campaign], HttpResponseBase]) -> View:
    """Decorate a coordinator's page on a draft; an opened campaign redirects to its settings.

    A POST is handled while the campaign's row is locked: nobody opens it in between.
    """

    @wraps(view)
    def guarded(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
        draft = get_object_or_404(for_post(request, Campaign.objects.all()), slug=slug)
        if not draft.is_draft:
            is_sent = request.method == "POST"
            messages.error(request, f"Nothing was changed. {FROZEN}" if is_sent else FROZEN)
            return redirect("campaign_review", slug)
        return view(request, draft)

    return require_http_methods(["GET", "HEAD", "POST"])(coordinators_only(locked_post(guarded)))


@on_draft
def texts(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Step of the texts and questions; each save draws them again."""
    form = TextsForm(_sent(request), instance=draft)
    also = ("selection", "question_source", "question_rubric")
    further = form.cleaned_data["further_rubrics"] if form.is_valid() else None
    if response := _save_sample(request, draft, form, "texts", also, further):
        return response
    return _page(request, draft.slug, "texts", form=form, drawn=sample_counts(draft))


@on_draft
def parts(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Step of the assignment settings, with the resulting workload."""
    form = PartsForm(_sent(request), instance=draft)
    if _is_preview(request):
        return _preview_page(request, draft, "parts", form)
    if form.is_valid():
        draft.save(update_fields=form.Meta.fields)
        return _redirect_to_step(request, draft, "parts")
    return _page(request, draft.slug, "parts", form=form)


@on_draft
def gold(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Step of training items and hidden gold; each save draws them again."""
    form = GoldForm(_sent(request), instance=draft)
    if response := _save_sample(request, draft, form, "gold"):
        return response
    return _gold_page(request, draft, form, ReasonsForm(draft))


@on_draft
def expected_reasons(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Save the reasons for the correct answers, entered on the step of training and gold."""
    if request.method != "POST":
        return redirect("campaign_gold", draft.slug)
    reasons = ReasonsForm(draft, request.POST)
    if reasons.is_valid():
        reasons.store()
        return _redirect_to_step(request, draft, "gold", "reasons of expected answers")
    return _gold_page(request, draft, GoldForm(None, instance=draft), reasons)


def _gold_page(
    request: AuthenticatedRequest, draft: Campaign, form: GoldForm, reasons: ReasonsForm
) -> HttpResponse:
    return _page(
        request,
        draft.slug,
        "gold",
        form=form,
        reasons=reasons,
        drawn=sample_counts(draft),
        met=gold_plan(draft),
        is_changed=bool(reasons.conflicts),
    )


@on_draft
def guideline(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Step of the rubric wording, guideline and consent, with a preview of them."""
    form = GuidelineForm(_sent(request), instance=draft)
    is_preview = _is_preview(request)
    if form.is_valid() and not is_preview:
        draft.save(update_fields=[*form.Meta.fields, "wording"])
        return _redirect_to_step(request, draft, "guideline")
    context: dict[str, Any] = {"look": draft, "words": campaign_wording(draft)}
    if request.htmx and is_preview:
        return render(request, "annotation/builder/_guideline_look.html", context)
    return _page(request, draft.slug, "guideline", is_preview=is_preview, form=form, **context)


@on_draft
def checks(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Step of the questions before the work and the attention checks."""
    form = CheckForms(draft, _sent(request))
    if form.is_valid():
        save_checks(draft, form)
        if "ready_made" in request.POST:
            add_ready_made(draft)
        return _redirect_to_step(request, draft, "checks")
    return _page(request, draft.slug, "checks", form=form)


@on_draft
def survey(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Step of the survey questions before and after the work."""
    form = SurveyForms(draft, _sent(request))
    if request.method == "POST" and form.is_valid():
        save_survey(draft, form)
        return _redirect_to_step(request, draft, "survey")
    return _page(request, draft.slug, "survey", form=form)


@on_draft
def terms(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Step of pay, time, platform and invited accounts."""
    form = TermsForm(_sent(request), instance=draft)
    if _is_preview(request):
        return _preview_page(request, draft, "terms", form)
    if form.is_valid():
        draft.save(update_fields=form.Meta.fields)
        drafts.set_invited(draft, form.cleaned_data["people"])
        return _redirect_to_step(request, draft, "terms")
    return _page(request, draft.slug, "terms", form=form)


@require_safe
@researchers_only
def review(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Display a draft with its summary, or an opened campaign with its settings."""
    return _review_page(request, slug)


@require_http_methods(["GET", "HEAD", "POST"])
@coordinators_only
def open_campaign(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Open a draft as its review page displays it; a GET, which asked to confirm, goes there."""
    campaign = get_object_or_404(Campaign, slug=slug)
    if request.method != "POST":
        return redirect("campaign_review", slug)
    try:
        drafts.open_draft(campaign, request.user, request.POST.get(VERSION, ""))
    except UserError as error:
        messages.error(request, f"The campaign was not opened. {error}")
        return redirect("campaign_review", slug)
    except drafts.ChangedDraftError:
        return _review_page(request, slug, is_changed=True)
    messages.success(request, f"{campaign.title} is open.")
    return redirect("campaign_invitations", slug)


def _review_page(
    request: AuthenticatedRequest, slug: str, *, is_changed: bool = False
) -> HttpResponse:
    campaign = get_object_or_404(Campaign, slug=slug)
    invited = campaign.participants.select_related("rater").filter(source="account")
    work, rubric_wording = _workload_context(campaign), campaign_wording(campaign)
    context: dict[str, Any] = {
        "drawn": sample_counts(campaign),
        "invited": invited.order_by("rater__name"),
        "check_questions": campaign.check_questions.all(),
        "attention_checks": [
            (check.body, rubric_wording.grade_text(check.expected))
            for check in campaign.attention_checks.all()
        ],
        "survey_questions": campaign.survey_questions.all(),
        "words": rubric_wording,
        "can_choose_equal_texts": can_choose(campaign),
        "is_changed": is_changed,
        "form_id": sent_forms.form_id(request),
    }
    if campaign.is_draft:
        context["version"] = drafts.draft_version(campaign, steps(campaign))
        context["summary"] = summarize(campaign, **work) if work["work"] else None
    return _page(request, slug, "review", **context, **work)


@require_POST
@coordinators_only
def discard(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Delete a draft. Nobody has worked on it."""
    with transaction.atomic():
        campaign = get_object_or_404(Campaign.objects.select_for_update(), slug=slug)
        if not campaign.is_draft:
            messages.error(request, f"Nothing was changed. {FROZEN}")
            return redirect("campaign_review", slug)
        version = drafts.draft_version(campaign, steps(campaign))
        if request.POST.get(VERSION, version) != version:
            messages.error(
                request,
                "The draft was not deleted, because it has changed since you opened the page. Check it again.",
            )
            return redirect("campaign_review", slug)
        campaign.delete()
    messages.success(request, f"The draft {campaign.title} is deleted.")
    return redirect("campaigns")


@require_http_methods(["GET", "HEAD", "POST"])
@coordinators_only
@locked_post
def later(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Edit an open study: its end, its completion codes, more people."""
    campaigns = Campaign.objects.select_related("rubric", "dataset")
    campaign = get_object_or_404(for_post(request, campaigns), slug=slug)
    if campaign.is_draft:
        return redirect("campaign_terms", slug)
    form = OpenCampaignForm(_sent(request), instance=campaign)
    if form.is_valid():
        changed = [name for name in form.changed_data if name in form.Meta.fields]
        campaign.save(update_fields=changed)
        if changed:
            LogEntry.record(campaign, request.user, "changed terms", ", ".join(changed))
        drafts.invite_more(campaign, form.cleaned_data["people"], request.user)
        messages.success(request, "The changes are saved.")
        return redirect("campaign_review", slug)
    status = (409 if form.conflicts else 422) if form.is_bound else 200
    context = {"form": form, "campaign": Campaign.objects.get(slug=slug), "room": "campaigns"}
    return render(request, "annotation/builder/later.html", context, status=status)


def _sent(request: AuthenticatedRequest) -> Any:
    return request.POST if request.method == "POST" else None


def _is_preview(request: AuthenticatedRequest) -> bool:
    """Return whether the request is for a preview of typed values, which saves nothing."""
    return PREVIEW in request.POST


def _preview_page(
    request: AuthenticatedRequest, draft: Campaign, step: str, form: PartsForm | TermsForm
) -> HttpResponse:
    """Show a step with its form's valid values in place of the stored ones."""
    if not form.is_valid():
        stored = Campaign.objects.get(pk=draft.pk)
        for name in form.errors:
            if hasattr(stored, name):
                setattr(draft, name, getattr(stored, name))
    context: dict[str, Any] = {"form": form} | _workload_context(draft)
    if request.htmx:
        context["campaign"] = draft
        return render(request, f"annotation/builder/_{step}_look.html", context)
    return _page(request, draft.slug, step, is_preview=True, **context)


def _workload_context(campaign: Campaign) -> dict[str, Any]:
    """Return the workload of a campaign and its plan; both None where no texts are drawn."""
    work = workload(campaign)
    return {"work": work, "plan": plan(campaign, work) if work else None}


def _save_sample(
    request: AuthenticatedRequest,
    draft: Campaign,
    form: TextsForm | GoldForm,
    step: str,
    extra_fields: Iterable[str] = (),
    further: Iterable[Rubric] | None = None,
) -> HttpResponseBase | None:
    """Save and draw again; None where the form has to be shown (again)."""
    if not form.is_valid():
        return None
    try:
        result = drafts.save_sample(draft, [*form.Meta.fields, *extra_fields], further)
    except SampleError as error:
        form.add_error(None, str(error))
        draft.refresh_from_db()
        return None
    study_text = f"{n_of(result.study, 'text')} drawn for the study"
    if result.training or result.gold:
        study_text += f", {result.training} for training and {result.gold} as hidden gold"
    if n := len(result.equal):
        study_text += f"; grades are copied to {n_of(n, 'text')} of equal words"
    return _redirect_to_step(request, draft, step, study_text)


def _redirect_to_step(
    request: AuthenticatedRequest, draft: Campaign, step: str, detail: str = ""
) -> HttpResponse:
    """Redirect to the next step, to the review, or back to this one to look at the result."""
    messages.success(request, f"{STEPS[step]}: saved{', ' if detail else ''}{detail}.")
    names = list(STEPS)
    if "on" in request.POST:
        step = names[names.index(step) + 1]
    elif "review" in request.POST:
        step = "review"
    return redirect(f"campaign_{step}", draft.slug)


def _page(
    request: AuthenticatedRequest,
    slug: str,
    step: str,
    *,
    is_preview: bool = False,
    **context: Any,
) -> HttpResponse:
    """Render a step from the stored campaign, whatever a refused form has set in memory."""
    stored = Campaign.objects.select_related(
        "dataset", "rubric", "question_source", "question_rubric", "gold_source"
    ).get(slug=slug)
    form: forms.Form | None = context.get("form")
    refused = request.method == "POST" and not is_preview
    is_conflict = bool(getattr(form, "conflicts", None) or context.get("is_changed"))
    status = (409 if is_conflict else 422) if refused else 200
    all_steps = steps(stored) if stored.is_draft else []
    context = {
        "campaign": stored,
        "steps": all_steps,
        "step": step,
        "step_title": STEPS[step],
        "step_now": next((row for row in all_steps if row.name == step), None),
        "lacking": sum(len(row.missing) for row in all_steps),
        "odd": sum(len(row.odd) for row in all_steps),
        "form": form,
        "room": "campaigns",
    } | context
    if "work" not in context:
        context |= _workload_context(stored)
    return render(request, f"annotation/builder/{step}.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def campaign_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Ask who annotates which texts; create a draft with all other settings filled in."""
    slug = request.POST.get("dataset") or request.GET.get("dataset", "")
    dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
    return new_campaign_page(request, dataset)


def new_campaign_page(
    request: AuthenticatedRequest, dataset: Dataset, pair_set: PairSet | None = None
) -> HttpResponseBase:
    """Return the page of a new campaign, or on POST create its draft.

    With `pair_set` it asks about these pairs. Raises PermissionDenied unless the user may create campaigns.
    """
    if not dataset.project.allows(request.user, Role.COORDINATOR):
        raise PermissionDenied("Campaigns are made by admins and coordinators of the project.")
    if not request.POST.get(sent_forms.FORM_ID):
        return _create_or_show(request, dataset, pair_set)
    with transaction.atomic():
        if earlier := sent_forms.draft_of(request):
            messages.info(request, "This draft was created by the form that you sent before.")
            return redirect("campaign_review", earlier.slug)
        return _create_or_show(request, dataset, pair_set)


def _create_or_show(
    request: AuthenticatedRequest, dataset: Dataset, pair_set: PairSet | None
) -> HttpResponseBase:
    draft = Campaign(dataset=dataset, created_by=request.user)
    form = NewCampaignForm(_sent(request), dataset=dataset, pair_set=pair_set, instance=draft)
    if form.is_valid():
        sent = form.cleaned_data
        try:
            drafts.create_draft(
                draft,
                sent["people"],
                sent["names"],
                minutes_of_text=sent["minutes"],
                pay_of_hour=sent["pay"],
            )
        except SampleError as error:
            form.add_error(None, str(error))
        except IntegrityError:  # somebody else was quicker
            form.add_error(
                None,
                "Nothing was made: somebody has just made a campaign with this address, or changed its "
                "rubric. Try again.",
            )
        else:
            sent_forms.remember(request, draft)
            return redirect("campaign_review", draft.slug)
    context = {"form": form, "dataset": dataset, "room": "campaigns", "pair_set": pair_set}
    context["form_id"] = sent_forms.form_id(request)
    status = 422 if form.is_bound else 200
    return render(request, "annotation/builder/campaign_new.html", context, status=status)


@require_POST
@coordinators_only
@transaction.atomic
def campaign_copy(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Copy a campaign to a new draft: its settings, wording and checks, not its people."""
    source = get_object_or_404(Campaign, slug=slug)
    if earlier := sent_forms.draft_of(request):
        messages.info(
            request,
            "You have made this copy already. For another one, open the page of the campaign again.",
        )
        return redirect("campaign_texts", earlier.slug)
    try:
        draft = drafts.copy_draft(source, request.user)
    except IntegrityError:  # the copy of somebody else has just taken the address
        messages.error(
            request,
            "Nothing was copied, because somebody else is copying this campaign. Try again.",
        )
        return redirect(source)
    sent_forms.remember(request, draft)
    messages.success(
        request, "This is the copy, a draft. People, times and completion codes were not copied."
    )
    return redirect("campaign_texts", draft.slug)
