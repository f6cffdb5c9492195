"""Reranker requests of Anserini and RankLLM: topics, passages and the run in one file.

{"query": {"qid", "text"}, "candidates": [{"docid", "score", "doc": text or {"title", "segment"}}]}
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Annotated

from pydantic import Field, FiniteFloat

from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import PassageRow, Row, RunRow, StoredText, TopicRow
from annotation.formats.run_order import RunOrder, ranking_order
from annotation.formats.translation import Counted, Translation


class _Query(Row):
    qid: rows.TopicId
    text: StoredText


class _Doc(Row):
    """A document of Anserini; its body has different field names."""

    title: StoredText | None = ""
    contents: StoredText | None = None
    text: StoredText | None = None
    segment: StoredText | None = None
    body: StoredText | None = None

    @property
    def content(self) -> str | None:
        texts = (self.segment, self.contents, self.text, self.body)
        return next((text for text in texts if text is not None), None)


class _Candidate(Row):
    docid: rows.Id
    score: Annotated[FiniteFloat, Field(strict=False)] | None = None
    doc: StoredText | _Doc | None = None


class _Request(Row):
    query: _Query
    candidates: list[_Candidate]


def sources(file: File, folder: Folder) -> Iterator[Source]:
    keys = {"query", "candidates"}
    if file.is_json and (file.keys >= keys or (file.ends(".jsonl") and file.keys & keys)):
        yield file.source(Kind.TOPICS, Translation(_Request, _topic, fields={"request": "query"}))
        passages = Translation(_Request, _passages, fields={"contents": "candidates"})
        yield file.source(Kind.PASSAGES, passages, again=True)
        ranked = Translation(
            _Request,
            partial(_ranked, file.stem, folder.run_order),
            fields={"text": "candidates"},
        )
        yield file.source(Kind.RUN, ranked, system=file.stem, again=True)


def _topic(row: _Request) -> Iterable[TopicRow]:
    return (rows.topic(row.query.qid, row.query.text),)


def _passages(row: _Request) -> Iterator[PassageRow]:
    for candidate in row.candidates:
        doc = candidate.doc
        if isinstance(doc, str):
            yield rows.passage(candidate.docid, "", doc)
        elif doc is not None and doc.content is not None:
            yield rows.passage(candidate.docid, doc.title, doc.content)


def _ranked(tag: str, order: RunOrder, row: _Request) -> Iterator[RunRow | Counted]:
    scores = [candidate.score for candidate in row.candidates if candidate.score is not None]
    ranked = row.candidates
    if len(scores) == len(ranked):  # a list with gaps has no order but its own
        indexes, reported = ranking_order(scores, [0] * len(scores), order)
        if indexes is not None:
            ranked = [ranked[index] for index in indexes]
        if reported is not None:
            yield Counted(reported)
    for rank, candidate in enumerate(ranked, 1):
        score = 1 / rank if candidate.score is None else candidate.score
        line = f"{row.query.qid} Q0 {candidate.docid} {rank} {score!r} {tag}"
        yield RunRow.model_construct(line=line)
