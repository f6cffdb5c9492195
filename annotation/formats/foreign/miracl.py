"""MIRACL: docs*.jsonl {"docid", "title", "text"}, topics*.tsv, qrels*.tsv."""

from collections.abc import Iterator

from annotation.formats.foreign import qrels, rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import Row, StoredText
from annotation.formats.translation import Translation


class _Passage(Row):
    docid: rows.Id
    title: StoredText | None = ""
    text: StoredText


CORPUS = Translation(
    _Passage,
    lambda row: rows.of_corpus(row.docid, row.title, row.text),
    fields={"id": "docid", "contents": "text"},
)


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if qrels.is_qrels(file) or qrels.is_run(file):
        yield from qrels.sources(file, folder)
    elif rows.is_queries(file):
        yield file.source(Kind.TOPICS, rows.QUERIES)
    elif file.is_json and "docid" in file.keys and (file.ends(".jsonl") or "text" in file.keys):
        yield file.source(Kind.PASSAGES, CORPUS)
