"""The shape of a line of written.jsonl."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from annotation.formats.records import Name, Row, Whole, Word, Words

_HASH = r"^[0-9a-f]{16}$"

Count = Annotated[Whole, Field(ge=0, le=2_000_000_000)]
Small = Annotated[Whole, Field(ge=0, le=32_000)]


def _checked_time(value: str) -> str:
    if datetime.fromisoformat(value).tzinfo is None:
        raise ValueError("has no time zone")
    return value


Short = Annotated[Words, Field(max_length=25)]
Time = Annotated[Words, AfterValidator(_checked_time)]
Statement = Annotated[tuple[Count, Count, list[Words]], Field(strict=False)]  # JSON has lists


class InputsRow(Row):
    passages: list[Name | None] | None = None
    documents: list[Name | None] | None = None
    reference: Name | None = None
    passage: Name | None = None
    kind: Word | None = None
    statement: Words | None = None
    n: Count | None = None
    have: list[Words] | None = None
    words: Count | None = None
    max_tokens: Count | None = None


class DraftRow(Row):
    number: Annotated[Small, Field(ge=1)]
    raw: Words
    reasoning: Words
    prompt_hash: Annotated[Words, Field(max_length=16)]
    finish_reason: Annotated[Words, Field(max_length=40)]
    failure: Short
    detail: Annotated[Words, Field(max_length=500)]
    prompt_tokens: Count
    completion_tokens: Count


class TextRow(Row):
    system: Words
    name: Name


class ProductRow(Row):
    position: Small
    body: Words
    flags: list[Words]
    statements: list[Statement]
    decision: Words
    edited: Words
    unseen: bool
    decided: Time
    text: TextRow | None
    question: Count | None


class WrittenRow(Row):
    writer: Words
    topic: Name
    document: Name | None
    run: Words
    message: Annotated[Words, Field(pattern=_HASH)]
    sample: Small
    left_out: Count
    inputs: InputsRow
    draft: DraftRow
    products: Annotated[list[ProductRow], Field(min_length=1)]
