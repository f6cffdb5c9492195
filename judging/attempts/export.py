"""Export of the attempts of a judge or a run, with all columns, as CSV or JSON lines."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from typing import Any

from django.db.models import QuerySet

from annotation.formats.writing import Echo, escape_formula, json_line
from judging.llm.reasoning import split_reasoning
from judging.models import Attempt, Judge

AT_ONCE = 2_000  # rows held in memory
COLUMNS = {
    "run": "batch__run_id",
    "dataset": "text__dataset__slug",
    "topic": "question__topic__name",
    "question_index": "question__position",
    "kind": "text__kind",
    "system": "text__system",
    "text": "text__name",
    "text_sha256": "text__sha256",
    "state": "state",
    "failure": "failure",
    "grade": "grade",
    "expected_grade": "expected_grade",
    "label_mass": "label_mass",
    "probabilities": "probabilities",
    "raw": "raw",
    "reasoning": "reasoning",
    "detail": "detail",
    "prompt_hash": "prompt_hash",
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "worker": "batch__worker",
    "created": "batch__created",
    "counts": "counts",
    "copied": "copied",
}
"""The columns beside the judge's own, and where each comes from."""

Row = dict[str, Any]


def rows(judge: Judge, attempts: QuerySet[Attempt]) -> Iterator[Row]:
    """The attempts in the order in which they were stored, some thousand at a time."""
    head = {"judge": judge.slug, "fingerprint": judge.fingerprint}
    for values in attempts.order_by("pk").values_list(*COLUMNS.values()).iterator(AT_ONCE):
        row = head | dict(zip(COLUMNS, values, strict=True))
        row["reasoning"] = row["reasoning"] or split_reasoning(row["raw"])[0]
        row["created"] = row["created"].astimezone(UTC).isoformat()
        yield row


def as_jsonl(judge: Judge, attempts: QuerySet[Attempt]) -> Iterator[str]:
    """Yield an object a line; `probabilities` are those of `grades`, in the same order."""
    grades = list(judge.spec.grades)
    for row in rows(judge, attempts):
        yield json_line(row | {"grades": grades})


def as_csv(judge: Judge, attempts: QuerySet[Attempt]) -> Iterator[str]:
    """Yield CSV lines with a column p0, p1 and so on for each grade.

    What is missing is an empty cell, never 0. Words have an apostrophe before what a spreadsheet would
    take for a formula; the JSON lines have them as they are.
    """
    grades = judge.spec.grades
    names = [name for name in COLUMNS if name != "probabilities"]
    writer = csv.writer(Echo(), lineterminator="\n")
    position = names.index("label_mass") + 1
    chances = [f"p{grade}" for grade in grades]
    yield writer.writerow(["judge", "fingerprint", *names[:position], *chances, *names[position:]])
    for row in rows(judge, attempts):
        probabilities = row["probabilities"] or [None] * len(grades)
        cells = [_cell(row[name]) for name in names]
        yield writer.writerow(
            [
                _cell(row["judge"]),
                row["fingerprint"],
                *cells[:position],
                *probabilities,
                *cells[position:],
            ]
        )


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return escape_formula(value) if isinstance(value, str) else value


FORMATS: Mapping[str, tuple[str, Callable[[Judge, QuerySet[Attempt]], Iterator[str]]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "jsonl": ("application/jsonl; charset=utf-8", as_jsonl),
}
"""By the ending of the file: its content type, and what writes its lines."""
