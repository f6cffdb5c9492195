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


class _Passage(Row):
    id: rows.Id = Field(validation_alias=AliasChoices("_id", "doc_id", "docid", "docno"))
    title: StoredText | None = ""
    text: StoredText


class _Query(Row):
    id: rows.TopicId = Field(validation_alias=AliasChoices("_id", "query_id", "qid"))
    text: StoredText


CORPUS = Translation(
    _Passage,
    lambda row: rows.of_corpus(row.id, row.title, row.text),
    fields={"contents": "text"},
)
QUERIES = Translation(
    _Query, lambda row: (rows.topic(row.id, row.text),), fields={"request": "text"}
)


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if file.base.startswith(("corpus", "docs")) and file.is_json:
        yield file.source(Kind.PASSAGES, CORPUS)
    elif file.base.startswith("queries") and file.is_json:
        yield file.source(Kind.TOPICS, QUERIES)
    else:
        yield from qrels.sources(file, folder, qrels.BEIR)
