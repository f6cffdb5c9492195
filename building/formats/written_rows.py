"""Schema of a line of written.jsonl."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from annotation.formats.records import Name, RepeatedText, Row, StoredText, WholeNumber

_HASH = r"^[0-9a-f]{16}$"

Count = Annotated[WholeNumber, Field(ge=0, le=2_000_000_000)]
Small = Annotated[WholeNumber, Field(ge=0, le=32_000)]


def _checked_time(value: str) -> str:
    if datetime.fromisoformat(value).tzinfo is None:
        raise ValueError("has no time zone")
    return value


Short = Annotated[StoredText, Field(max_length=25)]
Time = Annotated[StoredText, AfterValidator(_checked_time)]
Statement = Annotated[tuple[Count, Count, list[StoredText]], Field(strict=False)]  # JSON has lists


class InputsRow(Row):
    passages: list[Name | None] | None = None
    documents: list[Name | None] | None = None
    reference: Name | None = None
    passage: Name | None = None
    kind: RepeatedText | None = None
    statement: StoredText | None = None
    n: Count | None = None
    have: list[StoredText] | None = None
    words: Count | None = None
    max_tokens: Count | None = None


class DraftRow(Row):
    number: Annotated[Small, Field(ge=1)]
    raw: StoredText
    reasoning: StoredText
    prompt_hash: Annotated[StoredText, Field(max_length=16)]
    finish_reason: Annotated[StoredText, Field(max_length=40)]
    failure: Short
    detail: Annotated[StoredText, Field(max_length=500)]
    prompt_tokens: Count
    completion_tokens: Count


class TextRow(Row):
    system: StoredText
    name: Name


class ProductRow(Row):
    position: Small
    body: StoredText
    flags: list[StoredText]
    statements: list[Statement]
    decision: StoredText
    edited: StoredText
    unseen: bool
    decided: Time
    text: TextRow | None
    question: Count | None


class WrittenRow(Row):
    writer: StoredText
    topic: Name
    document: Name | None
    run: StoredText
    message: Annotated[StoredText, Field(pattern=_HASH)]
    sample: Small
    left_out: Count
    inputs: InputsRow
    draft: DraftRow
    products: Annotated[list[ProductRow], Field(min_length=1)]
