"""The API as a page to read: its own description, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from drf_spectacular.generators import SchemaGenerator

Part = dict[str, Any]


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a body or an answer."""

    name: str
    kind: str
    says: str
    is_needed: bool = False


@dataclass(frozen=True)
class Operation:
    """A method of an address."""

    id: str
    method: str
    address: str
    summary: str
    says: str
    parameters: list[Field] = field(default_factory=list)
    body: list[Field] = field(default_factory=list)
    example: str = ""
    told: list[Field] = field(default_factory=list)
    is_list: bool = False
    statuses: list[tuple[str, str]] = field(default_factory=list)


def reference() -> dict[str, list[Operation]]:
    """All operations by their group, as the OpenAPI description has them."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    parts = schema["components"]["schemas"]
    groups: dict[str, list[Operation]] = {}
    for address, methods in schema["paths"].items():
        for method, operation in methods.items():
            found = _operation(method.upper(), address, operation, parts)
            groups.setdefault(operation["tags"][0], []).append(found)
    return groups


def _operation(method: str, address: str, operation: Part, parts: Part) -> Operation:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    shape = body.get("schema", {})
    examples = [example["value"] for example in body.get("examples", {}).values()]
    good = next(code for code in operation["responses"] if code.startswith("2"))
    told = operation["responses"][good]["content"]["application/json"]["schema"]
    told = _whole(told, parts)
    is_list = "results" in told["properties"]
    if is_list:
        told = _whole(told["properties"]["results"]["items"], parts)
    return Operation(
        id=operation["operationId"],
        method=method,
        address=address,
        summary=operation["summary"],
        says=operation.get("description", ""),
        parameters=[
            Field(
                parameter["name"],
                _kind(parameter["schema"], parts),
                parameter.get("description", ""),
                parameter.get("required", False),
            )
            for parameter in operation.get("parameters", [])
        ],
        body=list(_fields(shape, parts, shape.get("required", ()))),
        example=json.dumps(examples[0], indent=2) if examples else "",
        told=list(_fields(told, parts)),
        is_list=is_list,
        statuses=[
            (code, answer["description"])
            for code, answer in operation["responses"].items()
            if code != good
        ],
    )


def _whole(part: Part, parts: Part) -> Part:
    """A part of the description, with what it refers to."""
    for inner in part.get("allOf", []):
        part = part | _whole(inner, parts)
    if "$ref" in part:
        found: Part = parts[part["$ref"].rsplit("/", 1)[1]]
        return found | part
    return part


def _fields(shape: Part, parts: Part, needed: Sequence[str] = ()) -> Iterator[Field]:
    for name, part in shape.get("properties", {}).items():
        says = _whole(part, parts).get("description", "")
        yield Field(name, _kind(part, parts), says, name in needed)


def _kind(part: Part, parts: Part) -> str:
    part = _whole(part, parts)
    choices = part.get("anyOf") or part.get("oneOf")
    if choices:
        return " or ".join(dict.fromkeys(_kind(choice, parts) for choice in choices))
    if "enum" in part:
        return "one of " + ", ".join(json.dumps(value) for value in part["enum"])
    kinds = part.get("type", "anything")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    words = " or ".join(kinds)
    if words == "array":
        words = f"list of {_kind(part['items'], parts)}"
    if "minimum" in part and part.get("maximum", 2**31) < 2**31 - 1:
        words += f" from {part['minimum']:,} to {part['maximum']:,}"
    if part.get("default") not in (None, "", []):
        words += f", {json.dumps(part['default'])} by default"
    return words
