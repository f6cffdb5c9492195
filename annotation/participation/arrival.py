"""The doors of a study, open to people without an account: a platform's link, an invitation."""

import logging
import math
from typing import cast

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from annotation.models import Campaign, Participant, User
from annotation.participation import entry, guests, journey
from annotation.participation.forms import ConsentForm
from annotation.throttling import Arrivals, address_of

_LOG = logging.getLogger(__name__)


@csrf_exempt  # the ids in the address are all that counts; agreeing in one tab would spoil another's form
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Somebody comes from the campaign's platform: who they are stands in the address.

    A newcomer is shown the terms, and nothing is stored before they are answered: the address can be
    opened again, in another tab or on another device.
    """
    campaign = get_object_or_404(Campaign, slug=slug)
    if _is_staff(request):
        return _for_staff(request, campaign)
    campaign.activate_language()
    if campaign.is_draft:
        return _turned_away(request, campaign, entry.why_closed(campaign))
    if not campaign.platform:
        reason = _("People come into this study with an account, or by a link of their own.")
        return _turned_away(request, campaign, reason)
    throttle = Arrivals()
    if not throttle.allows(request):
        return _too_many(request, campaign, throttle.wait() or 60)
    try:
        arrival = entry.read_arrival(campaign, request.GET)
        if participant := entry.known(campaign, arrival.worker):
            return _let_in(request, participant, arrival)
        return _newcomer(request, campaign, arrival)
    except entry.BadAddressError as error:
        context = {"campaign": campaign, "problems": error.problems}
        return render(request, "annotation/participation/arrival.html", context, status=400)
    except entry.NoEntryError as error:
        return _turned_away(request, campaign, str(error))


def _for_staff(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """That this is for participants. A draft is not even that to who does not see its dataset."""
    seen = Campaign.objects.seen_by(cast(User, request.user))
    if campaign.is_draft and not seen.filter(pk=campaign.pk).exists():
        raise Http404("There is no such study.")
    context = {"campaign": campaign}
    return render(request, "annotation/participation/arrival_staff.html", context)


@login_not_required
@never_cache
@require_GET
def invited(request: HttpRequest, token: str) -> HttpResponseBase:
    """Somebody comes by a link that was made for them."""
    participant, serial = entry.invited(token)
    if _is_staff(request):
        return _for_staff(request, participant.campaign)
    participant.campaign.activate_language()
    if participant.campaign.is_draft:
        reason = entry.why_closed(participant.campaign)
        return _turned_away(request, participant.campaign, reason, has_place=False)
    try:
        entry.check_link(participant, serial)
        return _let_in(request, participant)
    except entry.NoEntryError as error:
        return _turned_away(request, participant.campaign, str(error), has_place=False)


@login_not_required
@never_cache
@require_safe
def come_again(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A guest is logged out: how they come in again, and that nothing is lost."""
    if request.user.is_authenticated:  # came in meanwhile, in another tab
        return redirect("home")
    campaign = get_object_or_404(Campaign.objects.published(), slug=slug)
    campaign.activate_language()
    context = {
        "campaign": campaign,
        "platform": campaign.get_platform_display() if campaign.platform else "",
        "unsent": "unsent" in request.GET,
    }
    return render(request, "annotation/participation/come_again.html", context)


def _newcomer(request: HttpRequest, campaign: Campaign, arrival: entry.Arrival) -> HttpResponseBase:
    """The terms; whoever has answered them is a participant from then on."""
    entry.admit(campaign, arrival.worker)
    form = ConsentForm(request.POST or None)
    if form.is_valid():
        participant = journey.join(campaign, arrival.worker, agrees=form.agrees)
        return _let_in(request, participant, arrival)
    context = {"campaign": campaign, "form": form, "room": "work"}
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/participation/consent.html", context, status=status)


def _let_in(
    request: HttpRequest, participant: Participant, arrival: entry.Arrival | None = None
) -> HttpResponseBase:
    entry.enter(request, participant, arrival)
    response = redirect("work_campaign", participant.campaign.slug)
    guests.remember(response, participant.campaign)
    return response


def _is_staff(request: HttpRequest) -> bool:
    """A researcher who tries the link out must not become a worker by it."""
    return request.user.is_authenticated and request.user.is_researcher


def _turned_away(
    request: HttpRequest,
    campaign: Campaign,
    reason: str,
    status: int = 403,
    *,
    has_place: bool = True,
) -> HttpResponseBase:
    """Why somebody cannot come in; who has a place on a platform is asked to free it."""
    platform = entry.PLATFORMS.get(campaign.platform) if has_place else None
    context = {
        "campaign": None if campaign.is_draft else campaign,
        "reason": reason,
        "give_up": platform.give_up if platform and status == 403 else "",
    }
    return render(request, "annotation/participation/arrival.html", context, status=status)


def _too_many(request: HttpRequest, campaign: Campaign, wait: float) -> HttpResponseBase:
    """Nobody is sent back to the platform for it: who waits a little comes in."""
    _LOG.warning("/start/%s/ is throttled for %s", campaign.slug, address_of(request))
    reason = _(
        "Too many people come from your network at this moment. Please wait a minute, and reload."
    )
    response = _turned_away(request, campaign, reason, status=429)
    response.headers["Retry-After"] = str(math.ceil(wait))
    return response
