"""Errors of the API: JSON with one shape, whatever went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

TOLD = 20  # errors in one answer: what is wrong throughout says the same a thousand times


@dataclass(frozen=True)
class Problem:
    """One error: of which item of a list (from 0; None: of none), of which field, and what."""

    index: int | None
    field: str
    message: str

    def __str__(self) -> str:
        place = f"item {self.index}" if self.index is not None else ""
        return ": ".join(part for part in (place, self.field, self.message) if part)


class Refused(APIException):
    """A request that is well formed and cannot be done. Nothing has changed."""

    status_code: int = status.HTTP_422_UNPROCESSABLE_ENTITY

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__(in_words(self.problems))


class Malformed(Refused):
    """A request that does not have the form that the schema asks for."""

    status_code = status.HTTP_400_BAD_REQUEST


class Conflict(Refused):
    """A request that contradicts what is stored."""

    status_code = status.HTTP_409_CONFLICT


class TooLarge(APIException):
    """A request that is larger than Django takes into memory."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request is too large: send it in parts."


class ProblemRow(serializers.Serializer):
    index = serializers.IntegerField(
        allow_null=True, help_text="Which item of the list, from 0; null where it is none of them."
    )
    field = serializers.CharField(
        help_text="The field or parameter; empty: the request as a whole."
    )
    message = serializers.CharField()


class Refusal(serializers.Serializer):
    """Why a request was refused. Nothing has changed."""

    detail = serializers.CharField(help_text="What went wrong, in a sentence.")
    errors = ProblemRow(  # type: ignore[assignment] # a field, as all that a serializer declares
        many=True, help_text=f"Each error with its place, {TOLD} at most."
    )


def in_words(problems: list[Problem]) -> str:
    """The first error, and how many more there are."""
    more = len(problems) - 1
    return f"{problems[0]}" + (f" (and {more} more)" if more else "")


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to a refused request; None for what the API did not expect."""
    if isinstance(error, RequestDataTooBig):
        error = TooLarge()
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, Refused):
        problems = error.problems
        detail = in_words(problems)
    elif isinstance(error, ValidationError):
        problems = list(_problems(error.detail))
        detail = in_words(problems)
    else:
        problems = []
        detail = str(response.data["detail"])
    told = [asdict(problem) for problem in problems[:TOLD]]
    response.data = _printable({"detail": detail, "errors": told})
    return response


def _printable(value: Any) -> Any:
    """The same without halves of surrogate pairs, which a request may have brought and no answer can."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_printable(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _printable(inner) for key, inner in value.items()}
    return value


def _problems(detail: Any, index: int | None = None, field: str = "") -> Iterator[Problem]:
    """The errors of a serializer, which come as dicts and lists within each other."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            if isinstance(name, int):
                # An item of the one list that a body has: the list's name says nothing more.
                yield from _problems(inner, name)
            else:
                own = "" if name == "non_field_errors" else name
                yield from _problems(inner, index, f"{field}.{own}".strip("."))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _problems(inner, index, field)
    else:
        yield Problem(index, field, str(detail))
