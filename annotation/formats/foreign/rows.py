"""Shared parts of formats: names, text with its title, topics, passages."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field

from annotation.formats.foreign.files import File
from annotation.formats.records import Name, PassageRow, Row, StoredText, TopicRow
from annotation.formats.summary import Conversion
from annotation.formats.translation import Skipped, Translation


def _number_as_string(value: object) -> object:
    if type(value) is float and value.is_integer():
        value = int(value)
    return str(value) if type(value) is int else value


# Some files give ids as numbers.
Id = Annotated[Name, BeforeValidator(_number_as_string)]
TopicId = Annotated[Name, Field(max_length=200), BeforeValidator(_number_as_string)]


def with_title(title: str, text: str) -> str:
    """Return the body of a passage: its title, a line end, its text; or the text alone."""
    return f"{title}\n{text}" if title.strip() else text


def topic(name: str, request: str) -> TopicRow:
    return TopicRow.model_construct(id=name, request=request)


def passage(name: str, title: str | None, text: str) -> PassageRow:
    return PassageRow.model_construct(id=name, contents=with_title(title or "", text))


def of_corpus(name: str, title: str | None, text: str) -> Iterator[PassageRow | Skipped]:
    """Yield the passage of a line of a corpus, unless it has no words."""
    row = passage(name, title, text)
    yield row if row.contents.strip() else Skipped(Conversion.EMPTY_PASSAGE)


class _Query(Row):
    id: TopicId
    query: StoredText


def is_queries(file: File) -> bool:
    """Return whether a file of columns is named as topics: msmarco-test2019-queries.tsv."""
    return file.ends(".tsv", ".txt") and ("queries" in file.base or "topics" in file.base)


# id<TAB>query: topics of MS MARCO, MIRACL and TREC RAG 2024
QUERIES = Translation(
    _Query,
    lambda row: (topic(row.id, row.query),),
    columns=("id", "query"),
    fields={"request": "query"},
)
