"""Visitors without an account, who read the pages of a shared link that they have opened."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import ResolverMatch
from django.utils.cache import add_never_cache_headers, patch_vary_headers

from annotation.http import View
from annotation.models import SharedLink
from annotation.participation import guests
from crux_site.login.unsent_form import unsent_form_page
from crux_site.projects.shared_pages import is_shared
from crux_site.projects.visitor_links import close_links

COOKIE, SALT = "shared", "crux_site.projects.visitors"
MAX_LINKS = 8  # links that one browser keeps, the newest first
YEAR = 60 * 60 * 24 * 365  # as long as a link can last; whether one is open, the database says


class Visitor(AnonymousUser):
    """Anonymous user at an address that a link shows; guards treat it as a researcher."""

    is_researcher = True
    is_admin = owns = runs_campaigns = is_guest = False

    def __init__(self, link: SharedLink, links: list[SharedLink]) -> None:
        super().__init__()
        self.link = link
        self.links = links  # all that the browser has opened, this one among them


class LoginRequired(guests.LoginRequired):
    """Middleware: require a log-in, unless a shared link shows the page.

    A user who is logged in is never a visitor, and no page that is open to everybody sees one. The link is
    looked up at each request, so that one that is revoked or has ended shows nothing from then on.
    """

    def process_view(
        self, request: HttpRequest, view_func: View, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        to_log_in = super().process_view(request, view_func, view_args, view_kwargs)
        digests = _digests(request)
        if to_log_in is None:
            return None
        if not digests or _is_home_or_work(request.resolver_match):
            return unsent_form_page(request) or to_log_in
        links = list(SharedLink.objects.of_digests(digests))
        link = next((link for link in links if is_shared(link, request)), None)
        if link is None:
            return unsent_form_page(request) or not_shared(request, links)
        link.used()
        request.user = Visitor(link, links)
        return None

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        user = getattr(request, "user", None)
        if type(user) is Visitor:  # asks no session, as isinstance would
            keep_private(response)
            close_links(request, response, user.links)
        return response


def remember(request: HttpRequest, response: HttpResponse, link: SharedLink) -> None:
    """Add a link to the browser's signed cookie, by digest: its token stays in its URL alone."""
    digests = [link.digest, *(digest for digest in _digests(request) if digest != link.digest)]
    response.set_signed_cookie(
        COOKIE,
        ".".join(digests[:MAX_LINKS]),
        salt=SALT,
        max_age=YEAR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def not_shared(request: HttpRequest, links: list[SharedLink]) -> HttpResponse:
    """Render the 404 page of shared links: the page is not shared, or the link has ended."""
    context = {"links": links}
    response = render(request, "crux_site/projects/not_shared.html", context, status=404)
    keep_private(response)
    return response


def keep_private(response: HttpResponseBase) -> None:
    """Forbid shared caches to store the response, and search engines to index it."""
    add_never_cache_headers(response)
    patch_vary_headers(response, ["Cookie"])
    response.headers["X-Robots-Tag"] = "noindex, nofollow"


def _digests(request: HttpRequest) -> list[str]:
    cookie = request.get_signed_cookie(COOKIE, "", salt=SALT)
    return cookie.split(".") if cookie else []


def _is_home_or_work(match: ResolverMatch | None) -> bool:
    """True for the home page and the work of guests: shared links do not apply there."""
    return match is not None and (match.url_name == "home" or match.route.startswith("work/"))
