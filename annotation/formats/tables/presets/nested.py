"""Nested values in cells: JSON and Python's repr, conversations, and the words in them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.lists import python_as_json

USER = ("user", "human")
ASSISTANT = ("assistant", "ai", "model")
MAX_DEPTH = 8


def is_absent(cell: Cell) -> bool:
    """Return whether a cell is empty; data frames write NaN for that."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and cell.strip() in ("", "nan", "NaN", "None"))


def text_cell(cell: Cell) -> str:
    """Return the words of a plain cell; "" for an absent one, a list or an object."""
    if is_absent(cell) or isinstance(cell, list | dict):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def parsed(cell: Cell) -> Any:
    """Return the list or object in a cell, also of its text form; other cells as they are."""
    if not isinstance(cell, str) or cell.lstrip()[:1] not in ("[", "{"):
        return cell
    for as_json in (str, python_as_json):  # the second only where the first is none
        try:
            value = json.loads(as_json(cell))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list | dict):
            return value
    return cell


def nested_value(cells: Mapping[str, Cell], name: str) -> Any:
    """Return the cell at a path, or an object of the cells below the path."""
    if not is_absent(cells.get(name)):
        return parsed(cells.get(name))
    prefix = f"{name}."
    value: dict[str, Any] = {}
    for header, cell in cells.items():
        if not header.startswith(prefix) or cell is None:
            continue
        *path, last = header.removeprefix(prefix).split(".")
        inner = value
        for part in path:
            deeper = inner.setdefault(part, {})
            if not isinstance(deeper, dict):
                break
            inner = deeper
        else:
            inner[last] = parsed(cell)
    return value or None


def text_in(value: Any, names: Sequence[str], roles: Sequence[str], depth: int = 0) -> str:
    """Return the text in a value; "" where there is none, or several without a known name.

    It is the value of a known name, the last message of a role, or the only text.
    """
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return text_cell(value)
    if depth > MAX_DEPTH or not isinstance(value, list | dict):
        return ""
    if isinstance(value, list):
        return _text_in_list(value, names, roles, depth + 1)
    by_name = {str(name).casefold(): item for name, item in value.items()}
    for name in (*names, "messages", "choices", "message", "content"):
        if text := text_in(by_name.get(name), names, roles, depth + 1):
            return text
    filled = [item for item in value.values() if item not in (None, "", [], {})]
    return text_in(filled[0], names, roles, depth + 1) if len(filled) == 1 else ""


def _text_in_list(value: list[Any], names: Sequence[str], roles: Sequence[str], depth: int) -> str:
    messages = [item for item in value if isinstance(item, dict)]
    if any("role" in item or item.get("type") in (*USER, *ASSISTANT) for item in messages):
        for message in reversed(messages):
            role = str(message.get("role") or message.get("type")).casefold()
            if role in roles:
                return content_of(message.get("content"))
        return ""
    if value and len(messages) == len(value) and any("text" in item for item in messages):
        return content_of(value)
    return text_in(value[0], names, roles, depth) if len(value) == 1 else ""


def content_of(content: Any) -> str:
    """Return the words of a message: a text, or the texts among its parts, a line each."""
    if isinstance(content, list):
        parts = [item.get("text") if isinstance(item, dict) else item for item in content]
        return "\n".join(part for part in parts if isinstance(part, str) and part.strip()).strip()
    return content.strip() if isinstance(content, str) else ""
