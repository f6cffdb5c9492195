"""MS MARCO: collection.tsv, queries.tsv and qrels of version 1; segments of version 2.1.

Only selected segments are read.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from annotation.formats.foreign import qrels, rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import Name, PassageRow, Row, StoredText
from annotation.formats.translation import Skipped, Translation


class _Passage(Row):
    id: Name
    text: StoredText


class _Segment(Row):
    docid: rows.Id
    title: StoredText | None = ""
    segment: StoredText


COLLECTION = Translation(
    _Passage,
    lambda row: rows.of_corpus(row.id, "", row.text),
    columns=("id", "text"),
    fields={"contents": "text"},
)


def sources(file: File, folder: Folder) -> Iterator[Source]:
    """Yield the sources of a file.

    Raises DatasetImportError for segments without runs or qrels that select some: there are 113 million.
    """
    if qrels.is_qrels(file) or qrels.is_run(file):
        yield from qrels.sources(file, folder)
    elif file.base.startswith("collection") and file.ends(".tsv"):
        yield file.source(Kind.PASSAGES, COLLECTION)
    elif rows.is_queries(file):
        yield file.source(Kind.TOPICS, rows.QUERIES)
    elif file.is_json and "segment" in file.keys:
        if not folder.named:
            raise file.refused(
                "segments are read only if a run or qrels in the same folder name them"
            )
        into = partial(_chosen, folder.named)
        yield file.source(
            Kind.PASSAGES,
            Translation(_Segment, into, fields={"id": "docid", "contents": "segment"}),
        )


def _chosen(selected: frozenset[str], row: _Segment) -> Iterable[PassageRow | Skipped]:
    return rows.of_corpus(row.docid, row.title, row.segment) if row.docid in selected else ()
