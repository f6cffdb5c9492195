"""passages*.jsonl: {"id", "contents"}; also folders with one such object in each file."""

from collections.abc import Iterator
from pathlib import Path

from annotation.formats.batches import LOOK_UP
from annotation.formats.documents import adopt_passages
from annotation.formats.layout import Kind, Source, printable
from annotation.formats.reading import MAX_LINE, parsed, rows
from annotation.formats.records import PassageRow
from annotation.formats.storing import ImportedText, store_texts
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Document, Text

_BATCH = 1000
_BATCH_CHARACTERS = 4_000_000  # long passages come in smaller batches, so memory stays bounded
_TELL = 2000


def read(target: Target, source: Source) -> None:
    placed: list[tuple[int, PassageRow]] = []
    passages = (
        _documents(target, source)
        if source.kind is Kind.DOCUMENTS
        else _lines(target, source, placed)
    )
    batch: list[ImportedText] = []
    characters = 0
    for passage in passages:
        batch.append(passage)
        characters += len(passage.body)
        if len(batch) >= _BATCH or characters >= _BATCH_CHARACTERS:
            store_texts(target, source, Text.Kind.PASSAGE, batch)
            _link_documents(target, source, placed)
            batch, characters = [], 0
            placed.clear()
    store_texts(target, source, Text.Kind.PASSAGE, batch)
    _link_documents(target, source, placed)
    adopt_passages(target.dataset)


def _lines(
    target: Target, source: Source, placed: list[tuple[int, PassageRow]]
) -> Iterator[ImportedText]:
    for line, row in rows(target, source, PassageRow):
        if (row.document, row.start, row.end) != (None, None, None):
            placed.append((line, row))
        topic = target.topic_key_of_passage(row.id)
        yield ImportedText(line, "contents", row.id, row.contents, topic)


def _link_documents(target: Target, source: Source, placed: list[tuple[int, PassageRow]]) -> None:
    """Link passages to their documents, with their positions, where they have none."""
    if not placed or target.problems:
        return
    names = {row.document for _, row in placed}
    documents = {
        document.name: document
        for document in Document.objects.filter(dataset=target.dataset, name__in=names - {None})
    }
    texts = Text.objects.filter(
        dataset=target.dataset, kind=Text.Kind.PASSAGE, name__in={row.id for _, row in placed}
    )
    by_name = {text.name: text for text in texts.only("name", "document", "start", "end")}
    changed = []
    for line, row in placed:
        document, text = documents.get(row.document or ""), by_name[row.id]
        if problem := _link_problem(row, document):
            target.problem(source, line, *problem)
        elif document and text.document_id in (None, document.pk) and text.start is None:
            text.document, text.start, text.end = document, row.start, row.end
            changed.append(text)
    Text.objects.bulk_update(changed, ["document", "start", "end"], batch_size=LOOK_UP)


def _link_problem(row: PassageRow, document: Document | None) -> tuple[str, str] | None:
    """Return the invalid field and the reason, or None."""
    if document is None:
        return "document", f"document {quoted_value(row.document)} is not in the dataset"
    if row.start is None or row.end is None:
        return None if row.start is row.end else ("start", "start and end come together")
    if not row.start < row.end <= len(document.body):
        return "start", f"{row.start} to {row.end} is no part of {len(document.body)} signs"
    # White space may differ; for a passage of several parts the offsets are those of the first.
    if " ".join(document.body[row.start : row.end].split()) not in " ".join(row.contents.split()):
        return "start", "the document has other words there"
    return None


def _documents(target: Target, source: Source) -> Iterator[ImportedText]:
    """Yield the passages of a folder. Their file names have `:` and `#`, as their ids do."""
    folder = source.path.is_dir()
    paths = sorted(source.path.iterdir()) if folder else [source.path]
    summary = target.summary.file(source.name)
    for number, path in enumerate(paths, 1):
        if path.name.startswith(".") or not path.is_file():
            continue
        name = f"{source.name}/{printable(path.name)}" if folder else source.name
        summary.read += 1
        if row := _document(target, Source(path, name, source.kind)):
            topic = target.topic_key_of_passage(row.id)
            yield ImportedText(1, "contents", row.id, row.contents, topic, file=name)
        if number % _TELL == 0:
            target.progress(source, number)
    target.progress(source, len(paths))


def _document(target: Target, source: Source) -> PassageRow | None:
    """Return the passage of a file, or None, with the error noted.

    Some systems write `:` and `#` of its name in another way.
    """
    try:
        with source.path.open("rb") as file:
            text = file.read(MAX_LINE + 1).decode("utf-8-sig")
    except OSError as error:
        target.problem(source, 0, "", f"cannot be read: {error.strerror}")
        return None
    except UnicodeDecodeError as error:
        target.problem(source, 1, "", f"not UTF-8: byte {error.start + 1}")
        return None
    row = parsed(target, source, 1, text, PassageRow)
    if row and not _same_name(row.id, source.path):
        message = f"{quoted_value(row.id)} is not what the file is called"
        target.problem(source, 1, "id", message)
        return None
    return row


def _same_name(name: str, path: Path) -> bool:
    """Return whether a file is named after its passage, up to punctuation."""

    def plain(text: str) -> str:
        return "".join(c for c in text if c.isalnum())

    return plain(name) in (plain(path.name), plain(path.stem))


_CHUNK = 2000


def lines(dataset: Dataset, *, referenced: bool) -> Iterator[str]:
    """Yield all passages with a body, by name. Others occur only in runs and judgements.

    Like the authors, `referenced` selects passages that a run of this dataset names but that come
    from a topic of another dataset; without it the others are written. Where no passage has a
    topic, none is referenced.
    """
    passages = Text.objects.filter(dataset=dataset, kind=Text.Kind.PASSAGE).with_body()
    if passages.filter(topic__isnull=False).exists():
        passages = passages.filter(topic__isnull=referenced)
    elif referenced:
        return
    for name, body, document, start, end in (
        passages.order_by(by_code_point("name"))
        .values_list("name", "body", "document__name", "start", "end")
        .iterator(chunk_size=_CHUNK)
    ):
        source_fields: dict[str, str | int | None] = {}
        if document and (start is not None or document != name.partition("#")[0]):
            source_fields["document"] = document
        if document and start is not None:
            source_fields |= {"start": start, "end": end}
        yield json_line({"id": name, "contents": body, **source_fields})
