"""Reports with citations: answers of TREC RAG 2024 and 2025, reports of RAGTIME and of NeuCLIR."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import Field, model_validator

from annotation.formats.foreign import rows
from annotation.formats.records import CitedRow, Name, PassageRow, Row, StatementRow, Word, Words
from annotation.formats.translation import Translation

_BETWEEN = " "  # two statements of a report


class _Statement(Row):
    text: Words
    citations: list[int | Name] | dict[Name, Any] = Field(default_factory=list)


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
    references: list[Name] = Field(default_factory=list)
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


def _into(row: _Report) -> Iterable[CitedRow]:
    statements: list[StatementRow] = []
    words: list[str] = []
    at = 0
    for statement in row.statements or ():
        text = statement.text.strip()
        if text:
            cited = tuple(_cited(statement.citations, row.references))
            statements.append(
                StatementRow.model_construct(start=at, end=at + len(text), cited=cited)
            )
            words.append(text)
            at += len(text) + len(_BETWEEN)
    body = _BETWEEN.join(words)
    yield CitedRow.model_construct(
        topic=row.topic, system=row.system, body=body, statements=statements
    )


def _cited(
    citations: list[int | str] | Mapping[str, Any], references: list[str]
) -> Iterator[tuple[str, str | None]]:
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
