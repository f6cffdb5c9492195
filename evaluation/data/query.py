"""The query of a page as a form, whose fields answer a wrong choice with those that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from django import forms

from evaluation.data.selection import SelectionError, one_of

Coerce = Callable[[str], Any]


class OneOf(forms.Field):
    """One of the choices by its name; the initial one, or None, where the query leaves it out.

    `what` is what a refusal calls it. Choices are listed only to be looked up: texts may be many.
    """

    def __init__(
        self, what: str, choices: Iterable[object] = (), coerce: Coerce = str, **more: Any
    ) -> None:
        super().__init__(required=False, **more)
        self.what, self.choices, self.coerce = what, choices, coerce

    def clean(self, value: Any) -> Any:
        name = value or self.initial
        return self.coerce(self.look_up(str(name))) if name else None

    def look_up(self, name: str) -> str:
        return one_of(self.what, name, map(str, self.choices))


class EachOf(OneOf):
    """Any of the choices, their names parted by commas; a tuple of them."""

    def clean(self, value: Any) -> tuple[str, ...]:
        return tuple(self.look_up(name) for name in (value or "").split(",") if name)


class QueryForm(forms.Form):
    """What an address asks a page for, by the names of its parameters."""

    def offer(self, **choices: Iterable[object]) -> None:
        """The choices of the fields of these names, where they are the dataset's."""
        for name, names in choices.items():
            cast(OneOf, self.fields[name]).choices = names

    def asked(self) -> dict[str, Any]:
        """The values of all fields. Raises SelectionError with the first thing that is wrong."""
        for problems in (self.non_field_errors(), *self.errors.values()):
            if problems:
                raise SelectionError(problems[0])
        return self.cleaned_data
