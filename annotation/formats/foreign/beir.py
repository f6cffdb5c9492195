"""BEIR: corpus.jsonl {"_id", "title", "text"}, queries.jsonl {"_id", "text"}, qrels.

The qrels are qrels/*.tsv with a header. Exports of ir_datasets have doc_id and query_id.
"""

from collections.abc import Iterator

from pydantic import AliasChoices, Field

from annotation.formats.foreign import qrels, rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import Row, StoredText
from annotation.formats.translation import Translation

_TEXT_IDS = ("_id", "doc_id", "docid", "docno")
_QUERY_IDS = ("_id", "query_id", "qid")


class _Passage(Row):
    id: rows.Id = Field(validation_alias=AliasChoices(*_TEXT_IDS))
    title: StoredText | None = ""
    text: StoredText


class _Query(Row):
    id: rows.TopicId = Field(validation_alias=AliasChoices(*_QUERY_IDS))
    text: StoredText


CORPUS = Translation(
    _Passage,
    lambda row: rows.of_corpus(row.id, row.title, row.text),
    fields={"contents": "text"},
)
QUERIES = Translation(
    _Query, lambda row: (rows.topic(row.id, row.text),), fields={"request": "text"}
)


def _has_text(file: File, ids: tuple[str, ...]) -> bool:
    return (
        file.is_json and file.has_object and "text" in file.keys and not file.keys.isdisjoint(ids)
    )


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if (file.base.startswith("corpus") and file.ends(".jsonl")) or (
        file.base.startswith(("corpus", "docs")) and _has_text(file, _TEXT_IDS)
    ):
        yield file.source(Kind.PASSAGES, CORPUS)
    elif file.base.startswith("queries") and (file.ends(".jsonl") or _has_text(file, _QUERY_IDS)):
        yield file.source(Kind.TOPICS, QUERIES)
    else:
        yield from qrels.sources(file, folder, qrels.BEIR)
