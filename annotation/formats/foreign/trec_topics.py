"""TREC topics in SGML.

<top> <num> Number: 301 <title> ... <desc> Description: ... <narr> ... </top>.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File, open_lines
from annotation.formats.layout import Kind, Source
from annotation.formats.records import Row, StoredText, TopicRow
from annotation.formats.translation import InvalidFileError, Translation

_FIELD = re.compile(
    r"<(num|title|desc|narr)>(.*?)(?=<(?:num|title|desc|narr|/?top)>|\Z)", re.DOTALL
)
_LABEL = re.compile(r"\A\s*(?:Number|Topic|Title|Description|Narrative):", re.IGNORECASE)
_CLOSING = re.compile(r"</\w+>")


class _Topic(Row):
    num: rows.TopicId
    title: StoredText = ""
    desc: StoredText = ""


def _request(row: _Topic) -> Iterable[TopicRow]:
    """Return the topic: the title, an empty line and the description.

    The narrative says how to judge, and is not read.
    """
    return (rows.topic(row.num, "\n\n".join(filter(None, (row.title, row.desc)))),)


def _values(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each topic with the line of its <top>.

    Raises OSError, EOFError, zlib.error, and Broken with the line.
    """
    began, text = 0, ""
    for number, raw in enumerate(open_lines(path), start=1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidFileError(number, f"not UTF-8: {error.reason}") from error
        if "<top>" in line:
            if began:
                raise InvalidFileError(
                    number, f"<top> inside the topic that begins on line {began}"
                )
            began, text = number, ""
        text += line if began else ""
        if began and "</top>" in line:
            yield began, _fields(text)
            began = 0
    if began:
        raise InvalidFileError(began, "<top> without </top>")


def _fields(text: str) -> dict[str, str]:
    fields = ((name, _CLOSING.sub("", content)) for name, content in _FIELD.findall(text))
    return {name: " ".join(_LABEL.sub("", content).split()) for name, content in fields}


TOPICS = Translation(_Topic, _request, values=_values, fields={"id": "num", "request": "title"})


def sources(file: File) -> Iterator[Source]:
    if file.is_sgml_topics:
        yield file.source(Kind.TOPICS, TOPICS)
