"""Reads a golden file and answers its cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from evaluation.golden import agreement, metrics

SCHEMA = "golden-metrics/1"
FAMILIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **metrics.FAMILIES,
    **agreement.FAMILIES,
}


class BadFileError(Exception):
    """A golden file cannot be answered; the message says where."""


def answers(path: Path) -> dict[str, dict[str, Any]]:
    """Our result for each case of a golden file, by the case's id, in the order of the file.

    Raises BadFileError, naming the field, for anything that is not a golden file of a known family.
    """
    content = _read(path)
    if not isinstance(content, dict):
        raise BadFileError("a golden file is a JSON object")
    if content.get("schema") != SCHEMA:
        raise BadFileError(f"schema: {SCHEMA!r} is needed, not {content.get('schema')!r}")
    family = content.get("family")
    if not isinstance(family, str):
        raise BadFileError("family: a text is needed")
    if family not in FAMILIES:
        known = ", ".join(sorted(FAMILIES))
        raise BadFileError(f"family: {family!r} is not known; known are {known}")
    cases = content.get("cases")
    if not isinstance(cases, list):
        raise BadFileError("cases: a list of cases is needed")
    results: dict[str, dict[str, Any]] = {}
    for position, case in enumerate(cases):
        name, given = _case(case, f"cases[{position}]")
        if name in results:
            raise BadFileError(f"cases[{position}].id: {name!r} is there twice")
        try:
            results[name] = FAMILIES[family](given)
        except ValidationError as error:
            raise BadFileError(f"{name}: {_first(error)}") from error
        except KeyError as error:
            raise BadFileError(f"{name}: input.{error.args[0]}: the field is missing") from error
        except (TypeError, ValueError) as error:
            raise BadFileError(f"{name}: input: {error}") from error
    return results


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (OSError, UnicodeDecodeError) as error:
        raise BadFileError(f"the file cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise BadFileError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error


def _no_constant(name: str) -> NoReturn:
    raise BadFileError(f"{name} is not JSON; a missing number is null")


def _case(case: Any, where: str) -> tuple[str, dict[str, Any]]:
    if not isinstance(case, dict):
        raise BadFileError(f"{where}: a case is an object")
    name, given = case.get("id"), case.get("input")
    if not isinstance(name, str):
        raise BadFileError(f"{where}.id: a text is needed")
    if not isinstance(given, dict):
        raise BadFileError(f"{where}.input: an object is needed")
    return name, given


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return f"input{place}: {first['msg']}"
