"""Limits of log-in attempts: how often one may try, and how many are checked at once.

A password is slow to check, so that whoever has stolen the table cannot try many. A dozen wrong ones at
once would keep every thread of the site busy: a process checks few at once, and refuses the others.
"""

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.backends import AllowAllUsersModelBackend
from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import caches
from django.db import OperationalError
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.throttling import address_of
from crux_site.login.known_browser import browser_known_for

AT_ONCE = 2  # of the threads of a process, which are 4 as a rule
TRIES = {"address": 50, "account": 10, "browser": 10}
WINDOW = 600  # seconds for which a wrong try counts
# As the site's own, but for who is disabled: who knows the password is told so, by the one check that it takes.
_ANYBODY = AllowAllUsersModelBackend()
_LOG = logging.getLogger(__name__)
_checked_now = threading.BoundedSemaphore(AT_ONCE)


class LogInRefused(Exception):
    """A log-in that was not looked at; the message is for whoever tried, `wait` in seconds."""

    def __init__(self, message: str, status: int, wait: int) -> None:
        super().__init__(message)
        self.status = status
        self.wait = wait


class LogInForm(AuthenticationForm):
    """Django's own, behind the guard."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": gettext_lazy("This name and password do not go together."),
        "inactive": gettext_lazy("This account was disabled. Please ask whoever runs this site."),
    }

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if not name or not self.cleaned_data.get("password"):
            return super().clean()
        assert self.request is not None  # the view gives it
        with one_try(name, self.request):
            self.user_cache = _ANYBODY.authenticate(
                self.request, username=name, password=self.cleaned_data["password"]
            )
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data


@contextmanager
def one_try(name: str, request: HttpRequest) -> Iterator[None]:
    """Around the check of a password. A try counts where the check raises, as wrong ones do.

    Raises LogInRefused (429) after too many wrong tries of this account, known or not, or from this
    address, and (503) while others are checked. For a browser that has logged in as this account before,
    its own wrong tries alone are counted: those of others do not lock it out.
    """
    if not _checked_now.acquire(blocking=False):
        _LOG.warning("log-in refused: %s others are being checked", AT_ONCE)
        raise LogInRefused(_("Others are logging in at this moment. Please try again."), 503, 2)
    try:
        places: list[str] = []
        browser = browser_known_for(request, name)
        counted = {"browser": f"{browser}:{name}"} if browser else None
        for kind, value in (counted or {"address": address_of(request), "account": name}).items():
            places.append(_place(kind, value, places))
        yield
        caches["log-ins"].delete_many(places)
    finally:
        _checked_now.release()


def _is_ours(key: str) -> bool:
    """Whether a place is taken by this try; False where another try has it.

    The cache tells an error of its database, as of one that is locked, by the same answer as a place
    that is taken. Raises OperationalError where it goes on doing so.
    """
    tries = caches["log-ins"]
    for _try in range(3):
        if tries.add(key, time.time(), WINDOW):
            return True
        if tries.get(key) is not None:
            return False
    raise OperationalError("A try to log in could not be counted.")


def _place(kind: str, value: str, held: list[str]) -> str:
    """One of the places for wrong tries, kept until the window is over.

    The database gives a place to one alone, however many processes ask at once. Raises
    OperationalError where it takes none, since it is locked or away.
    """
    tries = caches["log-ins"]
    hashed = salted_hmac("crux_site.logins", f"{kind}:{value}").hexdigest()
    keys = [f"{hashed}:{number}" for number in range(TRIES[kind])]
    taken = tries.get_many(keys)
    for key in keys:
        if key not in taken and _is_ours(key):
            return key
    tries.delete_many(held)
    wait = math.ceil(min(taken.values(), default=time.time()) + WINDOW - time.time())
    _LOG.warning("log-in throttled by %s: %.150r", kind, value)
    minutes = max(1, math.ceil(wait / 60))
    says = ngettext(
        "Too many wrong tries. Please try again in %(minutes)s minute.",
        "Too many wrong tries. Please try again in %(minutes)s minutes.",
        minutes,
    )
    raise LogInRefused(says % {"minutes": minutes}, status=429, wait=max(1, wait))
