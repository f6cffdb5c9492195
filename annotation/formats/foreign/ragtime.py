"""RAGTIME and NeuCLIR: requests, reports, documents.

Requests are {"request_id", "background", "problem_statement"}.
"""

from collections.abc import Iterable, Iterator

from pydantic import model_validator

from annotation.formats.foreign import nuggets, qrels, rows
from annotation.formats.foreign.cited import DOCUMENTS, REPORTS
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import Row, StoredText, TopicRow
from annotation.formats.translation import Translation


class _Request(Row):
    request_id: rows.TopicId
    title: StoredText | None = ""
    background: StoredText | None = ""
    problem_statement: StoredText | None = ""

    @model_validator(mode="after")
    def _asks(self) -> "_Request":
        if not any((self.problem_statement, self.background, self.title)):
            raise ValueError("problem_statement is missing")
        return self


def _topic(row: _Request) -> Iterable[TopicRow]:
    """Return the topic: background and statement, with an empty line between them.

    The title, where there is neither.
    """
    parts = [part.strip() for part in (row.background, row.problem_statement) if part]
    return (rows.topic(row.request_id, "\n\n".join(filter(None, parts)) or row.title or ""),)


REQUESTS = Translation(
    _Request, _topic, fields={"id": "request_id", "request": "problem_statement"}
)


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if qrels.is_qrels(file) or qrels.is_run(file):
        yield from qrels.sources(file, folder)
    elif file.is_json and file.keys & {"responses", "answer", "sentences"}:
        yield file.source(Kind.CITED, REPORTS)
        yield file.source(Kind.PASSAGES, DOCUMENTS, again=True)
    elif file.is_json and "request_id" in file.keys:
        yield file.source(Kind.TOPICS, REQUESTS)
    else:
        yield from nuggets.sources(file, folder)
