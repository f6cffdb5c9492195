"""Optimistic locking of forms: a form carries a hash of what it was opened with.

Two people may open the same form. The second to save is shown what the first has stored, beside what was
sent; nothing is changed until the second save. The hash is compared while the row is locked (`locked_post`), so
that two saves at the same moment come one after the other.
"""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from annotation.http import View
from annotation.row_versions import VERSION, plain, version_of

CHANGED = (
    "This was saved since you opened it, by somebody else or in another tab. Nothing of yours is saved yet. "
    "Compare the values, correct yours, and save again to replace what is stored."
)
EMPTY = "empty"


@dataclass(frozen=True)
class Conflict:
    """A field with the value that is stored now and the value that was sent."""

    label: str
    stored: str
    sent: str


def locked_post(view: View) -> View:
    """Run a POST in a transaction, so that the view can lock the row that it changes; see `for_post`."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with transaction.atomic() if request.method == "POST" else nullcontext():
            return view(request, *args, **kwargs)

    return guarded


def for_post(request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
    """The rows, to be locked where they are read by a POST."""
    return rows.select_for_update(of=("self",)) if request.method == "POST" else rows


class VersionedForm(forms.ModelForm):
    """A form of a stored row that is not valid where somebody else has changed the row meanwhile.

    `conflicts` then has both values of each field that differs. A page that shows them carries the new version,
    so the next save replaces what is stored. Where nothing differs there is no conflict: it was sent twice.
    A request without a version, which no page of ours sends, is not compared.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = version_of(self.initial)
        self.conflicts: list[Conflict] = []

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "look" not in self.data and self.data.get(VERSION, self.version) != self.version:
            self.conflicts = list(self._differing(cleaned))
            if self.conflicts:
                self.add_error(None, CHANGED)
        return cleaned

    def _differing(self, cleaned: Mapping[str, Any]) -> Iterator[Conflict]:
        for name in self.changed_data:
            field, bound = self.fields[name], self[name]
            if isinstance(field.widget, forms.PasswordInput):
                continue  # nothing of it is stored that could be compared, or shown
            stored = in_words(field, self.get_initial_for_field(field, name))
            sent = in_words(field, cleaned.get(name, bound.value()))
            if stored != sent:
                yield Conflict(str(bound.label), stored, sent)


def in_words(field: forms.Field, value: Any) -> str:
    """A value of a field as a person reads it: choices by their labels, moments in the site's time zone."""
    if value in (None, "") or value == []:
        return EMPTY
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices
        labels = {str(key): str(label) for key, label in choices}
        keys = plain(value)
        keys = keys if isinstance(keys, list) else [keys]
        return ", ".join(sorted(labels.get(str(key), str(key)) for key in keys)) or EMPTY
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{timezone.localtime(value):%-d %B %Y, %H:%M}"
    return "\n".join(str(value).splitlines())
