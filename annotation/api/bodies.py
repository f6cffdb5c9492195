"""The bodies of requests: strict shapes, whose errors say where they are, and what the schema tells of them."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from annotation.api.errors import Malformed, Problem

NAMED, KEYED = "named", "id"  # the two ways to say which text or question


def _whole(value: Any) -> Any:
    """JSON has one kind of numbers: 3.0 is the integer 3, as its schema says."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
Words = Annotated[str, Field(pattern=r"^[^\x00]*$")]


class Body(BaseModel):
    """Strict: a number in quotes is an error, and so is a field that is not known."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


Shape = TypeVar("Shape", bound=Body)


def read(shape: type[Shape], body: Any) -> Shape:
    """The body as its shape. Raises Malformed with every error and its place."""
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        raise Malformed(_problem(problem["loc"], problem["msg"]) for problem in problems) from None


def _problem(loc: tuple[int | str, ...], message: str) -> Problem:
    index = next((part for part in loc if isinstance(part, int)), None)
    names = [part for part in loc if isinstance(part, str) and part not in (NAMED, KEYED)]
    # What has an index is an item of the one list that the body has: its name says nothing more.
    return Problem(index, ".".join(names[1:] if index is not None else names), message)


def schema_of(shape: type[Body]) -> dict[str, Any]:
    """The JSON schema of a body, in one piece."""
    schema = shape.model_json_schema()
    parts = schema.pop("$defs", {})

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return whole(parts[value["$ref"].rsplit("/", 1)[1]])
            return {key: whole(inner) for key, inner in value.items()}
        return [whole(inner) for inner in value] if isinstance(value, list) else value

    found: dict[str, Any] = whole(schema)
    return {"application/json": found}
