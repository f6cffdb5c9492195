"""Signed cookie that names the accounts with which a browser has logged in before.

Wrong passwords from elsewhere, from the same network address or for the same account, do not lock such a
browser out: its own wrong ones are counted apart (`crux_site.login.rate_limit`). It lets nobody in by itself.
"""

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from annotation.models import User

COOKIE, SALT = "known_browser", "crux_site.login.known_browser"
MAX_ACCOUNTS = 8  # accounts that one browser is known for, the last first
YEAR = 60 * 60 * 24 * 365


def remember(request: HttpRequest, response: HttpResponseBase) -> None:
    """Add the account that is logged in to the browser's cookie."""
    browser, keys = _read(request)
    account = str(request.user.pk)
    other_accounts = [key for key in keys if key != account]
    response.set_signed_cookie(
        COOKIE,
        ".".join(
            [browser or secrets.token_urlsafe(12), account, *other_accounts][: MAX_ACCOUNTS + 1]
        ),
        salt=SALT,
        max_age=YEAR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def browser_known_for(request: HttpRequest, username: str) -> str:
    """Return the browser's own random name if it has logged in as this account before, else ""."""
    browser, keys = _read(request)
    has_logged_in = bool(keys) and User.objects.filter(pk__in=keys, username=username).exists()
    return browser if has_logged_in else ""


def _read(request: HttpRequest) -> tuple[str, list[str]]:
    cookie = request.get_signed_cookie(COOKIE, "", salt=SALT, max_age=YEAR) or ""
    browser, *keys = cookie.split(".")
    return browser, keys
