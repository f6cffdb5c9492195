"""Version of a stored row: a hash of the values that a form was opened with."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Model, QuerySet

VERSION = "version"  # the hidden field of a form that carries it


def version_of(values: Any) -> str:
    """Hash values that JSON can hold, dates and numbers; rows by their keys, in any order."""
    canonical = json.dumps(plain(values), sort_keys=True, default=str)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def plain(value: Any) -> Any:
    """Replace rows by their keys in a form's value."""
    if isinstance(value, Model):
        return value.pk
    if isinstance(value, QuerySet):
        return sorted(value.order_by().values_list("pk", flat=True))
    if isinstance(value, Mapping):
        return {str(key): plain(element) for key, element in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(element) for element in value]
    return value
