"""Reports with citations: answers of TREC RAG 2024 and 2025, reports of RAGTIME and of NeuCLIR."""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, model_validator

from annotation.formats.foreign import rows
from annotation.formats.records import (
    CitedRow,
    Name,
    PassageRow,
    Row,
    StatementRow,
    Word,
    Words,
    checked_name,
    whole_number,
)
from annotation.formats.summary import Mapped, shown
from annotation.formats.translation import Told, Translation

_BETWEEN = " "  # two statements of a report


_DIGITS = re.compile(r"[0-9]{1,9}")


def _checked_citations(value: Any) -> list[int | str]:
    """Return places and names in their order, without the scores that some files give them."""
    if value is None:
        return []
    if not isinstance(value, list | dict):
        raise ValueError("must be a list of places or names, or nothing")
    return [_checked_citation(each) for each in value if each is not None]


def _checked_citation(value: Any) -> int | str:
    value = whole_number(value)
    if type(value) is int:
        return value
    if isinstance(value, str):
        return checked_name(value)
    raise ValueError(f"must be a list of places or names, or nothing: {shown(value)} is neither")


def _or_empty(value: Any) -> Any:
    return [] if value is None else value


class _Statement(Row):
    text: Words
    citations: Annotated[list[int | str], PlainValidator(_checked_citations)] = []


class _Document(Row):
    title: Words | None = ""
    text: Words


class _Metadata(Row):
    run_id: Word | None = None
    topic_id: rows.TopicId | None = None
    narrative_id: rows.TopicId | None = None


class _Report(Row):
    """What TREC RAG 2024 has on top is in `metadata` elsewhere; statements are `answer` or `responses`."""

    metadata: _Metadata = _Metadata()
    run_id: Word | None = None
    topic_id: rows.TopicId | None = None
    narrative_id: rows.TopicId | None = None
    references: Annotated[list[rows.Id], BeforeValidator(_or_empty)] = []
    answer: list[_Statement] | None = None
    responses: list[_Statement] | None = None
    documents: dict[Name, _Document] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _whole(self) -> "_Report":
        missing = {
            "run_id": self.system is None,
            "topic_id": self.topic is None,
            "answer": self.statements is None,
        }
        for name, is_missing in missing.items():
            if is_missing:
                raise ValueError(f"{name} is missing")
        return self

    @property
    def system(self) -> str | None:
        return self.run_id or self.metadata.run_id

    @property
    def topic(self) -> str | None:
        own = self.topic_id or self.narrative_id
        return own or self.metadata.topic_id or self.metadata.narrative_id

    @property
    def statements(self) -> list[_Statement] | None:
        return self.responses if self.answer is None else self.answer


def _into(row: _Report) -> Iterable[CitedRow | Told]:
    statements: list[StatementRow] = []
    words: list[str] = []
    at = 0
    for statement in row.statements or ():
        text = statement.text.strip()
        if text:
            places = [_place(each, row.references) for each in statement.citations]
            cited = tuple(_cited(places, row.references))
            as_words = zip(statement.citations, places, strict=True)
            n = sum(isinstance(own, str) and own is not place for own, place in as_words)
            yield from [Told(Mapped.PLACES_AS_WORDS)] * n
            statements.append(
                StatementRow.model_construct(start=at, end=at + len(text), cited=cited)
            )
            words.append(text)
            at += len(text) + len(_BETWEEN)
    body = _BETWEEN.join(words)
    yield CitedRow.model_construct(
        topic=row.topic, system=row.system, body=body, statements=statements
    )


def _place(citation: int | str, references: list[str]) -> int | str:
    """Return the place that digits in quotes stand for; all else unchanged.

    A name of digits that is among the references is a name. So is a number past their end where there are no
    references, or some have names of digits.
    """
    if isinstance(citation, int) or citation in references or not _DIGITS.fullmatch(citation):
        return citation
    is_place = int(citation) < len(references)
    if not is_place and references:
        is_place = not any(_DIGITS.fullmatch(name) for name in references)
    return int(citation) if is_place else citation


def _cited(citations: list[int | str], references: list[str]) -> Iterator[tuple[str, str | None]]:
    """Labels as written, and the text that each names: by its name, or its place in the references, from 0."""
    for citation in dict.fromkeys(citations):
        if isinstance(citation, int):
            is_there = 0 <= citation < len(references)
            yield str(citation), references[citation] if is_there else None
        else:
            yield citation, citation


def _documents(row: _Report) -> Iterator[PassageRow]:
    for name, document in row.documents.items():
        yield rows.passage(name, document.title, document.text)


REPORTS = Translation(
    _Report, _into, fields={"topic": "topic_id", "system": "run_id", "body": "answer"}
)
DOCUMENTS = Translation(_Report, _documents, fields={"contents": "documents"})
