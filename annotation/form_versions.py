"""Optimistic locking of forms: a form carries a hash of its initial values.

Two people may open the same form. The second to save is shown the values that the first has stored,
beside those sent; nothing is changed until the second save. The hash is compared while the row is
locked (`locked_post`), so that two saves at the same moment come one after the other.
"""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from annotation.http import View
from annotation.row_versions import VERSION, plain, version_of

CHANGED = (
    "Somebody else (or another tab) has saved this form since you opened it. Your values "
    "are not saved yet. Compare the values, correct yours, and save again to replace the stored ones."
)
EMPTY = "empty"
PREVIEW = "look"  # button of a form that displays typed values and saves nothing
Rows = TypeVar("Rows", bound=QuerySet[Any])


@dataclass(frozen=True)
class Conflict:
    """A field with the value that is stored now and the value that was sent."""

    label: str
    stored: str
    sent: str


def locked_post(view: View) -> View:
    """Run a POST in a transaction, so that the view can lock the row that it changes.

    See `for_post`.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with transaction.atomic() if request.method == "POST" else nullcontext():
            return view(request, *args, **kwargs)

    return guarded


def for_post(request: HttpRequest, rows: Rows) -> Rows:
    """Return the rows, locked on reading in a POST."""
    return rows.select_for_update(of=("self",)) if request.method == "POST" else rows


class VersionedForm(forms.ModelForm):
    """Model form that is invalid where the row was changed since the form was opened.

    `conflicts` then has both values of each field that differs. A page that shows them carries the
    new version, so the next save replaces the stored values. Where nothing differs there is no
    conflict: it was sent twice. A request without a version, which no page of ours sends, is not
    compared.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.version = version_of(self.stored_values())
        if PREVIEW in self.data:  # its page has the typed values, and not what was saved since
            self.version = self.data.get(VERSION, self.version)
        self.conflicts: list[Conflict] = []

    def stored_values(self) -> dict[str, Any]:
        """Return the stored values that the form replaces: its columns.

        Other initial values are only a suggestion; a form that stores further fields adds these.
        """
        options = self._meta
        return model_to_dict(self.instance, options.fields, options.exclude)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if PREVIEW not in self.data and self.data.get(VERSION, self.version) != self.version:
            self.conflicts = list(self._differing(cleaned))
            if self.conflicts:
                self.add_error(None, CHANGED)
        return cleaned

    def _differing(self, cleaned: Mapping[str, Any]) -> Iterator[Conflict]:
        for name in self.changed_data:
            field, bound = self.fields[name], self[name]
            if isinstance(field.widget, forms.PasswordInput):
                continue  # nothing of it is stored that could be compared, or shown
            stored = display_value(field, self.get_initial_for_field(field, name))
            sent = display_value(field, cleaned.get(name, bound.value()))
            if stored != sent:
                yield Conflict(str(bound.label), stored, sent)


def display_value(field: forms.Field, value: Any) -> str:
    """Format a field's value for display: choices by label, times in the site's time zone."""
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
