"""Rate limit of log-ins: failed attempts per account, address or browser, and concurrency.

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

from annotation.errors import UserError
from annotation.throttling import address_of
from crux_site.login.known_browser import browser_known_for

MAX_CONCURRENT = 2  # of the threads of a process, which are 4 as a rule
MAX_ATTEMPTS = {"address": 50, "account": 10, "browser": 10}
WINDOW = 600  # seconds for which a wrong try counts
# As the site's own, but for who is disabled: who knows the password is told so, by the one check that it takes.
_BACKEND = AllowAllUsersModelBackend()
_LOG = logging.getLogger(__name__)
_concurrent_checks = threading.BoundedSemaphore(MAX_CONCURRENT)


class LogInError(UserError):
    """Log-in refused without a check of the password; `wait` in seconds."""

    def __init__(self, message: str, status: int, wait: int) -> None:
        super().__init__(message)
        self.status = status
        self.wait = wait


class LogInForm(AuthenticationForm):
    """Django's log-in form, behind the rate limit."""

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
        with count_attempt(name, self.request):
            self.user_cache = _BACKEND.authenticate(
                self.request, username=name, password=self.cleaned_data["password"]
            )
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data


@contextmanager
def count_attempt(name: str, request: HttpRequest) -> Iterator[None]:
    """Count a password check as a failed attempt, unless the body ends without an error.

    Raises LogInError (429) after too many failed attempts of this account, known or not, or from this
    address, and (503) while others are checked. For a browser that has logged in as this account before,
    its own failed attempts alone are counted: those of others do not lock it out.
    """
    if not _concurrent_checks.acquire(blocking=False):
        _LOG.warning("log-in refused: %s others are being checked", MAX_CONCURRENT)
        raise LogInError(_("Others are logging in at this moment. Please try again."), 503, 2)
    try:
        slots: list[str] = []
        browser = browser_known_for(request, name)
        counted = {"browser": f"{browser}:{name}"} if browser else None
        for kind, value in (counted or {"address": address_of(request), "account": name}).items():
            slots.append(_take_slot(kind, value, slots))
        yield
        caches["log-ins"].delete_many(slots)
    finally:
        _concurrent_checks.release()


def _add_slot(key: str) -> bool:
    """Return True if this attempt got the slot; False if another attempt has it.

    The cache reports an error of its database, such as a lock, in the same way as a slot that is taken.
    Raises OperationalError if it goes on doing so.
    """
    attempts = caches["log-ins"]
    for _attempt in range(3):
        if attempts.add(key, time.time(), WINDOW):
            return True
        if attempts.get(key) is not None:
            return False
    raise OperationalError("A try to log in could not be counted.")


def _take_slot(kind: str, value: str, slots: list[str]) -> str:
    """Take a slot for a failed attempt, which is freed when the window is over.

    The database gives a slot to one attempt alone, however many processes ask at once. Raises
    OperationalError if it is locked or unavailable.
    """
    attempts = caches["log-ins"]
    hashed = salted_hmac("crux_site.logins", f"{kind}:{value}").hexdigest()
    keys = [f"{hashed}:{number}" for number in range(MAX_ATTEMPTS[kind])]
    used_slots = attempts.get_many(keys)
    for key in keys:
        if key not in used_slots and _add_slot(key):
            return key
    attempts.delete_many(slots)
    wait = math.ceil(min(used_slots.values(), default=time.time()) + WINDOW - time.time())
    _LOG.warning("log-in throttled by %s: %.150r", kind, value)
    minutes = max(1, math.ceil(wait / 60))
    message = ngettext(
        "Too many wrong tries. Please try again in %(minutes)s minute.",
        "Too many wrong tries. Please try again in %(minutes)s minutes.",
        minutes,
    )
    raise LogInError(message % {"minutes": minutes}, status=429, wait=max(1, wait))
