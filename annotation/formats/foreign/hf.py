"""Data sets with AutoRAG's columns, as Parquet or JSON lines: corpus and questions.

A corpus has doc_id, contents; questions have qid, query, retrieval_gt (a list of lists: each inner
list is an OR) and generation_gt (answers).
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import DocumentRow, GradeRow, Name, Row, StoredText, TopicRow
from annotation.formats.translation import Skipped, Translation

RATER = "retrieval_gt"
_AT_ONCE = 500  # rows of a Parquet file


class _Passage(Row):
    doc_id: Name
    contents: StoredText


class _Question(Row):
    qid: rows.TopicId
    query: StoredText
    retrieval_gt: list[list[Name]] = Field(default_factory=list)
    generation_gt: list[StoredText] | None = None


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if not file.ends(".jsonl", ".parquet"):
        return
    is_parquet = file.ends(".parquet")
    keys = _columns(file) if is_parquet else file.keys
    values = _values if is_parquet else None

    def of(shape: type[Row], into: Any, **fields: str) -> Translation:
        return Translation(shape, into, values=values, fields=fields)

    if {"doc_id", "contents"} <= keys:
        yield file.source(Kind.PASSAGES, of(_Passage, _passage, id="doc_id"))
    elif {"qid", "query"} <= keys:
        yield file.source(Kind.TOPICS, of(_Question, _topic, id="qid", request="query"))
        if "generation_gt" in keys:
            answers = of(_Question, _answer, id="qid", contents="generation_gt")
            yield file.source(Kind.REFERENCES, answers, again=True)
        if "retrieval_gt" in keys:
            grades = of(_Question, _grades, topic="qid", text="retrieval_gt")
            yield file.source(Kind.GRADES, grades, again=True, rater=RATER, rubric="qrels-1")


def _columns(file: File) -> frozenset[str]:
    try:
        from pyarrow import parquet as pq  # noqa: PLC0415 - of the extra cluster
    except ModuleNotFoundError as error:
        raise file.refused("needs pyarrow, an extra: make env EXTRAS=cluster") from error
    try:
        return frozenset(pq.read_schema(file.path).names)
    except (OSError, ValueError) as error:
        raise file.refused(f"cannot be read: {' '.join(str(error).split())}") from error


def _values(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a Parquet file, counted from 1. Raises OSError and ValueError."""
    from pyarrow import parquet as pq  # noqa: PLC0415 - as above

    number = 0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_AT_ONCE):
            for row in batch.to_pylist():
                number += 1
                yield number, row


def _passage(row: _Passage) -> Iterator[Row | Skipped]:
    yield from rows.of_corpus(row.doc_id, "", row.contents)


def _topic(row: _Question) -> Iterable[TopicRow]:
    return (rows.topic(row.qid, row.query),)


def _answer(row: _Question) -> Iterator[DocumentRow]:
    """Yield the first of its answers as the topic's reference."""
    for answer in [answer for answer in row.generation_gt or () if answer.strip()][:1]:
        yield DocumentRow.model_construct(id=row.qid, contents=answer)


def _grades(row: _Question) -> Iterator[GradeRow]:
    for text in dict.fromkeys(text for group in row.retrieval_gt for text in group):
        yield GradeRow.model_construct(topic=row.qid, text=text, grade=1)
