"""Prompts that ship with the workbench, read from judging/prompts/.

A file begins with its settings, one on a line, and goes on with what the model is told:

    title: Question first
    parser: integer-1
    max_tokens: 1

    --- system ---
    ...
    --- user ---
    ...

The system part may be missing, as some models have no place for it. Two settings may be missing too:
`failures: zero` counts a reply without a grade as 0, and a `note` tells people what they choose.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from annotation.errors import UserError
from judging.grading.parse import PARSERS
from judging.grading.prompt import check_template, unknown_placeholders

FOLDER = Path(__file__).resolve().parent.parent / "prompts"

_SETTINGS = ("title", "parser", "max_tokens")
_MAY_MISS = ("failures", "note")
_PARTS = ("system", "user")
_HEADING = re.compile(r"--- (\w+) ---")


class PromptFileError(UserError):
    """A prompt file that cannot be used: a sentence that begins with the file and the line."""


@dataclass(frozen=True)
class PromptFile:
    """A prompt as a file holds it. `system` is empty where the file has no such part."""

    name: str
    title: str
    system: str
    prompt: str
    parser: str
    max_tokens: int
    failures: str = "missing"
    note: str = ""


def names() -> list[str]:
    """Return the names that `load` knows, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def load(name: str) -> PromptFile:
    """Load the prompt of this name.

    Raises PromptFileError if there is none, or if its file is wrong.
    """
    if name not in names():
        raise PromptFileError(f'There is no prompt "{name}". There are {", ".join(names())}.')
    return read(FOLDER / f"{name}.txt")


def read(path: Path) -> PromptFile:
    """Read a prompt file.

    Raises PromptFileError naming the file and the line, and OSError.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").rstrip("\n").split("\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _wrong(path, line, "these bytes are not UTF-8.") from error
    headings = [number for number, line in enumerate(lines, 1) if _HEADING.fullmatch(line.strip())]
    end = headings[0] - 1 if headings else len(lines)
    settings = _settings(path, lines[:end])
    parts = _parts(path, lines, headings)
    if "user" not in parts:
        raise _wrong(path, len(lines), 'the part "--- user ---" is missing.')
    prompt = PromptFile(
        name=path.stem,
        title=settings["title"],
        system=parts.get("system", ""),
        prompt=parts["user"],
        parser=settings["parser"],
        max_tokens=int(settings["max_tokens"]),
        failures=settings.get("failures", "missing"),
        note=settings.get("note", ""),
    )
    problems = check_template(prompt.system, prompt.prompt)
    if problems:
        unknown = (n for n, line in enumerate(lines, 1) if n > end and unknown_placeholders(line))
        raise _wrong(path, next(unknown, len(lines)), problems[0])
    return prompt


def _settings(path: Path, lines: list[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or key not in (*_SETTINGS, *_MAY_MISS):
            valid = ", ".join((*_SETTINGS, *_MAY_MISS))
            raise _wrong(path, number, f'"{line.strip()}" is no setting. There are {valid}.')
        if key in settings:
            raise _wrong(path, number, f'"{key}" is there twice.')
        _check_setting(path, number, key, value)
        settings[key] = value
    for key in _SETTINGS:
        if key not in settings:
            raise _wrong(path, max(len(lines), 1), f'up to here the setting "{key}" is missing.')
    return settings


def _check_setting(path: Path, number: int, key: str, value: str) -> None:
    if not value:
        raise _wrong(path, number, f'"{key}" has no value.')
    if key == "parser" and value not in PARSERS:
        valid = ", ".join(PARSERS)
        raise _wrong(path, number, f'there is no parser "{value}". There are {valid}.')
    if key == "failures" and value not in ("missing", "zero"):
        raise _wrong(path, number, f'failures must be missing or zero, not "{value}".')
    if key == "max_tokens" and not re.fullmatch(r"[1-9][0-9]{0,5}", value):
        raise _wrong(path, number, f'max_tokens must be a whole number from 1, not "{value}".')


def _parts(path: Path, lines: list[str], headings: list[int]) -> dict[str, str]:
    parts: dict[str, str] = {}
    for number, following in zip(headings, [*headings[1:], len(lines) + 1], strict=True):
        part = lines[number - 1].strip().strip("- ")
        if part not in _PARTS:
            raise _wrong(path, number, f'there is no part "{part}". There are system and user.')
        if part in parts:
            raise _wrong(path, number, f'the part "{part}" is there twice.')
        parts[part] = "\n".join(lines[number : following - 1]).strip()
        if not parts[part]:
            raise _wrong(path, number, f'the part "{part}" is empty.')
    return parts


def _wrong(path: Path, line: int, problem: str) -> PromptFileError:
    return PromptFileError(f"{path.name}, line {line}: {problem}")
