"""Reads a golden file and answers its cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from evaluation.golden import agreement, metrics, sequences, trust

SCHEMA = "golden-metrics/1"
FAMILIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **metrics.FAMILIES,
    **agreement.FAMILIES,
    **trust.FAMILIES,
    **sequences.FAMILIES,
}


class GoldenFileError(Exception):
    """A golden file cannot be answered; the message says where."""


def answers(path: Path) -> dict[str, dict[str, Any]]:
    """Our result for each case of a golden file, by the case's id, in the order of the file.

    A case that is refused has {"error": why} for a result, with the field; one without an id of its
    own stands under its place, such as cases[3]. Raises GoldenFileError, naming the field, for anything
    that is not a golden file of a known family.
    """
    content = _read(path)
    if not isinstance(content, dict):
        raise GoldenFileError("a golden file is a JSON object")
    if content.get("schema") != SCHEMA:
        raise GoldenFileError(f"schema: {SCHEMA!r} is needed, not {content.get('schema')!r}")
    family = content.get("family")
    if not isinstance(family, str):
        raise GoldenFileError("family: a text is needed")
    if family not in FAMILIES:
        families = ", ".join(sorted(FAMILIES))
        raise GoldenFileError(f"family: {family!r} is not known; known are {families}")
    cases = content.get("cases")
    if not isinstance(cases, list):
        raise GoldenFileError("cases: a list of cases is needed")
    results: dict[str, dict[str, Any]] = {}
    for position, case in enumerate(cases):
        name = _name(case)
        if name is None:
            results[f"cases[{position}]"] = {"error": "id: a text is needed"}
        elif name in results:
            results[f"cases[{position}]"] = {"error": f"id: {name!r} is there twice"}
        else:
            results[name] = _answer(family, case.get("input"))
    return results


def _name(case: Any) -> str | None:
    name = case.get("id") if isinstance(case, dict) else None
    return name if isinstance(name, str) else None


def _answer(family: str, raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        return {"error": "input: an object is needed"}
    try:
        result = FAMILIES[family](raw)
        json.dumps(result, allow_nan=False)
    except ValidationError as error:
        return {"error": _first(error)}
    except KeyError as error:
        return {"error": f"input.{error.args[0]}: the field is missing"}
    except (ArithmeticError, IndexError, TypeError, ValueError) as error:
        return {"error": f"input: {error}"}
    return result


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (OSError, UnicodeDecodeError) as error:
        raise GoldenFileError(f"the file cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise GoldenFileError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error


def _no_constant(name: str) -> NoReturn:
    raise GoldenFileError(f"{name} is not JSON; a missing number is null")


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return f"input{path}: {first['msg']}"
