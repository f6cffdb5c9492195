"""Context processors: what every page knows without being told."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from crux_site.demo import people
from crux_site.login import session_end
from crux_site.projects.shown import share_address
from crux_site.projects.visitors import Visitor

CHOICES = {
    "theme": ("light", "dark"),
    "text-size": ("small", "normal", "large", "huge"),
    "line-length": ("short", "normal", "long"),
}


def appearance(request: HttpRequest) -> dict[str, Any]:
    """How the reader wants pages to look, from cookies: it stands in the first byte, so nothing flashes.

    What is missing or unknown is empty, and the stylesheet decides.
    """
    chosen = {name: request.COOKIES.get(name, "") for name in CHOICES}
    return {
        name.replace("-", "_"): value if value in CHOICES[name] else ""
        for name, value in chosen.items()
    }


def session(request: HttpRequest) -> dict[str, Any]:
    """When the reader is logged out, so that a page can say so in time; nothing for a stranger."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    return {
        "session_ends": session_end.ends(request) or "",
        "session_age": settings.SESSION_COOKIE_AGE,
    }


def shared(request: HttpRequest) -> dict[str, Any]:
    """The link by which somebody reads without an account; for owners, where this page is shared."""
    user = getattr(request, "user", None)
    if isinstance(user, Visitor):
        return {"shared": user.link}
    return {"share": share_address(request)} if getattr(user, "owns", False) else {}


def demo(request: HttpRequest) -> dict[str, Any]:
    """Whom the log-in page of a demo offers to be; it alone asks. Elsewhere nothing is there to ask for."""
    return {"demo_log_ins": people.log_ins} if settings.DEMO else {}
