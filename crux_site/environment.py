"""Settings that the environment of a process gives: each is right, or named."""

from __future__ import annotations

import json
import os
from typing import Any

from django.core.exceptions import ImproperlyConfigured


def by_name(variable: str) -> dict[str, str]:
    """What NAME=VALUE NAME=VALUE gives."""
    entries = os.environ.get(variable, "").split()
    if wrong := [entry for entry in entries if not entry.partition("=")[2]]:
        raise ImproperlyConfigured(f"{variable}: {wrong[0]!r} is not NAME=VALUE.")
    return dict(entry.split("=", 1) for entry in entries)


def whole_number(variable: str, usual: int) -> int:
    """A number of 1 or more."""
    value = os.environ.get(variable, "").strip() or str(usual)
    if not (value.isascii() and value.isdecimal() and int(value) > 0):
        raise ImproperlyConfigured(f"{variable}: {value!r} is no number of 1 or more.")
    return int(value)


def json_object(variable: str) -> dict[str, Any]:
    try:
        found = json.loads(os.environ.get(variable, "") or "{}")
    except ValueError as error:
        raise ImproperlyConfigured(f"{variable} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise ImproperlyConfigured(f"{variable} is JSON, but no object: it begins with {{.")
    return found
