"""Prompt files of the tasks: ours in building/writing/prompts/, and people's.

    --- system ---
    ...
    --- user ---
    ...

The system part may be missing. A file without any heading is what the user says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from annotation.errors import UserError

FOLDER = Path(__file__).resolve().parent / "prompts"
_HEADING = re.compile(r"--- (\w+) ---")


class PromptError(UserError):
    """A prompt that cannot be read; a sentence that names the line."""


@dataclass(frozen=True)
class PromptText:
    """Prompt texts; `system` is empty where there is no such part."""

    system: str
    prompt: str


@cache
def load(name: str) -> PromptText:
    """Return our prompt for a task."""
    return read((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


def read(text: str) -> PromptText:
    """Parse a prompt file. Raises PromptError."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    parts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, line in enumerate(lines, 1):
        heading = _HEADING.fullmatch(line.strip())
        if heading is None:
            if current is None and line.strip():
                current = parts["user"] = []
            if current is not None:
                current.append(line)
            continue
        if heading[1] not in ("system", "user"):
            raise PromptError(
                f'Line {number}: there is no part "{heading[1]}". There are system and user.'
            )
        if heading[1] in parts:
            raise PromptError(f'Line {number}: the part "{heading[1]}" is there twice.')
        current = parts[heading[1]] = []
    system, prompt = ("\n".join(parts.get(part, [])).strip() for part in ("system", "user"))
    if not prompt:
        raise PromptError('There is nothing for the user to say, under "--- user ---".')
    return PromptText(system, prompt)
