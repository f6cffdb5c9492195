"""Repeated answers of annotation tools: one person who graded a pair more than once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from annotation.formats.layout import Source
from annotation.formats.left_out_rows import Repeated, RowPosition
from annotation.formats.records import RatingRow
from annotation.formats.summary import Conversion, Problem

if TYPE_CHECKING:
    from annotation.formats.target import Target

Line = tuple[int, RatingRow]


def one_answer_each(target: Target, source: Source, lines: Iterator[Line]) -> Iterator[Line]:
    """Yield the rows of a tool's file without rows of one person that contradict each other.

    `target.repeated` decides whether the newest is kept, or the import refused. All rows are in
    memory meanwhile.
    """
    by_pair: dict[tuple[object, ...], list[Line]] = defaultdict(list)
    for line, row in lines:
        key = (row.rater, row.rubric, row.topic, row.question_index)
        by_pair[*key, row.text_kind, row.system, row.text].append((line, row))
    for rows in by_pair.values():
        if all(row.grade == rows[0][1].grade and row.spans == rows[0][1].spans for _, row in rows):
            yield from rows
        else:
            yield from _resolve(target, source, rows)


def _resolve(target: Target, source: Source, rows: list[Line]) -> Iterator[Line]:
    ids = [_id(line) for line, _ in rows]
    row = rows[0][1]
    grades = ", ".join(_grade_text(row) for _, row in rows)
    message = f"{row.rater} graded {row.text} under {row.rubric} as {grades} in {_id_list(ids)}"
    if target.repeated is Repeated.REFUSE:
        line = rows[0][0]
        position = line.description if isinstance(line, RowPosition) else ""
        target.refuse(Problem(source.name, int(line), "", message, position))
        return
    newest = _newest(rows) if target.repeated is Repeated.NEWEST else None
    if newest:
        yield newest
    elif target.repeated is Repeated.NEWEST:
        message += ", and the file does not tell which is the newest"
    for line, row in rows:
        if isinstance(line, RowPosition) and (line, row) != newest:
            target.leave_out(source, line, Conversion.TWICE, message)


def _grade_text(row: RatingRow) -> str:
    return " + ".join(row.grade) if isinstance(row.grade, tuple) else f"{row.grade}"


def _id(line: int) -> str:
    if not isinstance(line, RowPosition):
        return f"line {line}"
    return f"annotation {line.part.annotation}" if line.part.annotation else f"item {line.item}"


def _id_list(ids: list[str]) -> str:
    """Return "annotations 70 and 71", or "annotation 70 and item 3" for different kinds."""
    kind = ids[0].partition(" ")[0]
    if all(id_.startswith(f"{kind} ") for id_ in ids):
        ids = [f"{kind}s {ids[0].partition(' ')[2]}", *(id_.partition(" ")[2] for id_ in ids[1:])]
    return f"{', '.join(ids[:-1])} and {ids[-1]}"


def _newest(rows: list[Line]) -> Line | None:
    """Return the row of the latest time; None where a time is missing or two are the latest."""
    times = [_time(line) for line, _ in rows]
    known_times = [time for time in times if time]
    if len(known_times) < len(rows) or known_times.count(max(known_times)) > 1:
        return None
    return rows[known_times.index(max(known_times))]


def _time(line: int) -> datetime | None:
    try:
        time = datetime.fromisoformat(line.part.time if isinstance(line, RowPosition) else "")
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
