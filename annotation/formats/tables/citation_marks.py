"""Citation marks in a text, such as [1], converted to statements with citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# Marks such as [1] or [2, 3], at the end of a sentence or before its full stop.
_MARKS = re.compile(r"\s*((?:\[\d{1,4}(?:\s*,\s*\d{1,4})*\]\s*)+)(?=[.!?,;]|\s|\Z)")


def split_marks(body: str, passages: Sequence[str]) -> tuple[str, list[dict[str, Any]]]:
    """Return a text without marks such as [1], and its statements with their citations.

    A mark's number is the position of a passage, from 1. Brackets with another number, and those of a passage
    without a name, stay in the text.
    """
    clean, last, start = "", 0, 0
    statements: list[dict[str, Any]] = []
    for match in _MARKS.finditer(body):
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        if not all(1 <= n <= len(passages) and passages[n - 1] for n in numbers):
            continue
        clean += body[last : match.start()]
        last = match.end()
        end = len(clean)
        begin = start + len(clean[start:]) - len(clean[start:].lstrip())
        if begin < end:
            cited = [[str(number), passages[number - 1]] for number in dict.fromkeys(numbers)]
            statements.append({"start": begin, "end": end, "cited": cited})
        if last < len(body) and body[last] not in ".!?,;":
            clean += " "
        start = len(clean)
    clean += body[last:]
    stripped = clean.rstrip()
    return stripped, [statement for statement in statements if statement["end"] <= len(stripped)]
