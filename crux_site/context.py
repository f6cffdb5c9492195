"""What every page knows without being told."""

from typing import Any

from django.http import HttpRequest

THEMES = ("light", "dark")


def appearance(request: HttpRequest) -> dict[str, Any]:
    """The reader's theme, from a cookie, so that it stands in the first byte and nothing flashes."""
    theme = request.COOKIES.get("theme", "")
    return {"theme": theme if theme in THEMES else ""}
