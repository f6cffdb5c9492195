"""A study and the world outside: links, messages, Prolific's list, and taking the results away."""

import base64

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation import actions, entry, publishing, reconciliation
from annotation.exporters.campaign_files import archive
from annotation.forms.fieldwork import LinksForm, MessageForm, ReconcileForm
from annotation.http import AuthenticatedRequest, admins_only, researchers_only
from annotation.models import Campaign, Participant
from annotation.participants import STATUSES, with_status

LINKS_PER_PAGE = 100


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
@never_cache
def invitations(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """The links by which people come in, and a form for more. Who has a link is its person."""
    found = get_object_or_404(Campaign, slug=slug)
    form = LinksForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        wanted = form.cleaned_data["wanted"]
        with transaction.atomic():
            made = entry.make_links(found, wanted)
            links = f"{len(made)} link{'' if len(made) == 1 else 's'}"
            actions.log(found, request.user, "made links", links)
        messages.success(request, f"{links} can be given out.")
        return redirect("campaign_invitations", slug)
    stays = found.participants.filter(source=Participant.Source.LINK, erased_at=None)
    listed = with_status(stays.select_related("rater")).order_by("-pk")
    page = Paginator(listed, LINKS_PER_PAGE).get_page(request.GET.get("page"))
    arrival = _arrival(found, request)
    context = {
        "campaign": found,
        "form": form,
        "page": page,
        "links": [(stay, STATUSES[stay.status], entry.link_of(stay, request)) for stay in page],
        "arrival": arrival,
        "pasted": publishing.pasted(found, arrival),
        "query": "",
        "room": "campaigns",
    }
    status = 422 if form.is_bound else 200
    return render(request, "annotation/campaign_invitations.html", context, status=status)


def _arrival(campaign: Campaign, request: AuthenticatedRequest) -> str:
    """The address for the platform's own form, its placeholders with it; empty without a platform."""
    platform = entry.PLATFORMS.get(campaign.platform)
    if platform is None:
        return ""
    start = request.build_absolute_uri(reverse("start", args=[campaign.slug]))
    return f"{start}?{platform.asked}" if platform.asked else start


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def campaign_messages(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """What all workers of a study were told; an admin can tell them more."""
    found = get_object_or_404(Campaign, slug=slug)
    if request.method == "POST" and not request.user.is_admin:
        raise PermissionDenied("Messages are sent by admins.")
    form = MessageForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        actions.send_message(found, form.cleaned_data["body"], request.user)
        messages.success(request, "The message is sent.")
        return redirect("campaign_messages", slug)
    sent = found.messages_sent.select_related("by").order_by("-pk")
    context = {"campaign": found, "form": form, "sent": sent, "room": "campaigns"}
    status = 422 if form.is_bound else 200
    return render(request, "annotation/campaign_messages.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
@never_cache
def reconcile(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Prolific's list of submissions beside what was done here. Nothing is kept or changed."""
    found = get_object_or_404(Campaign, slug=slug)
    form = (
        ReconcileForm(request.POST, request.FILES) if request.method == "POST" else ReconcileForm()
    )
    context: dict[str, object] = {"campaign": found, "form": form, "room": "campaigns"}
    if form.is_valid():
        compared = reconciliation.reconcile(found, form.submissions)
        # In the page itself: what is kept nowhere else need not be uploaded again to be taken away.
        lines = "".join(reconciliation.csv_lines(compared)).encode()
        context |= {
            "compared": compared,
            "csv": f"data:text/csv;charset=utf-8;base64,{base64.b64encode(lines).decode()}",
        }
        return render(request, "annotation/campaign_reconcile.html", context)
    status = 422 if form.is_bound else 200
    return render(request, "annotation/campaign_reconcile.html", context, status=status)


@require_POST
@researchers_only
def export(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """All that came of a study as an archive: in full for admins, without people for researchers."""
    found = get_object_or_404(Campaign.objects.select_related("dataset", "rubric"), slug=slug)
    kind = request.POST.get("kind")
    if kind not in ("full", "anonymous"):
        raise Http404("An export is full or anonymous.")
    if kind == "full" and not request.user.is_admin:
        raise PermissionDenied("The full export names people, so it is for admins.")
    actions.log(found, request.user, "exported", kind)
    response = StreamingHttpResponse(
        archive(found, anonymous=kind == "anonymous"), content_type="application/zip"
    )
    name = f"{slug}.anonymous.zip" if kind == "anonymous" else f"{slug}.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
