"""Studies, for those who run them: the list, a new one, and a copy of an old one."""

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import drafts
from annotation.drawing import DrawError
from annotation.forms.campaigns import NewCampaignForm
from annotation.http import AuthenticatedRequest, admins_only, researchers_only
from annotation.models import Assignment, Campaign, Dataset


@require_safe
@researchers_only
def campaigns(request: AuthenticatedRequest) -> HttpResponseBase:
    """All studies, newest first."""
    submitted = Q(participants__assignments__state=Assignment.State.SUBMITTED)
    listed = (
        Campaign.objects.select_related("dataset", "rubric")
        .annotate(
            raters=Count("participants", distinct=True),
            lent=Count("participants__assignments", distinct=True),
            submitted=Count("participants__assignments", filter=submitted, distinct=True),
        )
        .order_by("-id")  # a model's own order does not hold where rows are counted
    )
    context = {"campaigns": listed, "datasets": Dataset.objects.all(), "room": "campaigns"}
    return render(request, "annotation/campaigns.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def campaign_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Make a draft of a study. With people it is complete, without them its builder goes on."""
    slug = request.POST.get("dataset") or request.GET.get("dataset", "")
    dataset = get_object_or_404(Dataset, slug=slug)
    draft = Campaign(dataset=dataset, created_by=request.user)
    form = NewCampaignForm(request.POST or None, dataset=dataset, instance=draft)
    if form.is_valid():
        people = form.cleaned_data["people"]
        draft.selection = {"kind": form.cleaned_data["kind"]}
        try:
            drafts.make(draft, people)
        except DrawError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{draft.title} is a draft: nobody but staff sees it yet.")
            return redirect("campaign_review" if people else "campaign_texts", draft.slug)
    context = {"form": form, "dataset": dataset, "room": "campaigns"}
    status = 422 if form.is_bound else 200
    return render(request, "annotation/campaign_new.html", context, status=status)


@require_POST
@admins_only
def campaign_copy(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """A new draft like this campaign: its settings, words and checks, not its people."""
    made = drafts.copy(get_object_or_404(Campaign, slug=slug), request.user)
    messages.success(
        request, "This is the copy, a draft. People, times and completion codes did not come along."
    )
    return redirect("campaign_texts", made.slug)
