"""TREC RAG: topics, answers, qrels, and UMBRELA's qrels.

Topics are id<TAB>query (2024) or {"id", "title"} (2025).
"""

from collections.abc import Iterator

from annotation.formats.foreign import nuggets, qrels, rows
from annotation.formats.foreign.cited import REPORTS, has_reports
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import Row, StoredText
from annotation.formats.translation import Translation


class _Narrative(Row):
    id: rows.TopicId
    title: StoredText


NARRATIVES = Translation(
    _Narrative, lambda row: (rows.topic(row.id, row.title),), fields={"request": "title"}
)


def _is_called_topics(file: File) -> bool:
    """Return whether a name may be that of topics; JSON lines may have any."""
    names = ("topics", "queries", "narratives")
    return file.ends(".jsonl") or any(name in file.base for name in names)


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if qrels.is_qrels(file) or qrels.is_run(file):
        yield from qrels.sources(file, folder)
    elif rows.is_queries(file):
        yield file.source(Kind.TOPICS, rows.QUERIES)
    elif _is_called_topics(file) and file.is_json and {"id", "title"} <= file.keys:
        yield file.source(Kind.TOPICS, NARRATIVES)
    elif has_reports(file):
        yield file.source(Kind.CITED, REPORTS)
    else:
        yield from nuggets.sources(file, folder)
