"""When a session ends, kept in the session: its row in the database is read without its date."""

import time
from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

KEY = "ends"


def begin(request: HttpRequest) -> None:
    """Let the time of the session begin now. What is written here is also what makes it last."""
    request.session[KEY] = int(time.time()) + request.session.get_expiry_age()


def ends(request: HttpRequest) -> int | None:
    """The second (of the epoch) at which the reader is logged out; None for a session without a note."""
    return request.session.get(KEY)


@receiver(user_logged_in, dispatch_uid="session_begins")
def _logged_in(request: HttpRequest | None, **_: Any) -> None:
    if request is not None and hasattr(request, "session"):
        begin(request)
