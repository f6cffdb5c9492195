"""Scores in long form: a row has a report, a metric, and a number, a word or a note."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.formats.tables.presets.base import (
    PresetTables,
    binary_rubric,
    listed,
    slug_of,
)
from annotation.formats.tables.source import Row, Table
from annotation.formats.tables.values import CellError, number_of_tool

MAX_LEVELS = 101
_ROLES = {
    "scored request": "topic.request",
    "scored system": "system",
    "scoring rater": "rater",
    "scoring kind": "rater.kind",
    "comment of the score": "comment",
}


@dataclass(frozen=True)
class Score:
    """Score of a report: a `grade` under a `rubric`, or a `value`."""

    row: int
    request: str
    system: str
    rater: str
    kind: str
    comment: str = ""
    rubric: str = ""
    grade: int | str | None = None
    measure: str = ""
    value: float | None = None


def number_in(cell: Any) -> float | None:
    """Return the number of a cell; None where it has none."""
    try:
        return number_of_tool(cell)
    except CellError:
        return None


def add_scores(
    preset: PresetTables,
    table: Table,
    scores: Sequence[Score],
    unread: Sequence[str],
    constants: Mapping[str, str],
) -> None:
    """Add the scores of a table to the preset, as grades, values and notes."""
    parts: dict[str, list[Row]] = defaultdict(list)
    for score in scores:
        cells: dict[str, Any] = {
            "scored request": score.request,
            "scored system": score.system,
            "scoring rater": score.rater,
            "scoring kind": score.kind,
            "comment of the score": score.comment,
        }
        if score.grade is not None:
            cells |= {"rubric of the score": score.rubric, "grade": score.grade}
            parts["grade"].append((score.row, cells))
        elif score.value is not None:
            cells |= {"measure of the score": score.measure, "value": score.value}
            parts["value"].append((score.row, cells))
        elif score.comment:
            parts["comment"].append((score.row, cells))
    for role, rows in parts.items():
        score_roles = {
            "grade": {"rubric of the score": "rubric", "grade": "grade"},
            "value": {"measure of the score": "measure", "value": "value"},
            "comment": {},
        }[role]
        fixed = {*constants} - {
            "system"
        }  # a score's system is the constant, with the number of its run
        shared_roles = {name: of for name, of in _ROLES.items() if of not in fixed}
        roles = shared_roles | score_roles
        part = listed(table, [*roles, *unread], rows)
        preset.add(part, roles, {"text.kind": "report"} | dict(constants))


def whole_rubric(title: str, numbers: Sequence[float]) -> dict[str, Any] | None:
    """Return the rubric of whole numbers, from 0 or 1 to the highest; None for others."""
    if not numbers or not all(number.is_integer() for number in numbers):
        return None
    low, high = int(min(numbers)), int(max(numbers))
    if low >= 0 and high <= 1:
        return binary_rubric(title)
    low = min(low, 1)
    if high - low >= MAX_LEVELS:
        return None
    levels = [*range(low, max(high, low + 1) + 1)]
    return {"scale": "ordinal", "levels": levels, "title": title}


def rubric_slug(prefix: str, name: str) -> str:
    return f"{prefix}-{slug_of(name)}"


def rubric_slugs(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Return a rubric's slug for each name; names that differ in signs alone get a number."""
    slugs: dict[str, str] = {}
    for name in sorted(set(names)):
        slug, n = rubric_slug(prefix, name), 2
        while slug in slugs.values():
            slug, n = f"{rubric_slug(prefix, name)}-{n}", n + 1
        slugs[name] = slug
    return slugs
