"""passages*.jsonl: {"id", "contents"}; and folders with one such object in each file."""

from collections.abc import Iterator
from pathlib import Path

from annotation.formats.documents import adopt_passages
from annotation.formats.layout import Kind, Source, printable
from annotation.formats.reading import MAX_LINE, parsed, rows
from annotation.formats.records import PassageRow
from annotation.formats.storing import Incoming, store
from annotation.formats.summary import shown
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Text

_BATCH = 1000
_BATCH_CHARACTERS = 4_000_000  # long passages come in smaller batches, so memory stays bounded
_TELL = 2000


def read(target: Target, source: Source) -> None:
    passages = (
        _documents(target, source) if source.kind is Kind.DOCUMENTS else _lines(target, source)
    )
    batch: list[Incoming] = []
    characters = 0
    for passage in passages:
        batch.append(passage)
        characters += len(passage.body)
        if len(batch) >= _BATCH or characters >= _BATCH_CHARACTERS:
            store(target, source, Text.Kind.PASSAGE, batch)
            batch, characters = [], 0
    store(target, source, Text.Kind.PASSAGE, batch)
    adopt_passages(target.dataset)


def _lines(target: Target, source: Source) -> Iterator[Incoming]:
    for line, row in rows(target, source, PassageRow):
        topic = target.topic_key_of_passage(row.id)
        yield Incoming(line, "contents", row.id, row.contents, topic)


def _documents(target: Target, source: Source) -> Iterator[Incoming]:
    """The passages of a folder. Their file names hold `:` and `#`, as their ids do."""
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
            yield Incoming(1, "contents", row.id, row.contents, topic, file=name)
        if number % _TELL == 0:
            target.progress(source, number)
    target.progress(source, len(paths))


def _document(target: Target, source: Source) -> PassageRow | None:
    """The one passage of a file. Some systems write `:` and `#` of its name in another way."""
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
        message = f"{shown(row.id)} is not what the file is called"
        target.problem(source, 1, "id", message)
        return None
    return row


def _same_name(name: str, path: Path) -> bool:
    """Whether a file is called like its passage, but for signs that a file system may refuse."""

    def plain(text: str) -> str:
        return "".join(c for c in text if c.isalnum())

    return plain(name) in (plain(path.name), plain(path.stem))


_CHUNK = 2000


def lines(dataset: Dataset, *, referenced: bool) -> Iterator[str]:
    """Every passage whose words we have, by name. The others are in runs and judgements alone.

    The authors keep apart what a run of this dataset names and another dataset's topic was the source
    of: with `referenced` these, without it the others. Where no passage is of a topic, none is apart.
    """
    passages = Text.objects.filter(dataset=dataset, kind=Text.Kind.PASSAGE).with_body()
    if passages.filter(topic__isnull=False).exists():
        passages = passages.filter(topic__isnull=referenced)
    elif referenced:
        return
    for name, body in (
        passages.order_by(by_code_point("name"))
        .values_list("name", "body")
        .iterator(chunk_size=_CHUNK)
    ):
        yield json_line({"id": name, "contents": body})
