"""Qrels and runs of a folder: recognition by name or content, and a rubric for all."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from pydantic import Field

from annotation.formats.content import Content, run_name
from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File, open_lines
from annotation.formats.layout import Kind, Source
from annotation.formats.records import GradeRow
from annotation.formats.run_order import RunOrder, full_columns
from annotation.formats.translation import Translation

UMBRELA = "umbrela"
QRELS = "qrels"
MOST_GRADES = 100
_UNREADABLE = (OSError, EOFError, zlib.error)  # is told when the file is read


class _Grade(GradeRow):
    topic: rows.TopicId
    grade: Annotated[int, Field(strict=False)]


def _itself(row: _Grade) -> Iterable[GradeRow]:
    return (row,)


TREC = Translation(_Grade, _itself, columns=("topic", "iteration", "text", "grade"), separator=None)
BEIR = Translation(_Grade, _itself, columns=("topic", "text", "grade"))


def is_qrels(file: File) -> bool:
    if _is_called_qrels(file):
        return True
    return not _is_named_run(file) and file.content is Content.QRELS


def is_run(file: File) -> bool:
    if _is_named_run(file) or file.content is Content.RUN:
        return True
    if _is_called_qrels(file):
        return False
    return file.is_called_run and file.content is Content.RANKS


def _is_called_qrels(file: File) -> bool:
    is_called_so = QRELS in file.base or QRELS in file.folders
    if file.ends(".qrels"):
        return True
    return is_called_so and file.ends(".tsv", ".txt")


def _is_named_run(file: File) -> bool:
    return file.ends(".run", ".trec") or ("runs" in file.folders and file.ends(".txt"))


def _is_umbrela(file: File) -> bool:
    return UMBRELA in file.base or UMBRELA in file.folders


@dataclass
class Folder:
    """All files of a folder.

    The content of its qrels and runs is read once, when it is needed.
    """

    files: Sequence[File]
    lenient: bool = False
    run_order: RunOrder = RunOrder.AUTO

    @cached_property
    def named(self) -> frozenset[str]:
        """Return the texts that runs and qrels name."""
        return frozenset(
            text
            for file in self.files
            if is_run(file) or is_qrels(file)
            for text in map(_text_of, _lines(file))
            if text
        )

    @cached_property
    def rubric(self) -> str:
        """Return the rubric of all qrels except UMBRELA's, by their largest grade."""
        qrels = [file for file in self.files if is_qrels(file) and not _is_umbrela(file)]
        grades = (_grade(line) for file in qrels for line in _lines(file))
        return f"{QRELS}-{max((grade for grade in grades if 1 <= grade <= MOST_GRADES), default=1)}"


def _text_of(line: bytes) -> str:
    """Return the text that a line of a run or of qrels names; "" for another line."""
    cells = line.decode(errors="replace").split(None, 5)
    if len(cells) == 4 and cells[1].casefold() in ("0", "q0"):
        return cells[2]
    columns = full_columns(cells, "")
    if columns:
        return columns[2]
    return cells[2] if len(cells) > 3 else ""


def _lines(file: File) -> Iterator[bytes]:
    try:
        yield from open_lines(file.path)
    except _UNREADABLE:
        return


def _grade(line: bytes) -> int:
    try:
        return int(float(line.split()[-1]))
    except (IndexError, ValueError, OverflowError):
        return 0


def sources(file: File, folder: Folder, translation: Translation = TREC) -> Iterator[Source]:
    """Yield a run, or grades of whole topics.

    UMBRELA's are by a model named after its file, all others by people.
    """
    if is_run(file):
        name = file.stem if _is_named_run(file) else run_name(file.name.rpartition("/")[2])
        yield file.source(Kind.RUN, None, system=name)
    elif not is_qrels(file):
        return
    elif _is_umbrela(file):
        rater = file.rater or UMBRELA
        yield file.source(Kind.GRADES, translation, rater=rater, rubric=UMBRELA)
    else:
        if file.is_trec_qrels:  # four columns, whatever the format has elsewhere
            translation = TREC
        yield file.source(Kind.GRADES, translation, rater=QRELS, rubric=folder.rubric)
