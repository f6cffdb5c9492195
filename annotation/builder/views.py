"""The builder of a study: making or copying one, its steps, a look over everything, and the opening."""

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

from annotation.builder import drafts
from annotation.builder.forms.checks import CheckForms, add_ready_made, save_checks
from annotation.builder.forms.guideline import GuidelineForm
from annotation.builder.forms.steps import GoldForm, NewCampaignForm, PartsForm
from annotation.builder.forms.terms import LaterForm, TermsForm
from annotation.builder.forms.texts import TextsForm
from annotation.builder.readiness import STEPS, steps
from annotation.builder.sample_counts import sample_counts
from annotation.builder.sampling import SampleError
from annotation.form_versions import for_post, locked_post
from annotation.http import AuthenticatedRequest, View, coordinators_only, researchers_only
from annotation.models import Campaign, Dataset, LogEntry, Role, Rubric
from annotation.models.wording import shown
from annotation.participation.planning import plan
from annotation.participation.workload import gold_plan, workload
from annotation.plurals import n_of

FROZEN = "It has been opened, and what raters were shown stays as it is. A copy can be changed."


def on_draft(view: Callable[[AuthenticatedRequest, Campaign], HttpResponseBase]) -> View:
    """An admin's page on a draft. Of a campaign that was opened, the settings are shown instead.

    What is sent is dealt with while the campaign's row is held: nobody opens it in between.
    """

    @wraps(view)
    def guarded(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
        draft = get_object_or_404(for_post(request, Campaign.objects.all()), slug=slug)
        if not draft.is_draft:
            is_sent = request.method == "POST"
            messages.error(request, f"Nothing is changed. {FROZEN}" if is_sent else FROZEN)
            return redirect("campaign_review", slug)
        return view(request, draft)

    return require_http_methods(["GET", "HEAD", "POST"])(coordinators_only(locked_post(guarded)))


@on_draft
def texts(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Which texts, which questions; every save draws them anew."""
    form = TextsForm(_sent(request), instance=draft)
    also = ("selection", "question_source", "question_rubric")
    further = form.cleaned_data["further_rubrics"] if form.is_valid() else None
    if response := _save_sample(request, draft, form, "texts", also, further):
        return response
    return _page(request, draft.slug, "texts", form=form, drawn=sample_counts(draft))


@on_draft
def parts(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """How the items are handed out, and what that comes to."""
    form = PartsForm(_sent(request), instance=draft)
    if _is_look(request):
        return _look(request, draft, "parts", form)
    if form.is_valid():
        draft.save(update_fields=form.Meta.fields)
        return _onwards(request, draft, "parts")
    return _page(request, draft.slug, "parts", form=form)


@on_draft
def gold(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Texts to train with and hidden gold, drawn anew with every save."""
    form = GoldForm(_sent(request), instance=draft)
    if response := _save_sample(request, draft, form, "gold"):
        return response
    drawn, met = sample_counts(draft), gold_plan(draft)
    return _page(request, draft.slug, "gold", form=form, drawn=drawn, met=met)


@on_draft
def guideline(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """The rubric's words, the guideline and the consent, with a look at them as they will be read."""
    form = GuidelineForm(_sent(request), instance=draft)
    is_look = _is_look(request)
    if form.is_valid() and not is_look:
        draft.save(update_fields=[*form.Meta.fields, "wording"])
        return _onwards(request, draft, "guideline")
    context: dict[str, Any] = {"look": draft, "words": shown(draft)}
    if request.htmx and is_look:
        return render(request, "annotation/builder/_guideline_look.html", context)
    return _page(request, draft.slug, "guideline", is_look=is_look, form=form, **context)


@on_draft
def checks(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """The questions before the work, and those that ask whether somebody reads."""
    form = CheckForms(draft, _sent(request))
    if form.is_valid():
        save_checks(draft, form)
        if "ready_made" in request.POST:
            add_ready_made(draft)
        return _onwards(request, draft, "checks")
    return _page(request, draft.slug, "checks", form=form)


@on_draft
def terms(request: AuthenticatedRequest, draft: Campaign) -> HttpResponseBase:
    """Pay, time, platform, and who is invited."""
    form = TermsForm(_sent(request), instance=draft)
    if _is_look(request):
        return _look(request, draft, "terms", form)
    if form.is_valid():
        draft.save(update_fields=form.Meta.fields)
        drafts.set_invited(draft, form.cleaned_data["people"])
        return _onwards(request, draft, "terms")
    return _page(request, draft.slug, "terms", form=form)


@require_safe
@researchers_only
def review(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Everything about a study on one page: a draft with what it lacks, an open one as it stays."""
    campaign = get_object_or_404(Campaign, slug=slug)
    invited = campaign.participants.select_related("rater").filter(source="account")
    return _page(
        request,
        slug,
        "review",
        drawn=sample_counts(campaign),
        invited=invited.order_by("rater__name"),
        check_questions=campaign.check_questions.all(),
        attention_checks=campaign.attention_checks.all(),
        words=shown(campaign),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@coordinators_only
def open_campaign(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Ask once more, as it cannot be undone, and with each remark ticked open a draft."""
    campaign = get_object_or_404(Campaign, slug=slug)
    seen = request.POST.getlist("seen")
    if request.method != "POST":
        if not campaign.is_draft:
            return redirect("campaign_review", slug)
        return _page(request, slug, "review", page="open", seen=seen)
    try:
        drafts.open_to_raters(campaign, request.user, seen)
    except drafts.NotReadyError as error:
        messages.error(request, f"It is not opened. {error}")
        return redirect("campaign_review", slug)
    except drafts.NotSeenError:
        return _page(request, slug, "review", page="open", seen=seen)
    if campaign.platform:
        messages.success(request, f"{campaign.title} is open. This is what the platform asks for.")
        return redirect("campaign_invitations", slug)
    messages.success(request, f"{campaign.title} is open. Who is invited sees it under My work.")
    return redirect(campaign)


@require_POST
@coordinators_only
def discard(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Throw a draft away. Nobody has worked on it."""
    with transaction.atomic():
        campaign = get_object_or_404(Campaign.objects.select_for_update(), slug=slug)
        if not campaign.is_draft:
            messages.error(request, f"Nothing is changed. {FROZEN}")
            return redirect("campaign_review", slug)
        campaign.delete()
    messages.success(request, f"The draft {campaign.title} is gone.")
    return redirect("campaigns")


@require_http_methods(["GET", "HEAD", "POST"])
@coordinators_only
@locked_post
def later(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """What may change once a study is open: its end, its completion codes, more people."""
    campaigns = Campaign.objects.select_related("rubric", "dataset")
    campaign = get_object_or_404(for_post(request, campaigns), slug=slug)
    if campaign.is_draft:
        return redirect("campaign_terms", slug)
    form = LaterForm(_sent(request), instance=campaign)
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


def _is_look(request: AuthenticatedRequest) -> bool:
    """Whether somebody wants to see what comes of what they have typed, and saves nothing."""
    return "look" in request.POST


def _look(
    request: AuthenticatedRequest, draft: Campaign, step: str, form: PartsForm | TermsForm
) -> HttpResponse:
    """A step with what its form says put in place of what is stored, as far as it can be read."""
    if not form.is_valid():
        stored = Campaign.objects.get(pk=draft.pk)
        for name in form.errors:
            if hasattr(stored, name):
                setattr(draft, name, getattr(stored, name))
    context: dict[str, Any] = {"form": form} | _comes_to(draft)
    if request.htmx:
        context["campaign"] = draft
        return render(request, f"annotation/builder/_{step}_look.html", context)
    return _page(request, draft.slug, step, is_look=True, **context)


def _comes_to(campaign: Campaign) -> dict[str, Any]:
    """The workload of a campaign and its plan; both None where no texts are drawn."""
    work = workload(campaign)
    return {"work": work, "plan": plan(campaign, work) if work else None}


def _save_sample(
    request: AuthenticatedRequest,
    draft: Campaign,
    form: TextsForm | GoldForm,
    step: str,
    also: Iterable[str] = (),
    further: Iterable[Rubric] | None = None,
) -> HttpResponseBase | None:
    """Save and draw again; None where the form has to be shown (again)."""
    if not form.is_valid():
        return None
    try:
        made = drafts.save_sample(draft, [*form.Meta.fields, *also], further)
    except SampleError as error:
        form.add_error(None, str(error))
        draft.refresh_from_db()
        return None
    drew = f"{n_of(made.study, 'text')} drawn for the study"
    extra = f", {made.training} for training and {made.gold} as hidden gold"
    return _onwards(request, draft, step, drew + (extra if made.training or made.gold else ""))


def _onwards(
    request: AuthenticatedRequest, draft: Campaign, step: str, says: str = ""
) -> HttpResponse:
    """To the next step, or back to this one to look at what came of it."""
    messages.success(request, f"{STEPS[step]}: saved{', ' if says else ''}{says}.")
    names = list(STEPS)
    if "on" in request.POST:
        step = names[names.index(step) + 1]
    return redirect(f"campaign_{step}", draft.slug)


def _page(
    request: AuthenticatedRequest,
    slug: str,
    step: str,
    *,
    page: str = "",
    is_look: bool = False,
    **context: Any,
) -> HttpResponse:
    """A step as it is stored, whatever a refused form has made of the campaign in memory."""
    stored = Campaign.objects.select_related(
        "dataset", "rubric", "question_source", "question_rubric", "gold_source"
    ).get(slug=slug)
    shown: forms.Form | None = context.get("form")
    refused = request.method == "POST" and not is_look
    status = (409 if getattr(shown, "conflicts", None) else 422) if refused else 200
    all_steps = steps(stored) if stored.is_draft else []
    context = {
        "campaign": stored,
        "steps": all_steps,
        "step": step,
        "step_title": STEPS[step],
        "step_now": next((row for row in all_steps if row.name == step), None),
        "lacking": sum(len(row.missing) for row in all_steps),
        "odd": sum(len(row.odd) for row in all_steps),
        "form": shown,
        "room": "campaigns",
    } | context
    if "work" not in context:
        context |= _comes_to(stored)
    template = f"annotation/builder/{page or step}.html"
    return render(request, template, context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def campaign_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Make a draft of a study. With people it is complete, without them its builder goes on."""
    slug = request.POST.get("dataset") or request.GET.get("dataset", "")
    dataset = get_object_or_404(Dataset.objects.seen_by(request.user), slug=slug)
    if not dataset.project.lets(request.user, Role.COORDINATOR):
        raise PermissionDenied("Campaigns are made by admins and coordinators of the project.")
    draft = Campaign(dataset=dataset, created_by=request.user)
    form = NewCampaignForm(request.POST or None, dataset=dataset, instance=draft)
    if form.is_valid():
        people = form.cleaned_data["people"]
        draft.selection = {"kind": form.cleaned_data["kind"]}
        try:
            drafts.make(draft, people)
        except SampleError as error:
            form.add_error(None, str(error))
        except IntegrityError:  # somebody else was quicker
            form.add_error(
                None,
                "Nothing was made: somebody has just made a campaign with this address, or changed its "
                "rubric. Try again.",
            )
        else:
            messages.success(request, f"{draft.title} is a draft: nobody but staff sees it yet.")
            return redirect("campaign_review" if people else "campaign_texts", draft.slug)
    context = {"form": form, "dataset": dataset, "room": "campaigns"}
    status = 422 if form.is_bound else 200
    return render(request, "annotation/builder/campaign_new.html", context, status=status)


@require_POST
@coordinators_only
def campaign_copy(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """A new draft like this campaign: its settings, words and checks, not its people."""
    source = get_object_or_404(Campaign, slug=slug)
    try:
        made = drafts.copy(source, request.user)
    except IntegrityError:  # the copy of somebody else has just taken the address
        messages.error(request, "Nothing was copied: somebody else is copying it now. Try again.")
        return redirect(source)
    messages.success(
        request, "This is the copy, a draft. People, times and completion codes did not come along."
    )
    return redirect("campaign_texts", made.slug)
