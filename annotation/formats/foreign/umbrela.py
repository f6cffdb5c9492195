"""Judgements of UMBRELA as JSON lines.

{"query", "passage", "judgment", "result_status"}, perhaps with qid and docid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from pydantic import AliasChoices, Field

from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import UMBRELA
from annotation.formats.layout import Kind, Source
from annotation.formats.records import GradeRow, PassageRow, Row, StoredText, TopicRow, WholeNumber
from annotation.formats.translation import Skipped, Translation

KEYS = frozenset({"query", "passage", "judgment"})
NO_JUDGEMENT = "judgements whose reply was not understood (result_status 0): no row"


class _Judgement(Row):
    qid: rows.TopicId | None = Field(None, validation_alias=AliasChoices("qid", "query_id"))
    docid: rows.Id | None = Field(None, validation_alias=AliasChoices("docid", "doc_id"))
    query: StoredText
    passage: StoredText
    judgment: WholeNumber | None
    result_status: WholeNumber | None = None

    @property
    def topic(self) -> str:
        """Return the topic's id, or a name made from the query, equal in all files."""
        return self.qid or f"q-{_digest(self.query)}"

    @property
    def text(self) -> str:
        return self.docid or f"p-{_digest(self.passage)}"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def sources(file: File) -> Iterator[Source]:
    """Yield topics, passages and grades of a file of judgements.

    The rubric is `umbrela`, the rater a model named after the file.
    """
    if file.is_json and file.has_object and file.keys >= KEYS:
        fields = {"request": "query", "contents": "passage", "grade": "judgment"}
        yield file.source(Kind.TOPICS, Translation(_Judgement, _topic, fields=fields))
        yield file.source(
            Kind.PASSAGES, Translation(_Judgement, _passage, fields=fields), again=True
        )
        grades = Translation(_Judgement, _grade, fields=fields)
        yield file.source(
            Kind.GRADES, grades, again=True, rater=file.rater or UMBRELA, rubric=UMBRELA
        )


def _topic(row: _Judgement) -> Iterator[TopicRow]:
    yield rows.topic(row.topic, row.query)


def _passage(row: _Judgement) -> Iterator[PassageRow]:
    yield rows.passage(row.text, "", row.passage)


def _grade(row: _Judgement) -> Iterator[GradeRow | Skipped]:
    if row.judgment is None or row.result_status == 0:
        yield Skipped(NO_JUDGEMENT)
    else:
        yield GradeRow.model_construct(topic=row.topic, text=row.text, grade=row.judgment)
