"""TREC topics in SGML: <top> <num> Number: 301 <title> ... <desc> Description: ... <narr> ... </top>."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File, open_lines
from annotation.formats.layout import Kind, Source
from annotation.formats.records import Row, TopicRow, Words
from annotation.formats.translation import Broken, Translation

_FIELD = re.compile(
    r"<(num|title|desc|narr)>(.*?)(?=<(?:num|title|desc|narr|/?top)>|\Z)", re.DOTALL
)
_LABEL = re.compile(r"\A\s*(?:Number|Topic|Title|Description|Narrative):", re.IGNORECASE)
_CLOSING = re.compile(r"</\w+>")


class _Topic(Row):
    num: rows.TopicId
    title: Words = ""
    desc: Words = ""


def _request(row: _Topic) -> Iterable[TopicRow]:
    """The title, an empty line and the description; the narrative says how to judge, and is not read."""
    return (rows.topic(row.num, "\n\n".join(filter(None, (row.title, row.desc)))),)


def _values(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each topic with the line of its <top>. Raises OSError, EOFError, zlib.error, and Broken with the line."""
    began, text = 0, ""
    for number, raw in enumerate(open_lines(path), start=1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise Broken(number, f"not UTF-8: {error.reason}") from error
        if "<top>" in line:
            if began:
                raise Broken(number, f"<top> inside the topic that begins on line {began}")
            began, text = number, ""
        text += line if began else ""
        if began and "</top>" in line:
            yield began, _fields(text)
            began = 0
    if began:
        raise Broken(began, "<top> without </top>")


def _fields(text: str) -> dict[str, str]:
    found = ((name, _CLOSING.sub("", words)) for name, words in _FIELD.findall(text))
    return {name: " ".join(_LABEL.sub("", words).split()) for name, words in found}


TOPICS = Translation(_Topic, _request, values=_values, fields={"id": "num", "request": "title"})


def sources(file: File) -> Iterator[Source]:
    if file.is_sgml_topics:
        yield file.source(Kind.TOPICS, TOPICS)
