"""Pairs and replies as Parquet files, for machines without the database. No Django.

Every file says of itself to which run and judge it belongs, and is there whole or not at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from judging.grading.pairs import Pair, Reply, State
from judging.llm.completion import RAW_LIMIT, storable
from judging.llm.errors import Failure
from judging.offline.job import About, ExchangeError, check_format, write_atomically

MOST_ROWS = 100_000  # of a file: it is read whole
MOST_TOKENS = 2**31 - 1
MOST_QUOTES = 1_000
UNREADABLE = (pa.ArrowException, OSError, ValueError)  # ValueError: names that are not UTF-8
K = TypeVar("K", State, Failure)
_ABOUT = b"judging"  # the key of the schema's metadata under which a file says what it is


def _column(name: str, kind: pa.DataType, *, may_miss: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=may_miss)


_KEYS = [
    _column("shard", pa.int32()),
    _column("text_id", pa.int64()),
    _column("question_id", pa.int64()),
    _column("sha256", pa.string()),
]
PAIRS = pa.schema(
    [
        *_KEYS,
        *(_column(name, pa.string()) for name in ("text", "question", "request")),
        _column("answer", pa.string(), may_miss=True),
        _column("questions", pa.list_(pa.string()), may_miss=True),
        _column("number", pa.int32(), may_miss=True),
    ]
)
RESULTS = pa.schema(
    [
        *_KEYS,
        _column("fingerprint", pa.string()),
        _column("state", pa.string()),
        _column("failure", pa.string(), may_miss=True),
        _column("grade", pa.int16(), may_miss=True),
        _column("raw", pa.string()),
        _column("detail", pa.string()),
        _column("prompt_hash", pa.string()),
        _column("probabilities", pa.list_(pa.float64()), may_miss=True),
        _column("expected_grade", pa.float64(), may_miss=True),
        _column("label_mass", pa.float64(), may_miss=True),
        _column("prompt_tokens", pa.int64()),
        _column("completion_tokens", pa.int64()),
        _column("evidence", pa.list_(pa.string())),
        _column("reasoning", pa.string(), may_miss=True),
    ]
)
# Columns that files of before do not have.
_LATER = ("reasoning", "answer", "questions", "number")


class PairRow(NamedTuple):
    """Row of a file of pairs: a pair, its shard, and the hash of its text."""

    shard: int
    sha256: str
    pair: Pair


def write_pairs(path: Path, about: About, rows: Sequence[PairRow]) -> None:
    columns = {
        "shard": [row.shard for row in rows],
        "text_id": [row.pair.text_id for row in rows],
        "question_id": [row.pair.question_id for row in rows],
        "sha256": [row.sha256 for row in rows],
        "text": [row.pair.text for row in rows],
        "question": [row.pair.question for row in rows],
        "request": [row.pair.request for row in rows],
        "answer": [row.pair.answer for row in rows],
        "questions": [list(row.pair.questions) for row in rows],
        "number": [row.pair.number for row in rows],
    }
    _write(path, about, PAIRS, columns)


def read_pairs(path: Path) -> tuple[About, list[PairRow]]:
    """Read a file of pairs.

    Raises ExchangeError if the file is broken or of another kind.
    """
    about, table = _read(path, PAIRS)
    rows = [
        PairRow(
            row["shard"],
            row["sha256"],
            Pair(
                row["text_id"],
                row["question_id"],
                row["text"],
                row["question"],
                row["request"],
                row["answer"] or "",
                tuple(row["questions"] or ()),
                row["number"] or 1,
            ),
        )
        for row in table.to_pylist()
    ]
    return about, rows


def write_results(path: Path, about: About, rows: Iterable[tuple[PairRow, Reply]]) -> None:
    """Write replies to a file atomically."""
    values = [
        {
            "shard": source.shard,
            "text_id": source.pair.text_id,
            "question_id": source.pair.question_id,
            "sha256": source.sha256,
            "fingerprint": about.fingerprint,
            "state": reply.state.value,
            "failure": reply.failure.value if reply.failure else None,
            "grade": reply.grade,
            "raw": storable(reply.raw),
            "detail": storable(reply.detail),
            "prompt_hash": reply.prompt_hash,
            "probabilities": reply.probabilities,
            "expected_grade": reply.expected_grade,
            "label_mass": reply.label_mass,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "evidence": [storable(quote) for quote in reply.evidence],
            "reasoning": storable(reply.reasoning),
        }
        for source, reply in rows
    ]
    columns = {name: [row[name] for row in values] for name in RESULTS.names}
    _write(path, about, RESULTS, columns)


def read_results(path: Path) -> tuple[About, list[dict[str, Any]]]:
    """Return the rows of a file of replies as stored, with the columns of RESULTS.

    Raises ExchangeError if the file is broken or of another kind; what the rows say is not checked.
    """
    about, table = _read(path, RESULTS)
    return about, table.to_pylist()


def read_about(path: Path) -> About:
    """Return the header of a file.

    Raises ExchangeError if it has none, or cannot be read.
    """
    try:
        return _about(path, pq.read_schema(path))
    except UNREADABLE as error:
        raise ExchangeError(_broken(path, error)) from None


def reply_of(row: Mapping[str, Any], pair: Pair, grades: Sequence[int]) -> Reply:
    """Return the reply of a row, about `pair`, by a judge with these grades.

    Raises ValueError with what is wrong for a reply that no judge of them can have given.
    """
    state, failure = _one_of(State, row["state"]), None
    if row["failure"] is not None:
        failure = _one_of(Failure, row["failure"])
    grade, probabilities = row["grade"], row["probabilities"]
    if grade is not None and grade not in grades:
        raise ValueError(f"the grade {grade} is no level of the rubric ({_listed(grades)})")
    if probabilities is not None:
        if len(probabilities) != len(grades):
            raise ValueError(f"{len(probabilities)} probabilities for {len(grades)} grades")
        for chance in probabilities:
            _within("probability", chance, 0, 1)
    _within("label_mass", row["label_mass"], 0, 1)
    if grades:
        _within("expected_grade", row["expected_grade"], min(grades), max(grades))
    for name in ("prompt_tokens", "completion_tokens"):
        if not 0 <= row[name] <= MOST_TOKENS:
            raise ValueError(f"{name} is {row[name]}")
    if len(row["raw"]) > RAW_LIMIT:
        raise ValueError(f"raw is longer than {RAW_LIMIT:,} characters")
    if len(row["prompt_hash"]) > 16:
        raise ValueError("prompt_hash is longer than 16 characters")
    if None in row["evidence"] or len(row["evidence"]) > MOST_QUOTES:
        raise ValueError("evidence is not a list of quotations")
    return Reply(
        pair,
        state,
        grade=grade,
        failure=failure,
        raw=row["raw"],
        detail=row["detail"],
        prompt_hash=row["prompt_hash"],
        probabilities=None if probabilities is None else tuple(probabilities),
        expected_grade=row["expected_grade"],
        label_mass=row["label_mass"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        evidence=tuple(row["evidence"]),
        reasoning=(row["reasoning"] or "")[:RAW_LIMIT],
    )


def _one_of(kind: type[K], value: str) -> K:
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{value[:80]!r} is none of {', '.join(kind)}") from None


def _within(name: str, value: float | None, low: float, high: float) -> None:
    # Sums of probabilities, which servers round, may pass their end by a little.
    if value is not None and not (math.isfinite(value) and low - 1e-3 <= value <= high + 1e-3):
        raise ValueError(f"{name} is {value}, not from {low:g} to {high:g}")


def _listed(grades: Sequence[int]) -> str:
    return ", ".join(map(str, grades))


def _write(path: Path, about: About, schema: pa.Schema, columns: Mapping[str, Any]) -> None:
    described = schema.with_metadata({_ABOUT: json.dumps(asdict(about)).encode()})
    table = pa.table(dict(columns), schema=described)
    write_atomically(
        path,
        lambda name: pq.write_table(table, name, compression="zstd", write_page_checksum=True),
    )


def _read(path: Path, schema: pa.Schema) -> tuple[About, pa.Table]:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            about = _about(path, file.schema_arrow)
            _check_columns(path, file.schema_arrow, schema)
            if file.metadata.num_rows > MOST_ROWS:
                raise ExchangeError(
                    f"{path.name} has {file.metadata.num_rows:,} rows, more than {MOST_ROWS:,}."
                )
            table = file.read()
        table.validate(full=True)
        for name in _LATER:
            if name in schema.names and name not in table.column_names:
                field = schema.field(name)
                table = table.append_column(field, pa.nulls(len(table), field.type))
    except UNREADABLE as error:
        raise ExchangeError(_broken(path, error)) from None
    for name in table.column_names:
        if table[name].null_count and not schema.field(name).nullable:
            row = table[name].is_null().index(True).as_py() + 1
            raise ExchangeError(f"{path.name}, row {row}: there is no {name}.")
    return about, table


def _about(path: Path, schema: pa.Schema) -> About:
    try:
        values = json.loads((schema.metadata or {})[_ABOUT])
        check_format(path, values["format"])
        return About(**{name: values[name] for name in About.__dataclass_fields__})
    except (KeyError, TypeError, ValueError):
        raise ExchangeError(
            f"{path.name} does not say to which judge run it belongs: it was not written by "
            "judge_export or judging.offline.cluster, or by something else since."
        ) from None


def _check_columns(path: Path, schema: pa.Schema, required: pa.Schema) -> None:
    for field in required:
        if field.name in _LATER and field.name not in schema.names:
            continue
        if field.name not in schema.names:
            raise ExchangeError(f"{path.name} has no column {field.name}.")
        # The names of what is inside a list differ between writers, and mean nothing.
        if not schema.field(field.name).type.equals(field.type):
            kind = schema.field(field.name).type
            raise ExchangeError(f"{path.name}: {field.name} is {kind}, not {field.type}.")
    if more := [name for name in schema.names if name not in required.names]:
        raise ExchangeError(f"{path.name} has a column {more[0]!r} that does not belong there.")
    if len(schema.names) != len(set(schema.names)):
        raise ExchangeError(f"{path.name} has a column twice.")


def _broken(path: Path, error: Exception) -> str:
    return f"{path.name} is not a whole Parquet file: {str(error).splitlines()[0].rstrip('.')}."
