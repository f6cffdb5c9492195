"""End of a session, stored in the session: the session row is read without its date."""

import time
from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

KEY = "ends"


def begin(request: HttpRequest) -> None:
    """Restart the session's lifetime; the write also extends the session."""
    request.session[KEY] = int(time.time()) + request.session.get_expiry_age()


def ends(request: HttpRequest) -> int | None:
    """Return the time of the automatic log-out, in seconds of the epoch; None if not stored."""
    return request.session.get(KEY)


@receiver(user_logged_in, dispatch_uid="session_begins")
def _logged_in(request: HttpRequest | None, **_: Any) -> None:
    if request is not None and hasattr(request, "session"):
        begin(request)
