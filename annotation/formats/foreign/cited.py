"""Reports with citations: of TREC RAG 2024 and 2025, RAGTIME, and NeuCLIR.

In TREC RAG they are called answers.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, model_validator

from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File
from annotation.formats.records import (
    CitedRow,
    Name,
    PassageRow,
    RepeatedText,
    Row,
    StatementRow,
    StoredText,
    checked_name,
    whole_number,
)
from annotation.formats.summary import Conversion, quoted_value
from annotation.formats.translation import Counted, Translation

_BETWEEN = " "  # two statements of a report


_DIGITS = re.compile(r"[0-9]{1,9}")


class _Name(str):
    """Id of a text in an object: no position, even if it has digits alone."""

    __slots__ = ()


def _checked_citations(value: Any) -> list[int | str]:
    """Return indexes and names in order, without the scores that some files give them."""
    if value is None:
        return []
    if not isinstance(value, list | dict):
        raise ValueError("must be a list of places or names, or nothing")
    return [_checked_citation(citation) for citation in value if citation is not None]


def _checked_citation(value: Any) -> int | str:
    if isinstance(value, dict) and isinstance(name := _id_in(value), int | str):
        return _Name(checked_name(str(name)))
    value = whole_number(value)
    if type(value) is int:
        return value
    if isinstance(value, str):
        return checked_name(value)
    raise ValueError(
        f"must be a list of places or names, or nothing: {quoted_value(value)} is neither"
    )


def _none_as_empty(value: Any) -> Any:
    return [] if value is None else value


_ID_FIELDS = ("docid", "doc_id", "id", "segment_id")


def _reference_id(value: Any) -> Any:
    """Return the id of a reference, also of one written as an object with its text."""
    if not isinstance(value, dict):
        return value
    reference_id = _id_in(value)
    if reference_id is value:
        raise ValueError(f"must be the id of a text, or an object with {' or '.join(_ID_FIELDS)}")
    return reference_id


def _id_in(value: dict[str, Any]) -> Any:
    """Return the id of a text in an object; an object without one unchanged."""
    ids = [value[name] for name in _ID_FIELDS if value.get(name) not in (None, "")]
    return ids[0] if ids else value


_Reference = Annotated[rows.Id, BeforeValidator(_reference_id)]


class _Statement(Row):
    text: StoredText
    citations: Annotated[list[int | str], PlainValidator(_checked_citations)] = []


class _Document(Row):
    title: StoredText | None = ""
    text: StoredText


class _Metadata(Row):
    run_id: RepeatedText | None = None
    topic_id: rows.TopicId | None = None
    narrative_id: rows.TopicId | None = None


class _Report(Row):
    """A report with metadata at the top level (TREC RAG 2024) or in `metadata`.

    Statements are `answer`, `responses` or, of NeuCLIR 2024 with its `request_id`, `sentences`.
    """

    metadata: _Metadata = _Metadata()
    run_id: RepeatedText | None = None
    topic_id: rows.TopicId | None = None
    narrative_id: rows.TopicId | None = None
    request_id: rows.TopicId | None = None
    references: Annotated[list[_Reference], BeforeValidator(_none_as_empty)] = []
    answer: list[_Statement] | None = None
    responses: list[_Statement] | None = None
    sentences: list[_Statement] | None = None
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
        top_level_id = self.topic_id or self.narrative_id or self.request_id
        return top_level_id or self.metadata.topic_id or self.metadata.narrative_id

    @property
    def statements(self) -> list[_Statement] | None:
        lists = (self.answer, self.responses, self.sentences)
        return next((statements for statements in lists if statements is not None), None)


def _into(row: _Report) -> Iterable[CitedRow | Counted]:
    statements: list[StatementRow] = []
    texts: list[str] = []
    at = 0
    for statement in row.statements or ():
        text = statement.text.strip()
        if text:
            citations = [_as_index(label, row.references) for label in statement.citations]
            cited = tuple(_cited(citations, row.references))
            pairs = zip(statement.citations, citations, strict=True)
            n = sum(isinstance(raw, str) and raw is not citation for raw, citation in pairs)
            yield from [Counted(Conversion.INDEXES_AS_STRINGS)] * n
            yield from (Counted(Conversion.CITES_NOTHING) for _, name in cited if name is None)
            statements.append(
                StatementRow.model_construct(start=at, end=at + len(text), cited=cited)
            )
            texts.append(text)
            at += len(text) + len(_BETWEEN)
    body = _BETWEEN.join(texts)
    yield CitedRow.model_construct(
        topic=row.topic, system=row.system, body=body, statements=statements
    )


def _as_index(citation: int | str, references: list[str]) -> int | str:
    """Return the index that digits in quotes stand for; all else unchanged.

    A name of digits that is among the references is a name. So is a number past their end where
    there are no references, or some have names of digits.
    """
    if isinstance(citation, int | _Name) or citation in references:
        return citation
    if not _DIGITS.fullmatch(citation):
        return citation
    is_index = int(citation) < len(references)
    if not is_index and references:
        is_index = not any(_DIGITS.fullmatch(name) for name in references)
    return int(citation) if is_index else citation


def _cited(citations: list[int | str], references: list[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each label as written, and the text that it names or indexes (from 0)."""
    for citation in dict.fromkeys(citations):
        if isinstance(citation, int):
            is_valid = 0 <= citation < len(references)
            yield str(citation), references[citation] if is_valid else None
        else:
            yield str(citation), str(citation)


def _documents(row: _Report) -> Iterator[PassageRow]:
    for name, document in row.documents.items():
        yield rows.passage(name, document.title, document.text)


REPORTS = Translation(
    _Report, _into, fields={"topic": "topic_id", "system": "run_id", "body": "answer"}
)
DOCUMENTS = Translation(_Report, _documents, fields={"contents": "documents"})


def has_reports(file: File) -> bool:
    """Return whether a file has reports; other names than .jsonl need more of their keys."""
    if not file.is_json:
        return False
    has = [
        not file.keys.isdisjoint(names)
        for names in (
            ("answer", "responses", "sentences"),
            ("run_id", "metadata"),
            ("topic_id", "narrative_id", "request_id", "metadata"),
        )
    ]
    is_report_by_name = file.ends(".jsonl") and not file.keys.isdisjoint(("answer", "responses"))
    return is_report_by_name or all(has)
