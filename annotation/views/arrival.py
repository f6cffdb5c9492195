"""The doors of a study, open to people without an account: a platform's link, an invitation."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_safe

from annotation import entry, guests
from annotation.models import Campaign, Participant


@login_not_required
@never_cache
@require_GET
def start(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Somebody comes from the campaign's platform: who they are stands in the address."""
    campaign = get_object_or_404(Campaign, slug=slug)
    if _is_staff(request):
        return render(request, "annotation/arrival_staff.html", {"campaign": campaign})
    campaign.speak()
    if campaign.is_draft:
        return _turned_away(request, campaign, entry.why_closed(campaign))
    if not campaign.platform:
        reason = _("People come into this study with an account, or by a link of their own.")
        return _turned_away(request, campaign, reason)
    try:
        arrival = entry.read_arrival(campaign, request.GET)
        stay = entry.arrive(campaign, arrival.worker)
        return _let_in(request, stay, arrival)
    except entry.BadAddressError as error:
        context = {"campaign": campaign, "problems": error.problems}
        return render(request, "annotation/arrival.html", context, status=400)
    except entry.NoEntryError as error:
        return _turned_away(request, campaign, str(error))


@login_not_required
@never_cache
@require_GET
def invited(request: HttpRequest, token: str) -> HttpResponseBase:
    """Somebody comes by a link that was made for them."""
    stay = entry.invited(token)
    if _is_staff(request):
        return render(request, "annotation/arrival_staff.html", {"campaign": stay.campaign})
    stay.campaign.speak()
    if stay.campaign.is_draft:
        return _turned_away(request, stay.campaign, entry.why_closed(stay.campaign))
    try:
        return _let_in(request, stay)
    except entry.NoEntryError as error:
        return _turned_away(request, stay.campaign, str(error))


@login_not_required
@never_cache
@require_safe
def come_again(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A guest is logged out: how they come in again, and that nothing is lost."""
    if request.user.is_authenticated:  # came in meanwhile, in another tab
        return redirect("home")
    campaign = get_object_or_404(Campaign.objects.published(), slug=slug)
    campaign.speak()
    context = {
        "campaign": campaign,
        "platform": campaign.get_platform_display() if campaign.platform else "",
        "unsent": "unsent" in request.GET,
    }
    return render(request, "annotation/come_again.html", context)


def _let_in(
    request: HttpRequest, stay: Participant, arrival: entry.Arrival | None = None
) -> HttpResponseBase:
    entry.enter(request, stay, arrival)
    response = redirect("work_campaign", stay.campaign.slug)
    guests.remember(response, stay.campaign)
    return response


def _is_staff(request: HttpRequest) -> bool:
    """A researcher who tries the link out must not become a worker by it."""
    return request.user.is_authenticated and request.user.is_researcher


def _turned_away(request: HttpRequest, campaign: Campaign, reason: str) -> HttpResponseBase:
    platform = entry.PLATFORMS.get(campaign.platform)
    context = {
        "campaign": None if campaign.is_draft else campaign,
        "reason": reason,
        "give_up": platform.give_up if platform else "",
    }
    return render(request, "annotation/arrival.html", context, status=403)
