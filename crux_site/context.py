"""Context processors for all pages."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from crux_site.demo import people
from crux_site.login import session_end
from crux_site.projects.shared_pages import share_address
from crux_site.projects.visitors import Visitor

CHOICES = {
    "theme": ("light", "dark"),
    "text-size": ("small", "normal", "large", "huge"),
    "line-length": ("short", "normal", "long"),
    "guideline-beside": ("open",),
}


def appearance(request: HttpRequest) -> dict[str, Any]:
    """Return the reader's display settings from cookies; the server renders them: no flash.

    A value that is missing or unknown is empty, and the stylesheet decides.
    """
    chosen = {name: request.COOKIES.get(name, "") for name in CHOICES}
    return {
        name.replace("-", "_"): value if value in CHOICES[name] else ""
        for name, value in chosen.items()
    }


def session(request: HttpRequest) -> dict[str, Any]:
    """Return the time of the automatic log-out, to warn in time; nothing if logged out."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    return {
        "session_ends": session_end.ends(request) or "",
        "session_age": settings.SESSION_COOKIE_AGE,
    }


def shared(request: HttpRequest) -> dict[str, Any]:
    """Return the shared link of a visitor; for owners, the address to share this page."""
    user = getattr(request, "user", None)
    if isinstance(user, Visitor):
        return {"shared": user.link}
    return {"share": share_address(request)} if getattr(user, "owns", False) else {}


def demo(request: HttpRequest) -> dict[str, Any]:
    """Return the accounts that the log-in page of a demo offers; nothing outside a demo.

    They are a callable: only the log-in page queries them.
    """
    return {"demo_log_ins": people.log_ins} if settings.DEMO else {}
