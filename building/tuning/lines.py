"""Training lines: {"input": "<<summary>> CONTEXT", "output": "<<summary>> QUESTION <a> ANSWER"}, one a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from building.tuning.refusals import TuningRefused
from building.writing.typed_line import LineBroken, read_answered, read_context

FIELDS = ("input", "output")
_SHOWN = 10  # problems of a file


@dataclass(frozen=True, slots=True)
class Line:
    """What a model reads and what it shall write then; `number` is its place in the file, from 1."""

    number: int
    input: str
    output: str
    context: str


@dataclass(frozen=True)
class Lines:
    """The lines of a file, and the SHA-256 of its bytes in hex."""

    all: tuple[Line, ...]
    sha256: str

    @property
    def contexts(self) -> list[str]:
        return list(dict.fromkeys(line.context for line in self.all))


def read(path: Path) -> Lines:
    """All lines of a file, blank ones left out.

    Raises TuningRefused, a sentence for each problem with the file, its line and its field; OSError.
    """
    raw = path.read_bytes()
    problems: list[str] = []
    found: list[Line] = []
    seen: dict[tuple[str, str], int] = {}
    for number, bytes_ in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not bytes_.strip():
            continue
        try:
            line = _line(number, bytes_)
            if (before := seen.setdefault((line.input, line.output), number)) != number:
                raise LineBroken(f"output: is that of line {before}, and so is the input")
        except LineBroken as error:
            problems.append(f"{path.name}, line {number}, {error}.")
        else:
            found.append(line)
    if problems:
        more = f" And {len(problems) - _SHOWN:,} more." if len(problems) > _SHOWN else ""
        raise TuningRefused(" ".join(problems[:_SHOWN]) + more)
    if not found:
        raise TuningRefused(f"{path.name} has no lines.")
    return Lines(tuple(found), hashlib.sha256(raw).hexdigest())


def _line(number: int, raw: bytes) -> Line:
    """Raises LineBroken, which begins with the field."""
    row = _row(raw)
    try:
        kind, context = read_context(row["input"])
    except LineBroken as error:
        raise LineBroken(f"input: {error}") from None
    try:
        answered = read_answered(row["output"])
    except LineBroken as error:
        raise LineBroken(f"output: {error}") from None
    if answered.type != kind:
        raise LineBroken(f"output: is of the type {answered.type}, and the input {kind}")
    return Line(number, row["input"].strip(), row["output"].strip(), context)


def _row(raw: bytes) -> dict[str, str]:
    try:
        row: Any = json.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise LineBroken(f"column {error.start + 1}: is not UTF-8") from None
    except (ValueError, RecursionError):
        raise LineBroken("column 1: is not JSON") from None
    if not isinstance(row, dict):
        raise LineBroken("column 1: is not an object")
    for name in row:
        if name not in FIELDS:
            raise LineBroken(f"{name[:40]}: is none of {', '.join(FIELDS)}")
    for name in FIELDS:
        if not isinstance(row.get(name), str):
            raise LineBroken(f"{name}: is {'no words' if name in row else 'missing'}")
        if any("\ud800" <= sign <= "\udfff" for sign in row[name]):
            raise LineBroken(f"{name}: holds half of a surrogate pair, which is no character")
    return row


def held_out(lines: Sequence[Line], share: float, seed: int) -> tuple[list[Line], list[Line]]:
    """(to train on, held out): all lines of a context are on one side.

    `share` (0..1) is of contexts, rounded, and at least 1 where it is more than 0; one context is always left
    to train on. Which are held out depends on the seed and the contexts alone, not on their order.
    """
    contexts = sorted({line.context for line in lines}, key=lambda each: _drawn(seed, each))
    n = min(max(1, round(share * len(contexts))), len(contexts) - 1) if share > 0 else 0
    apart = set(contexts[:n])
    return (
        [line for line in lines if line.context not in apart],
        [line for line in lines if line.context in apart],
    )


def _drawn(seed: int, context: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{context}".encode()).digest()
