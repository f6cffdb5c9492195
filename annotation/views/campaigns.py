"""Studies, for those who run them: the list, a new one, and how far one is."""

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import assigning
from annotation.forms import CampaignForm
from annotation.http import AuthenticatedRequest, admins_only, researchers_only
from annotation.models import Assignment, Campaign, Dataset

SUBMITTED = Count("assignments", filter=Q(assignments__state=Assignment.State.SUBMITTED))
SKIPPED = Count("assignments", filter=Q(assignments__state=Assignment.State.SKIPPED))


@require_safe
@researchers_only
def campaigns(request: AuthenticatedRequest) -> HttpResponseBase:
    """All studies, newest first."""
    submitted = Q(participants__assignments__state=Assignment.State.SUBMITTED)
    listed = Campaign.objects.select_related("dataset", "rubric").annotate(
        raters=Count("participants", distinct=True),
        lent=Count("participants__assignments", distinct=True),
        submitted=Count("participants__assignments", filter=submitted, distinct=True),
    )
    context = {"campaigns": listed, "datasets": Dataset.objects.all(), "room": "campaigns"}
    return render(request, "annotation/campaigns.html", context)


@require_safe
@researchers_only
def campaign(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """One study: what is asked about which texts, and how far each rater is."""
    found = get_object_or_404(Campaign.objects.select_related("dataset", "rubric"), slug=slug)
    stays = found.participants.select_related("rater").annotate(
        lent=Count("assignments"), submitted=SUBMITTED, skipped=SKIPPED
    )
    items = (
        found.items.select_related("text__topic")
        .annotate(questions=Count("asked", distinct=True), submitted=SUBMITTED)
        .order_by("position")
    )
    notes = Assignment.objects.filter(participant__campaign=found).exclude(note="")
    context = {
        "campaign": found,
        "stays": stays,
        "items": items,
        "notes": notes.select_related("participant__rater", "item__text"),
        "room": "campaigns",
    }
    return render(request, "annotation/campaign.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def campaign_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Choose the texts, the rubric and the raters of a new study, and open it."""
    slug = request.POST.get("dataset") or request.GET.get("dataset", "")
    dataset = get_object_or_404(Dataset, slug=slug)
    form = CampaignForm(request.POST or None, dataset=dataset)
    if form.is_valid():
        made = form.save(commit=False)
        made.dataset = dataset
        made.created_by = request.user
        raters = [assigning.rater_of(person) for person in form.cleaned_data["people"]]
        assigning.open_campaign(made, form.texts(), raters)
        messages.success(request, f"{made.title} is open, and its raters see it under My work.")
        return redirect(made)
    context = {"form": form, "dataset": dataset, "room": "campaigns"}
    status = 422 if form.is_bound else 200
    return render(request, "annotation/campaign_new.html", context, status=status)


@require_POST
@admins_only
def campaign_state(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Close a study, or open it again. Nothing that was saved changes."""
    found = get_object_or_404(Campaign, slug=slug)
    state = request.POST.get("state", "")
    if state not in Campaign.State.values:
        messages.error(request, "A campaign is either open or closed.")
        return redirect(found)
    found.state = state
    found.save(update_fields=["state"])
    messages.success(request, f"{found.title} is {found.get_state_display()}.")
    return redirect(found)
