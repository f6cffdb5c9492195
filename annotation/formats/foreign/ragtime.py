"""RAGTIME and NeuCLIR: requests, reports, documents.

Requests are {"request_id", "background", "problem_statement"}.
"""

from collections.abc import Iterable, Iterator

from pydantic import model_validator

from annotation.formats.foreign import nuggets, qrels, rows
from annotation.formats.foreign.cited import DOCUMENTS, REPORTS, has_reports
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


def _has_requests(file: File) -> bool:
    """Return whether a file has requests. Reports of NeuCLIR have a request_id too."""
    if not file.is_json or "request_id" not in file.keys:
        return False
    asks = not file.keys.isdisjoint(("problem_statement", "background"))
    is_report = "sentences" in file.keys and not file.keys.isdisjoint(("run_id", "metadata"))
    return asks or (not is_report and (file.ends(".jsonl") or "title" in file.keys))


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if qrels.is_qrels(file) or qrels.is_run(file):
        yield from qrels.sources(file, folder)
    elif _has_requests(file):
        yield file.source(Kind.TOPICS, REQUESTS)
    elif has_reports(file):
        yield file.source(Kind.CITED, REPORTS)
        yield file.source(Kind.PASSAGES, DOCUMENTS, again=True)
    else:
        yield from nuggets.sources(file, folder)
