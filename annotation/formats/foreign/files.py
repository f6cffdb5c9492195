"""Files of a folder, with the keys of their first record."""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.formats.content import (
    UNREADABLE,
    Content,
    begins_value,
    content_of,
    is_called_run,
    keys_of_lines,
)
from annotation.formats.foreign import streamed
from annotation.formats.layout import Kind, Source, printable
from annotation.formats.summary import DatasetImportError, Problem
from annotation.formats.translation import InvalidFileError, Translation

_PLAIN = (".txt", ".res", ".trec", ".tsv", ".dat", ".out")
_LONGEST = 2**26
_NO_JSON = (".tsv", ".csv", ".parquet", ".run", ".trec", ".qrels", ".xlsx", ".zip", ".xml")
N_OBJECTS = 20  # whose keys tell the kind of a file
_ENDINGS = (".gz", ".jsonl", ".json", ".tsv", ".txt", ".parquet", ".run", ".trec", ".qrels")


@dataclass(frozen=True)
class File:
    path: Path
    name: str  # within the folder, with slashes

    @property
    def base(self) -> str:
        return self.name.rpartition("/")[2].lower()

    @cached_property
    def folders(self) -> frozenset[str]:
        """Return the names of its folders, from the given one down."""
        depth = self.name.count("/") + 1
        return frozenset(
            folder.name.lower() for folder in list(self.path.resolve().parents)[:depth]
        )

    @cached_property
    def stem(self) -> str:
        """Return the name without folders and without format endings."""
        stem = self.name.rpartition("/")[2]
        while stem.lower().endswith(_ENDINGS):
            stem = stem.rpartition(".")[0]
        return stem

    @property
    def rater(self) -> str:
        """Return a rater name made from the file name, with valid characters only."""
        return re.sub(r"[^\w-]+", "-", self.stem, flags=re.ASCII)[:120]

    @cached_property
    def content(self) -> Content:
        """Return the content kind of a file whose name does not tell: a run, qrels, or other."""
        is_plain = self.ends(*_PLAIN) or "." not in self.base
        return self._content if is_plain else Content.OTHER

    @property
    def is_trec_qrels(self) -> bool:
        """Return True if it has the four columns of qrels, whatever its name."""
        return self._content is Content.QRELS

    @property
    def is_called_run(self) -> bool:
        return is_called_run(self.name)

    @property
    def is_sgml_topics(self) -> bool:
        """Return True if the file begins with a <top> of TREC topics."""
        is_text = not self.ends(".jsonl", ".json", ".parquet")
        return is_text and self._content is Content.SGML_TOPICS

    @cached_property
    def _content(self) -> Content:
        return content_of(self.path)

    def ends(self, *endings: str) -> bool:
        return self.base.removesuffix(".gz").endswith(endings)

    @cached_property
    def is_json(self) -> bool:
        """Return True for JSON lines by name, and for a file of JSON objects of another name."""
        if self.ends(".jsonl", ".ndjson"):
            return True
        return not self.ends(*_NO_JSON) and self.has_object

    @property
    def has_object(self) -> bool:
        """Return True if it begins with JSON objects."""
        try:
            return bool(self.keys)
        except DatasetImportError:
            return False

    @cached_property
    def has_lines(self) -> bool:
        """Return False for a list, and for objects that take several lines."""
        return not begins_value(self.path)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the keys of the first JSON objects.

        Raises DatasetImportError where there is none at the beginning.
        """
        try:
            keys = keys_of_lines(self.path) if self.has_lines else self._keys_of_objects()
        except UNREADABLE as error:
            raise self.refused(f"cannot be read: {error}") from error
        if not keys:
            raise self.refused("holds no JSON object at its beginning")
        return frozenset().union(*keys)

    def _keys_of_objects(self) -> list[frozenset[str]]:
        keys: list[frozenset[str]] = []
        try:
            for _, value in islice(streamed.objects(self.path), N_OBJECTS):
                if isinstance(value, dict):
                    keys.append(frozenset(value))
        except InvalidFileError:  # is told, with its line, when all of it is read
            pass
        return keys

    def refused(self, message: str) -> DatasetImportError:
        return DatasetImportError([Problem(printable(self.name), 0, "", message)])

    def source(self, kind: Kind, translation: Translation | None, **more: Any) -> Source:
        reads_lines = translation is None or translation.columns or translation.values
        if translation and not reads_lines and not self.has_lines:
            translation = replace(translation, values=streamed.objects)
        fields = {"translation": translation, "leaves_out": True} | more
        return Source(self.path, printable(self.name), kind, **fields)


def open_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, decompressed if its name ends in .gz.

    Raises OSError, EOFError, zlib.error.
    """
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        while line := file.readline(_LONGEST):
            yield line
