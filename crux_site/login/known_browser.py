"""Signed cookie that names the accounts with which a browser has logged in before.

Wrong passwords from elsewhere, from the same network address or for the same account, do not lock such a
browser out: its own wrong ones are counted apart (`crux_site.login.tries`). It lets nobody in by itself.
"""

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from annotation.models import User

COOKIE, SALT = "known_browser", "crux_site.login.known_browser"
MOST = 8  # accounts that one browser is known for, the last first
YEAR = 60 * 60 * 24 * 365


def remember(request: HttpRequest, response: HttpResponseBase) -> None:
    """Name the account that is logged in now in the browser's cookie, beside those that are there."""
    browser, keys = _read(request)
    own = str(request.user.pk)
    others = [key for key in keys if key != own]
    response.set_signed_cookie(
        COOKIE,
        ".".join([browser or secrets.token_urlsafe(12), own, *others][: MOST + 1]),
        salt=SALT,
        max_age=YEAR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def browser_known_for(request: HttpRequest, username: str) -> str:
    """Return the browser's own random name if it has logged in as this account before, else ""."""
    browser, keys = _read(request)
    is_known = bool(keys) and User.objects.filter(pk__in=keys, username=username).exists()
    return browser if is_known else ""


def _read(request: HttpRequest) -> tuple[str, list[str]]:
    kept = request.get_signed_cookie(COOKIE, "", salt=SALT, max_age=YEAR) or ""
    browser, *keys = kept.split(".")
    return browser, keys
