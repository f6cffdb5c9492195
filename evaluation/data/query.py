"""Query of a page: parsed GET parameters, query strings, and choices for templates."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.http import urlencode

from evaluation.data.filter_line import Phrase
from evaluation.data.selection import SelectionError, one_of

Coerce = Callable[[str], Any]


class OneOf(forms.Field):
    """Form field for one of the choices, by its name.

    Without a name its value is the initial one, the first choice if `takes_first`, or None. `noun`
    names it in error messages. A mapping of choices has their labels. Choices are listed only to be
    looked up: texts may be many.
    """

    def __init__(
        self,
        noun: str,
        choices: Iterable[object] = (),
        coerce: Coerce = str,
        takes_first: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(required=False, **more)
        self.noun, self.choices, self.coerce = noun, choices, coerce
        self.takes_first = takes_first

    def clean(self, value: Any) -> Any:
        name = (
            value or self.initial or (next(iter(self.choices), None) if self.takes_first else None)
        )
        return self.coerce(self.look_up(str(name))) if name else None

    def look_up(self, name: str) -> str:
        return one_of(self.noun, name, map(str, self.choices))

    def labels(self) -> dict[str, str]:
        """Return the labels of the choices by name."""
        choices = self.choices
        pairs = choices.items() if isinstance(choices, Mapping) else ((row, row) for row in choices)
        return {str(name): str(label) for name, label in pairs}


class SubsetOf(OneOf):
    """Form field for several of the choices, separated by commas; its value is a tuple."""

    def clean(self, value: Any) -> tuple[str, ...]:
        return tuple(self.look_up(name) for name in (value or "").split(",") if name)


class Joined(forms.Field):
    """Form field for names in one parameter or in several of its name; joined by commas."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> str:
        names = [value] if isinstance(value, str) else value or ()
        return ",".join(name for name in names if name)


class Switch(forms.Field):
    """Form field that is on at one value; any other value is off."""

    def __init__(self, value: str) -> None:
        super().__init__(required=False)
        self.value = value

    def clean(self, value: Any) -> bool:
        return bool(value == self.value)


def number(
    message: str, low: float, high: float, *, is_whole: bool = False, **more: Any
) -> forms.Field:
    """Return a form field for a number from `low` to `high`; `message` answers all others."""
    limits: dict[str, Any] = {"min_value": low, "max_value": high}
    return (forms.IntegerField if is_whole else forms.FloatField)(
        required=False,
        **limits,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), message),
        **more,
    )


class Parameter:
    """Descriptor of a parameter of a PageQuery: its attribute has the parsed value."""

    def __init__(self, field: forms.Field, name: str) -> None:
        self.field, self.name = field, name

    def __set_name__(self, owner: type[PageQuery], name: str) -> None:
        self.name = self.name or name
        owner.base_fields = {**owner.base_fields, self.name: self.field}

    def __get__(self, query: PageQuery | None, owner: type[PageQuery]) -> Any:
        return self if query is None else query.values[self.name]


def parameter(field: forms.Field, name: str = "") -> Any:
    """Declare a parameter of a PageQuery, with its name in URLs if that is another one."""
    return Parameter(field, name)


class PageQuery:
    """Base of the query of a page: each `parameter` is an attribute with its parsed value.

    It uses form fields, but is no form: a template would read the widgets of a form, not the values.
    `query()` writes the values of all parameters, so that a link keeps defaults that depend on the
    data. With `only_given` it writes the parameters as they came, and `unparsed` ones with them.
    """

    base_fields: ClassVar[dict[str, forms.Field]] = {}
    only_given: ClassVar[bool] = False
    unparsed: ClassVar[tuple[str, ...]] = ()
    """Parameters of other pages that links carry."""

    def __init__(self, params: Mapping[str, Any], **choices: Iterable[object]) -> None:
        self.data = params
        self.fields = copy.deepcopy(self.base_fields)
        self.offer(**choices)

    def offer(self, **choices: Iterable[object]) -> None:
        """Set the choices of the fields of these names, where they depend on the dataset."""
        for name, names in choices.items():
            cast(OneOf, self.fields[name]).choices = names

    def parse(self) -> Self:
        """Return the query with all values parsed. Raises SelectionError with the first error."""
        _ = self.values
        return self

    @cached_property
    def values(self) -> dict[str, Any]:
        """Values by parameter. Raises SelectionError with the first error."""
        values = {}
        for name, field in self.fields.items():
            try:
                value = field.clean(self._raw(name))
            except ValidationError as error:
                raise SelectionError(error.messages[0]) from error
            is_empty = value in (None, "") and field.initial is not None
            values[name] = field.initial if is_empty else value
        return self.resolve(values)

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values with the defaults that depend on the data or on other values."""
        return values

    def replace(self, **values: Any) -> Self:
        """Return the query with other values of these parameters."""
        query = copy.copy(self)
        query.values = {**self.values, **values}
        query.__dict__.pop("options", None)  # computed from the values
        return query

    @cached_property
    def given_params(self) -> dict[str, Any]:
        """Parameters as they came, without empty ones."""
        raw = {name: self.data.get(name) for name in self.unparsed}
        raw |= {name: self._raw(name) for name in self.fields}
        return {name: value for name, value in raw.items() if value}

    @property
    def cache_key(self) -> tuple[Hashable, ...]:
        """Values of all parameters, without the version of the data."""
        return tuple(self.values.values())

    @property
    def choices(self) -> dict[str, list[tuple[str, str]]]:
        """Choices of each parameter by name and label, for a template."""
        return {
            name: list(field.labels().items())
            for name, field in self.fields.items()
            if isinstance(field, OneOf)
        }

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the chosen values by parameter, for a template."""
        return {
            name: field.labels().get(_text(self.values[name]), "")
            for name, field in self.fields.items()
            if isinstance(field, OneOf)
        }

    def filter_phrases(self) -> Iterator[Phrase]:
        """Yield the state in words, without choices at their default that change no number."""
        return iter(())

    def params(self, **changes: Any) -> dict[str, Any]:
        """Return the state as parameters of a URL, with changes; a value of None drops one."""
        params = self.given_params
        if not self.only_given:
            params = {name: text for name, value in self.values.items() if (text := _text(value))}
        return {name: value for name, value in {**params, **changes}.items() if value is not None}

    def query(self, **changes: Any) -> str:
        """Return the state as a query string, with changes; a value of None drops a parameter."""
        return urlencode(self.params(**changes), doseq=True)

    def _raw(self, name: str) -> Any:
        return self.fields[name].widget.value_from_datadict(self.data, {}, name)


def _text(value: Any) -> str:
    """Return a value as a URL has it: an object by its name or slug, several with commas."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ",".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:.15g}"  # 0.15, not 0.15000000000000002
    return str(getattr(value, "name", None) or getattr(value, "slug", None) or value)
