"""Errors of the API: JSON of one shape for every failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, NotAuthenticated, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotation.errors import UserError

MAX_ERRORS = 20  # errors in one answer: what is wrong throughout says the same a thousand times


@dataclass(frozen=True)
class Problem:
    """Error of a request, with its position and field.

    `index` is that of the list's item, from 0; None where it is about no item.
    """

    index: int | None
    field: str
    message: str

    def __str__(self) -> str:
        position = f"item {self.index}" if self.index is not None else ""
        return ": ".join(part for part in (position, self.field, self.message) if part)


class RequestError(APIException):
    """A request that is well formed and cannot be done. Nothing has changed."""

    status_code: int = status.HTTP_422_UNPROCESSABLE_ENTITY

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__(summarise(self.problems))


class MalformedRequestError(RequestError):
    """A request that does not match the schema."""

    status_code = status.HTTP_400_BAD_REQUEST


class ConflictError(RequestError):
    """A request that contradicts what is stored."""

    status_code = status.HTTP_409_CONFLICT


@dataclass(frozen=True)
class FieldConflict:
    """A field with the value that is stored now and the value that was sent."""

    field: str
    stored: Any
    sent: Any


class VersionConflictError(ConflictError):
    """A change of a version that is no longer stored: another client has changed it since."""

    def __init__(self, name: str, version: str, conflicts: Sequence[FieldConflict]) -> None:
        self.version = version
        self.conflicts = conflicts
        message = (
            f"{name} was changed since the version that you sent: compare both values in conflicts, "
            "and send yours again with the new version to replace what is stored"
        )
        super().__init__(Problem(None, conflict.field, message) for conflict in conflicts)


class RequestTooLargeError(APIException):
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
    """Reason why a request was refused. Nothing has changed."""

    detail = serializers.CharField(help_text="What went wrong, in a sentence.")
    errors = ProblemRow(  # type: ignore[assignment] # a field, as all that a serializer declares
        many=True, help_text=f"Each error with its place, {MAX_ERRORS} at most."
    )


class FieldConflictRow(serializers.Serializer):
    field = serializers.CharField()
    stored = serializers.JSONField(help_text="The value that is stored now.")
    sent = serializers.JSONField(help_text="The value that you sent.")


class VersionConflict(Refusal):
    """Edit conflict: another client has changed the row since. Nothing is stored."""

    version = serializers.CharField(help_text="The version that is stored now.")
    conflicts = FieldConflictRow(many=True, help_text="Each field with both values.")


def summarise(problems: list[Problem]) -> str:
    """Return the first error and the number of the others."""
    more = len(problems) - 1
    return f"{problems[0]}" + (f" (and {more} more)" if more else "")


def handle_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """Exception handler: return the response to a refused request; None if unexpected."""
    if isinstance(error, RequestDataTooBig):
        error = RequestTooLargeError()
    elif isinstance(error, TooManyFieldsSent | TooManyFilesSent):
        error = MalformedRequestError([Problem(None, "", "has too many fields or files")])
    elif isinstance(error, UserError):
        error = _as_request_error(error)
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, RequestError):
        problems = error.problems
        detail = summarise(problems)
    elif isinstance(error, ValidationError):
        problems = list(_problems(error.detail))
        detail = summarise(problems)
    else:
        problems = []
        detail = str(response.data["detail"])
        if isinstance(error, NotAuthenticated):
            detail += " Send the header “Authorization: Token KEY”; your account page creates keys."
    reported = [asdict(problem) for problem in problems[:MAX_ERRORS]]
    data: dict[str, Any] = {"detail": detail, "errors": reported}
    if isinstance(error, VersionConflictError):
        data["version"] = error.version
        data["conflicts"] = [asdict(conflict) for conflict in error.conflicts]
    response.data = _printable(data)
    return response


def _as_request_error(error: UserError) -> RequestError:
    request_error = RequestError([Problem(None, "", str(error))])
    request_error.status_code = error.status
    return request_error


def _printable(value: Any) -> Any:
    """Return JSON with lone surrogates escaped: a request may have them, a response cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_printable(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _printable(inner) for key, inner in value.items()}
    return value


def _problems(detail: Any, index: int | None = None, field: str = "") -> Iterator[Problem]:
    """Yield the errors of a serializer from its nested dicts and lists."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            if isinstance(name, int) and index is None:
                # A body has only one list of objects, so its name is left out of the field.
                yield from _problems(inner, name)
            else:
                subfield = "" if name == "non_field_errors" else name
                yield from _problems(inner, index, f"{field}.{subfield}".strip("."))
    elif isinstance(detail, list):
        for inner in detail:
            yield from _problems(inner, index, field)
    else:
        yield Problem(index, field, str(detail))
