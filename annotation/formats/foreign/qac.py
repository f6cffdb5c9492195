"""Question-answer-context triples of docling-sdg (GenQAC), one a line.

{"context", "question", "answer", "labels": {"information"}, "doc_id", "chunk_id", "qac_id",
"critiques"}

A line is a topic, named by its `qac_id`: the question is its request and its only sub-question, the
context its passage. The answer, the requested question type and the critiques are ratings of the
two.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Annotated
from urllib.parse import quote, unquote

from pydantic import AfterValidator, Field, model_validator

from annotation.formats.foreign import qrels, rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import (
    PassageRow,
    RatingRow,
    Row,
    SpanRow,
    StoredText,
    SubQuestionsRow,
    TopicRow,
    WholeNumber,
    checked_name,
)
from annotation.formats.translation import Translation

GOLD, REQUESTED, CRITIC = "gold", "requested", "critic"
ANSWERED, QUESTION_TYPE, CRITIQUE = "answered", "question-type", "critique-"
TYPES = {"unanswerable": 0, "fact_single": 1, "summary": 2, "reasoning": 3}
"""The levels of `question-type`, as labels call them. Other labels are no ratings."""
_SEPARATORS = re.compile(r"[#%\s]|[^\x20-\U0010ffff]")


def _without_colon(value: str) -> str:
    if ":" in value:
        raise ValueError("holds a colon, which ends the name of a topic")
    return value


class _Labels(Row):
    information: StoredText | None = None


class _Critique(Row):
    rating: WholeNumber | None = None


class _Pair(Row):
    context: StoredText
    question: StoredText
    answer: StoredText | None = ""
    doc_id: StoredText = ""
    chunk_id: StoredText = ""
    qac_id: Annotated[rows.TopicId, AfterValidator(_without_colon)] | None = None
    labels: _Labels | None = None
    critiques: dict[StoredText, _Critique] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_name(self) -> "_Pair":
        try:
            checked_name(self.passage)
        except ValueError:
            raise ValueError("qac_id, doc_id and chunk_id are too long for one name") from None
        return self

    @property
    def topic(self) -> str:
        return self.qac_id or qac_id(self.question, self.answer or "", self.context)

    @property
    def passage(self) -> str:
        return passage_name(self.topic, self.doc_id, self.chunk_id)


def qac_id(question: str, answer: str, context: str) -> str:
    """Return the id of a pair without one: SHA-256 of its three texts, as in docling-sdg."""
    return hashlib.sha256(f"{question}{answer}{context}".encode()).hexdigest()


def passage_name(topic: str, doc_id: str, chunk_id: str) -> str:
    """Return TOPIC:DOC#CHUNK, with separators within a part percent-encoded."""
    doc, chunk = (_SEPARATORS.sub(_escaped, part) for part in (doc_id, chunk_id))
    return f"{topic}:{doc}#{chunk}"


def ids_of(name: str) -> tuple[str, str]:
    """Return the document and the chunk of a passage's name."""
    doc, _, chunk = name.partition(":")[2].partition("#")
    return unquote(doc), unquote(chunk)


def _escaped(match: re.Match[str]) -> str:
    return quote(match[0], safe="")


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if not file.ends(".jsonl") or not {"context", "question"} <= file.keys:
        yield from qrels.sources(file, folder)
        return
    names = {"id": "qac_id", "request": "question", "contents": "context", "text": "context"}
    yield file.source(Kind.TOPICS, Translation(_Pair, _topic, fields=names))
    yield file.source(Kind.SUBQUESTIONS, Translation(_Pair, _question, fields=names), again=True)
    yield file.source(Kind.PASSAGES, Translation(_Pair, _context, fields=names), again=True)
    rating_fields = {"rubric": "critiques", "grade": "critiques", "spans": "answer"}
    yield file.source(Kind.RATINGS, Translation(_Pair, _ratings, fields=rating_fields), again=True)


def _topic(row: _Pair) -> Iterable[TopicRow]:
    return (rows.topic(row.topic, row.question),)


def _question(row: _Pair) -> Iterable[SubQuestionsRow]:
    return (SubQuestionsRow.model_construct(id=row.topic, subquestions=[row.question]),)


def _context(row: _Pair) -> Iterable[PassageRow]:
    return (rows.passage(row.passage, "", row.context),)


def _ratings(row: _Pair) -> Iterator[RatingRow]:
    if row.answer:
        spans = [SpanRow(quote=row.answer)]
        yield _rating(row, GOLD, "baseline", ANSWERED, 1, spans)
    if row.labels and row.labels.information is not None:
        grade = TYPES.get(row.labels.information)
        yield _rating(row, REQUESTED, "baseline", QUESTION_TYPE, grade)
    for name, critique in row.critiques.items():
        yield _rating(row, CRITIC, "model", f"{CRITIQUE}{name}", critique.rating)


def _rating(
    row: _Pair, rater: str, kind: str, rubric: str, grade: int | None, spans: Iterable[SpanRow] = ()
) -> RatingRow:
    return RatingRow.model_construct(
        rater=rater,
        rater_kind=kind,
        rubric=rubric,
        topic=row.topic,
        question_index=0,
        text=row.passage,
        grade=grade,
        spans=list(spans),
    )
