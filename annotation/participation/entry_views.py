"""Entry views of a study for people without an account: platform link and invitation."""

import logging
import math
from typing import cast

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from annotation.models import Campaign, Participant, User
from annotation.participation import entry, guests, screening, workflow
from annotation.participation.forms import ConsentForm
from annotation.throttling import Arrivals, address_of

_LOG = logging.getLogger(__name__)


@csrf_exempt  # the ids in the address are all that counts; agreeing in one tab would spoil another's form
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Admit a person who arrives from the campaign's platform, with the ids in the URL.

    A newcomer is shown the terms, and nothing is stored before they are answered: the address can be
    opened again, in another tab or on another device.
    """
    campaign = get_object_or_404(Campaign, slug=slug)
    if _is_staff(request):
        return _staff_page(request, campaign)
    campaign.activate_language()
    if campaign.is_draft:
        return _refuse_entry(request, campaign, entry.closed_reason(campaign))
    if not campaign.platform:
        reason = _("To join this study, log in, or open your personal link.")
        return _refuse_entry(request, campaign, reason)
    throttle = Arrivals()
    if not throttle.allow_request(request):
        return _throttled(request, campaign, throttle.wait() or 60)
    try:
        arrival = entry.read_arrival(campaign, request.GET)
        if participant := entry.returning_participant(campaign, arrival.worker):
            return _log_in(request, participant, arrival)
        return _consent_page(request, campaign, arrival)
    except entry.EntryURLError as error:
        context = {"campaign": campaign, "problems": error.problems}
        return render(request, "annotation/participation/arrival.html", context, status=400)
    except entry.EntryError as error:
        return _refuse_entry(request, campaign, str(error))


def _staff_page(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Tell staff that this link is for participants.

    Raises Http404 for a draft whose dataset the user has no access to.
    """
    visible_campaigns = Campaign.objects.visible_to(cast(User, request.user))
    if campaign.is_draft and not visible_campaigns.filter(pk=campaign.pk).exists():
        raise Http404("There is no such study.")
    context = {"campaign": campaign}
    return render(request, "annotation/participation/arrival_staff.html", context)


@login_not_required
@never_cache
@require_GET
def invited(request: HttpRequest, token: str) -> HttpResponseBase:
    """Admit a person who arrives by a personal invitation link."""
    participant, serial = entry.participant_of_link(token)
    if _is_staff(request):
        return _staff_page(request, participant.campaign)
    participant.campaign.activate_language()
    if participant.campaign.is_draft:
        reason = entry.closed_reason(participant.campaign)
        return _refuse_entry(request, participant.campaign, reason, participant=participant)
    try:
        entry.check_link(participant, serial)
    except entry.EntryError as error:
        return _refuse_entry(request, participant.campaign, str(error), participant=participant)
    return _log_in(request, participant)


@csrf_exempt  # who has joined in another tab goes on; the form of a newcomer is checked
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_study(request: HttpRequest, token: str) -> HttpResponseBase:
    """Admit anyone by the open link of a campaign.

    A newcomer is shown the terms, and nothing is stored before they are agreed to.
    """
    campaign = entry.campaign_of_open_link(token)
    if _is_staff(request):
        return _staff_page(request, campaign)
    campaign.activate_language()
    if campaign.is_draft:
        return _refuse_entry(request, campaign, entry.closed_reason(campaign))
    user = request.user if request.user.is_authenticated else None
    if user and campaign.participants.filter(rater__user=user).exists():
        return redirect("work_campaign", campaign.slug)
    throttle = Arrivals()
    if not throttle.allow_request(request):
        return _throttled(request, campaign, throttle.wait() or 60)
    if not campaign.admits_anyone:
        return _refuse_entry(request, campaign, _("This link has ended. Ask for a new one."))
    try:
        entry.check_places(campaign)
        return _open_link_page(request, campaign, user)
    except entry.EntryError as error:
        return _refuse_entry(request, campaign, str(error))


@csrf_protect
def _open_link_page(
    request: HttpRequest, campaign: Campaign, user: User | None
) -> HttpResponseBase:
    """Show the terms; a person who agrees becomes a participant, and a refusal is not stored.

    A browser has a secret for the tokens of its forms, and another one after each login. Until the
    reply to “I agree” is there, a second press or tab sends the same: it is the same guest.
    """
    questions = workflow.screening_questions(campaign)
    form = ConsentForm(questions, request.POST if request.method == "POST" else None)
    if form.is_valid() and form.agrees:
        account = user if user and not user.is_guest else None
        secret = request.META["CSRF_COOKIE"]
        participant = workflow.join_by_open_link(campaign, account, secret)
        response = _log_in(request, participant)
        screening.record(request, participant, form)
        return response
    if form.is_valid():
        context = {"campaign": campaign, "declined": True}
        return render(request, "annotation/participation/arrival.html", context)
    context = {
        "campaign": campaign,
        "form": form,
        "is_open_link": True,
        "came_before": guests.is_remembered(request, campaign),
        "room": "work",
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/participation/consent.html", context, status=status)


@login_not_required
@never_cache
@require_safe
def guest_logged_out(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Tell a guest who is logged out how to come in again, and that nothing is lost."""
    if request.user.is_authenticated:  # came in meanwhile, in another tab
        return redirect("home")
    campaign = get_object_or_404(Campaign.objects.published(), slug=slug)
    campaign.activate_language()
    context = {
        "campaign": campaign,
        "platform": campaign.get_platform_display() if campaign.platform else "",
        "unsent": "unsent" in request.GET,
    }
    return render(request, "annotation/participation/logged_out.html", context)


def _consent_page(
    request: HttpRequest, campaign: Campaign, arrival: entry.Arrival
) -> HttpResponseBase:
    """Show the terms; a person who has answered them becomes a participant."""
    entry.admit(campaign, arrival.worker)
    form = ConsentForm(workflow.screening_questions(campaign), request.POST or None)
    if form.is_valid():
        participant = workflow.join(campaign, arrival.worker, agrees=form.agrees)
        response = _log_in(request, participant, arrival)
        if form.agrees:
            screening.record(request, participant, form)
        return response
    context = {"campaign": campaign, "form": form, "room": "work"}
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/participation/consent.html", context, status=status)


def _log_in(
    request: HttpRequest, participant: Participant, arrival: entry.Arrival | None = None
) -> HttpResponseBase:
    try:
        entry.enter(request, participant, arrival)
    except entry.EntryError as error:
        return _refuse_entry(request, participant.campaign, str(error), participant=participant)
    response = redirect("work_campaign", participant.campaign.slug)
    if cast(User, participant.rater.user).is_guest:
        guests.remember(response, participant.campaign)
    return response


def _is_staff(request: HttpRequest) -> bool:
    """Return whether a researcher opened the link, who must not become a worker by it."""
    return request.user.is_authenticated and request.user.is_researcher


def _refuse_entry(
    request: HttpRequest,
    campaign: Campaign,
    reason: str,
    status: int = 403,
    *,
    participant: Participant | None = None,
) -> HttpResponseBase:
    """Refuse entry with a reason; a newcomer with a place on a platform is asked to free it.

    A participant has work here, so they are not asked to, and something is stored about them.
    """
    platform = entry.PLATFORMS.get(campaign.platform)
    is_newcomer = participant is None and status == 403
    context = {
        "campaign": None if campaign.is_draft else campaign,
        "reason": reason,
        "give_up": platform.give_up if platform and is_newcomer else "",
        "is_newcomer": is_newcomer,
        "participant": participant,
        "appeal": _appeal(participant) if participant else "",
    }
    return render(request, "annotation/participation/arrival.html", context, status=status)


def _appeal(participant: Participant) -> str | Promise:
    """Return the advice to a person whose account was closed; empty for others."""
    user = participant.rater.user
    if user and user.is_active:
        return ""
    platform = entry.PLATFORMS.get(participant.source)
    return platform.appeal if platform else entry.APPEAL


def _throttled(request: HttpRequest, campaign: Campaign, wait: float) -> HttpResponseBase:
    """Answer 429 with Retry-After; a throttled person is not asked to return the submission."""
    _LOG.warning("/start/%s/ is throttled for %s", campaign.slug, address_of(request))
    reason = _("Too many people use your network at the moment. Please wait a minute, then reload.")
    response = _refuse_entry(request, campaign, reason, status=429)
    response.headers["Retry-After"] = str(math.ceil(wait))
    return response
