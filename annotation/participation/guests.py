"""Login redirect for guests: they have no password and get the page to come in again."""

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.validators import slug_re
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse

from annotation.http import View
from annotation.models import Campaign, Participant

COOKIE = "guest"  # the study by whose link somebody came in last: says nothing of who that was
YEAR = 60 * 60 * 24 * 365


class LoginRequired(LoginRequiredMiddleware):
    """Middleware that redirects users to the log-in page, guests to their study's own page."""

    def handle_no_permission(self, request: HttpRequest, view_func: View) -> HttpResponseRedirect:
        study = study_of_guest(request)
        if study is None:
            return super().handle_no_permission(request, view_func)
        url = reverse("guest_logged_out", args=[study.slug])
        return redirect(f"{url}?unsent" if request.method == "POST" else url)


def remember(response: HttpResponseBase, study: Campaign) -> None:
    """Set a cookie that marks the browser as a guest's, and of which study."""
    response.set_cookie(
        COOKIE,
        study.slug,
        max_age=YEAR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def is_remembered(request: HttpRequest, study: Campaign) -> bool:
    """Return whether a guest of this study came in by this browser last."""
    return request.COOKIES.get(COOKIE) == study.slug


def study_of_guest(request: HttpRequest) -> Campaign | None:
    """Return the study of a guest who is logged out; None for all other users.

    Read from the URL of their work where that names it, else from the cookie. It counts where
    guests go and nowhere else: staff log in for their pages in any browser.
    """
    match = request.resolver_match
    if match is None or not (match.url_name == "home" or match.route.startswith("work/")):
        return None
    studies = Campaign.objects.published()
    guests = Participant.objects.filter(rater__user__is_guest=True)
    study = None
    if "pk" in match.kwargs:
        study = studies.filter(
            participants__in=guests.filter(assignments=match.kwargs["pk"])
        ).first()
    elif "slug" in match.kwargs:
        study = studies.filter(participants__in=guests, slug=match.kwargs["slug"]).first()
    cookie_slug = request.COOKIES.get(COOKIE, "")
    return study or (
        studies.filter(slug=cookie_slug).first() if slug_re.match(cookie_slug) else None
    )
