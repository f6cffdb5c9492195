"""Strict request bodies: serializers that accept JSON as sent, without coercion."""

from __future__ import annotations

from typing import Any

from django.core.validators import ProhibitNullCharactersValidator, RegexValidator
from django.utils.functional import cached_property
from rest_framework import serializers

from annotation.api.paging import LARGEST_KEY


class StrictBody(serializers.Serializer):
    """A JSON object without unknown fields: a typo would otherwise select a default.

    Each field is required or has a default.
    """

    @cached_property
    def named_fields(self) -> list[tuple[str, serializers.Field]]:
        return list(self.fields.items())

    def to_internal_value(self, data: Any) -> Any:
        # Like the base class, but faster: a request has thousands of objects.
        if not isinstance(data, dict):
            return super().to_internal_value(data)  # which says what is wrong
        values: dict[str, Any] = {}
        problems: dict[str, Any] = {}
        for name, field in self.named_fields:
            try:
                values[name] = field.run_validation(data.get(name, serializers.empty))
            except serializers.ValidationError as error:
                problems[name] = error.detail
        for name in sorted(data.keys() - self.fields.keys()):
            problems[name] = ["There is no field of this name."]
        if problems:
            raise serializers.ValidationError(problems)
        return values


class StrictInteger(serializers.IntegerField):
    """An integer, not in quotes.

    JSON has one kind of numbers: 3.0 is the integer 3, as its schema says.
    """

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, float) and data.is_integer():
            return int(data)
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class StrictFloat(serializers.FloatField):
    """A finite number, not in quotes."""

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictBoolean(serializers.BooleanField):
    """Exactly true or false."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class StrictString(serializers.CharField):
    """A string without trimming, of any characters except NUL.

    No database stores a NUL.
    """

    def __init__(self, pattern: str = "", **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, **kwargs)
        if pattern:
            self.validators.append(RegexValidator(pattern, self.error_messages["invalid"]))
        else:
            # Equivalent to the validator that it replaces, and visible in the schema.
            no_nul = RegexValidator(r"^[^\x00]+\Z", ProhibitNullCharactersValidator.message)
            self.validators = [
                no_nul if isinstance(validator, ProhibitNullCharactersValidator) else validator
                for validator in self.validators
            ]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class StrictSlug(StrictString):
    """A name of letters, digits, hyphens and underscores."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[-a-zA-Z0-9_]+\Z", **kwargs)


class KeyOrNames(serializers.Field):
    """A row by its id, or by its names in the files."""

    def __init__(self, names: StrictBody, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.names = names
        self.key = StrictInteger(
            min_value=1, max_value=LARGEST_KEY, help_text="An id, as this API tells it."
        )
        self._read: dict[str, Any] = {}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            return self.key.run_validation(data)
        as_sent = repr(data)  # a text is named once for each of its questions, and read once
        if as_sent not in self._read:
            self._read[as_sent] = self.names.to_internal_value(data)
        return self._read[as_sent]
