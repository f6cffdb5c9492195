"""Language of pages outside a study: that of the reader's last study, from a cookie.

A worker who is logged out in a German study, or mistypes an address of it, reads German too. Pages of
staff are in the site's own language, and staff have no such cookie.
"""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils import translation

from annotation.models import Campaign

COOKIE = "language"
OF_STUDIES = ("work/", "start/", "invited/")
YEAR = 60 * 60 * 24 * 365  # seconds


def remember_language(request: HttpRequest, response: HttpResponseBase) -> None:
    """Store the language of an answered page of a study in the cookie.

    Call it while that language is still active.
    """
    match, stored = request.resolver_match, request.COOKIES.get(COOKIE)
    is_of_study = match is not None and match.route.startswith(OF_STUDIES)
    language = translation.get_language()
    if match is not None and not match.kwargs and language == settings.LANGUAGE_CODE:
        is_of_study = False  # a list of studies in several languages is in none of theirs
    if response.status_code != 200 or not (stored or is_of_study):
        return
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return
    if user.is_researcher:
        if stored:
            response.delete_cookie(COOKIE, samesite="Lax")
    elif is_of_study and language != (stored or settings.LANGUAGE_CODE):
        response.set_cookie(
            COOKIE,
            language,
            max_age=YEAR,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


def activate_last_language(request: HttpRequest) -> None:
    """Activate the language of the last study, for a page that belongs to none.

    A language that a view has chosen already stays. No query: the database may be unavailable.
    """
    stored = request.COOKIES.get(COOKIE)
    if translation.get_language() == settings.LANGUAGE_CODE and stored in dict(settings.LANGUAGES):
        translation.activate(stored)


def activate_language_of(path: str) -> None:
    """Activate the language of the study that a path names, for the rest of the request."""
    try:
        match = resolve(path)
    except Resolver404:
        return
    if match.route.startswith(OF_STUDIES) and "slug" in match.kwargs:
        study = Campaign.objects.published().filter(slug=match.kwargs["slug"]).first()
        if study:
            study.activate_language()
