"""Lists in a cell, as JSON, Python and numpy write them. Nothing is evaluated."""

from __future__ import annotations

import json
import re

from annotation.errors import UserError

MAX_ITEMS = 1_000
_WRAPPED = re.compile(r"\A(?:array|tuple|list)\((.*?)(?:,\s*dtype=[\w.]+)?\)\Z", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\n": "", "0": "\0"}
_DOCUMENT = re.compile(r"(?:Document|TextNode)\(")
_BODY = re.compile(r"\b(?:page_content|text)\s*=\s*\Z")
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<word>None|True|False|nan)"
    r"|(?P<number>-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?P<sign>[\[\]{}:,]))",
    re.DOTALL,
)
_BEGIN = re.compile(
    r"(?:array\(|tuple\(|list\(|\[\s*(?:[\[({]\s*)*['\"{]|\[\s*(?:Document|TextNode)\()"
)
_CUT = re.compile(r"(?:array\()?\[\s*['\"{]")
_TUPLE = re.compile(r"\(\s*(['\"].*),?\s*\)", re.DOTALL)
_CONSTANTS = {"None": "null", "True": "true", "False": "false", "nan": "null"}
_BARE = re.compile(r"[^\s,\[\]'\"()]+")


class ListError(UserError):
    """Cell that looks like a list and is none."""


def is_list(text: str) -> bool:
    """Return whether a text is a list, whole or broken. Words in square brackets are none."""
    text = text.strip()
    try:
        return _has_brackets(text) and _list_items(text, are_names=False) is not None
    except ListError:
        return True


def _has_brackets(text: str) -> bool:
    return text.startswith(("[", "array(")) and text.endswith(("]", ")"))


def items_of(cell: object, separator: str = "", *, are_names: bool = False) -> list[object]:
    """Return the items of a cell: of a list, of its text form, or the cell as the only item.

    Words in square brackets without quotes, such as [Music plays], are a list only if `are_names`.
    Raises ListError for a text that begins as a list and does not end as one, and for too many items.
    """
    items = _items(cell, separator, are_names)
    if len(items) > MAX_ITEMS:
        raise ListError(f"has {len(items):,} items; at most {MAX_ITEMS:,} are read")
    return items


def _items(cell: object, separator: str, are_names: bool) -> list[object]:
    if cell is None:
        return []
    if isinstance(cell, list | tuple):
        return list(cell)
    if not isinstance(cell, str):
        return [cell]
    text = cell.strip()
    if not text:
        return []
    if separator:
        return [part.strip() for part in text.split(separator) if part.strip()]
    if not _has_brackets(text):
        if _CUT.match(text):  # such as by the limit of a spreadsheet's cell
            raise ListError("begins as a list, and does not end as one")
        return _tuple_items(text) or [cell]
    items = _list_items(text, are_names=are_names)
    return [cell] if items is None else items


def _list_items(text: str, *, are_names: bool) -> list[object] | None:
    """Return the items of a text in brackets, or None for words that are no list.

    Raises ListError for a list that is broken.
    """
    if isinstance(value := _parsed(text), list):
        return value
    if "{" in text and isinstance(value := _parsed(python_as_json(text)), list):
        return value
    try:
        return list(_python_items(text, are_names=are_names))
    except ListError:
        if are_names or _BEGIN.match(text):
            raise
        return None


def _tuple_items(text: str) -> list[object]:
    """Return the strings of a Python tuple; [] for other text."""
    match = _TUPLE.fullmatch(text)
    items = _parsed(python_as_json(f"[{match[1].rstrip(', ')}]")) if match and "," in text else None
    return items if isinstance(items, list) and all(isinstance(i, str) for i in items) else []


def _parsed(text: str) -> object:
    """Return the value of a JSON text, None for other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _python_items(text: str, *, are_names: bool) -> list[str | None]:
    """Return the strings of a list as Python or numpy print it.

    Two strings side by side are two items, as numpy prints them. Words without quotes are items only
    if `are_names`.
    """
    while match := _WRAPPED.match(text):
        text = match[1].strip()
    if not (text.startswith("[") and text.endswith("]")):
        raise ListError("begins as a list, and does not end as one")
    items: list[str | None] = []
    position, end = 1, len(text) - 1
    while True:
        while position < end and (text[position].isspace() or text[position] == ","):
            position += 1
        if position >= end:
            return items
        sign = text[position]
        if sign in "'\"":
            item, position = _string(text, position, end)
        elif document := _DOCUMENT.match(text, position, end):
            item, position = _document(text, document.end(), end)
        elif bare := _BARE.match(text, position, end):
            item, position = bare[0], bare.end()
            if item == "...":
                raise ListError("was shortened with “...” when it was printed")
            if not are_names and item not in ("None", "nan"):
                raise ListError(f"has {item!r} without quotation marks in a list")
        else:
            raise ListError(f"has {sign!r} where an item should begin")
        items.append(item if sign in "'\"" or item not in ("None", "nan") else None)


def _document(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the text of a document as LangChain prints it, and the position after it."""
    body, position, depth = "", start, 1
    while position < end:
        sign = text[position]
        if sign in "'\"":
            is_body = depth == 1 and _BODY.search(text, max(start, position - 20), position)
            item, position = _string(text, position, end)
            body = item if is_body else body
            continue
        depth += (sign in "([{") - (sign in ")]}")
        position += 1
        if not depth:
            return body, position
    raise ListError("has a document whose parenthesis is not closed")


def _string(text: str, start: int, end: int) -> tuple[str, int]:
    quote = text[start]
    position = start + 1
    while position < end:
        if text[position] == "\\":
            position += 2
        elif text[position] == quote:
            return _ESCAPE.sub(_unescaped, text[start + 1 : position]), position + 1
        else:
            position += 1
    raise ListError("has an item whose quotation mark is not closed")


def unescape(text: str) -> str:
    """Return the text between the quotation marks of a Python string, with escapes resolved."""
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else match[0]
    return _SIMPLE.get(code, code)


def python_as_json(text: str) -> str:
    """Convert the repr of Python lists and dicts to JSON; "" for other text."""
    parts: list[str] = []
    position, ended, text = 0, False, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return ""
        position = match.end()
        sign = match["sign"]
        if ended and sign not in ("]", "}", ":", ","):
            parts.append(",")  # numpy writes no commas
        ended = sign not in ("[", "{", ":", ",")
        if match["text"]:
            parts.append(json.dumps(unescape(match["text"][1:-1])))
        elif match["word"]:
            parts.append(_CONSTANTS[match["word"]])
        else:
            parts.append(match["number"] or sign)
    return "".join(parts)
