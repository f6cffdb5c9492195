"""Training lines: {"input": "<<TYPE>> CONTEXT", "output": "<<TYPE>> QUESTION <a> ANSWER"}."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from building.tuning.errors import TuningError
from building.writing.typed_line import LineError, read_answered, read_context

FIELDS = ("input", "output")
_MAX_PROBLEMS = 10  # problems of a file


@dataclass(frozen=True, slots=True)
class Line:
    """A training line: input and expected output; `number` is its line in the file, from 1."""

    number: int
    input: str
    output: str
    context: str


@dataclass(frozen=True)
class Lines:
    """Training lines of a file, and the SHA-256 of its bytes in hex."""

    all: tuple[Line, ...]
    sha256: str

    @property
    def contexts(self) -> list[str]:
        return list(dict.fromkeys(line.context for line in self.all))


def read(path: Path) -> Lines:
    """Read the lines of a file, without blank ones.

    Raises TuningError, a sentence for each problem with the file, its line and its field; OSError.
    """
    raw = path.read_bytes()
    problems: list[str] = []
    lines: list[Line] = []
    first_numbers: dict[tuple[str, str], int] = {}
    for number, bytes_ in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not bytes_.strip():
            continue
        try:
            line = _line(number, bytes_)
            if (before := first_numbers.setdefault((line.input, line.output), number)) != number:
                raise LineError(f"output: is that of line {before}, and so is the input")
        except LineError as error:
            problems.append(f"{path.name}, line {number}, {error}.")
        else:
            lines.append(line)
    if problems:
        more = (
            f" And {len(problems) - _MAX_PROBLEMS:,} more." if len(problems) > _MAX_PROBLEMS else ""
        )
        raise TuningError(" ".join(problems[:_MAX_PROBLEMS]) + more)
    if not lines:
        raise TuningError(f"{path.name} has no lines.")
    return Lines(tuple(lines), hashlib.sha256(raw).hexdigest())


def _line(number: int, raw: bytes) -> Line:
    """Parse a line. Raises LineError, which begins with the field."""
    row = _row(raw)
    try:
        kind, context = read_context(row["input"])
    except LineError as error:
        raise LineError(f"input: {error}") from None
    try:
        answered = read_answered(row["output"])
    except LineError as error:
        raise LineError(f"output: {error}") from None
    if answered.type != kind:
        raise LineError(f"output: is of the type {answered.type}, and the input {kind}")
    return Line(number, row["input"].strip(), row["output"].strip(), context)


def _row(raw: bytes) -> dict[str, str]:
    try:
        row: Any = json.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise LineError(f"column {error.start + 1}: is not UTF-8") from None
    except (ValueError, RecursionError):
        raise LineError("column 1: is not JSON") from None
    if not isinstance(row, dict):
        raise LineError("column 1: is not an object")
    for name in row:
        if name not in FIELDS:
            raise LineError(f"{name[:40]}: is none of {', '.join(FIELDS)}")
    for name in FIELDS:
        if not isinstance(row.get(name), str):
            raise LineError(f"{name}: is {'no words' if name in row else 'missing'}")
        if any("\ud800" <= sign <= "\udfff" for sign in row[name]):
            raise LineError(f"{name}: holds half of a surrogate pair, which is no character")
    return row


def split_lines(lines: Sequence[Line], share: float, seed: int) -> tuple[list[Line], list[Line]]:
    """Split lines into (train, held out) by context.

    `share` (0..1) is of contexts, rounded, and at least 1 where it is more than 0; one context is always left
    to train on. Which are held out depends on the seed and the contexts alone, not on their order.
    """
    contexts = sorted(
        {line.context for line in lines}, key=lambda context: _split_key(seed, context)
    )
    n = min(max(1, round(share * len(contexts))), len(contexts) - 1) if share > 0 else 0
    held_out_contexts = set(contexts[:n])
    return (
        [line for line in lines if line.context not in held_out_contexts],
        [line for line in lines if line.context in held_out_contexts],
    )


def _split_key(seed: int, context: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{context}".encode()).digest()
