"""Qrels and runs of a folder: recognition by name or content, and a rubric for all."""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, FiniteFloat

from annotation.formats.content import Content, run_name
from annotation.formats.foreign import rows, streamed
from annotation.formats.foreign.files import File, open_lines
from annotation.formats.layout import Kind, Source
from annotation.formats.records import GradeRow, Row, RunRow, WholeNumber
from annotation.formats.run_order import RunOrder, full_columns
from annotation.formats.translation import InvalidFileError, Translation

UMBRELA = "umbrela"
QRELS = "qrels"
MOST_GRADES = 100
_LONGEST_NAME = 120  # of a run
_UNREADABLE = (OSError, EOFError, zlib.error)  # is told when the file is read


class _Grade(GradeRow):
    topic: rows.TopicId
    grade: Annotated[int, Field(strict=False)]


def _itself(row: _Grade) -> Iterable[GradeRow]:
    return (row,)


TREC = Translation(_Grade, _itself, columns=("topic", "iteration", "text", "grade"), separator=None)
BEIR = Translation(_Grade, _itself, columns=("topic", "text", "grade"))


class _Scores(Row):
    topic: rows.TopicId
    scores: dict[rows.Id, Annotated[FiniteFloat, Field(strict=False)]]


class _Grades(Row):
    topic: rows.TopicId
    scores: dict[rows.Id, WholeNumber]


def _by_topic(path: Path) -> Iterator[tuple[int, Any]]:
    for line, topic, scores in streamed.values(path):
        yield line, {"topic": topic, "scores": scores}


def _ranked(tag: str, row: _Scores) -> Iterator[RunRow]:
    """Yield the lines of a topic. The tag has no white space, which would make another column."""
    ranked = sorted(row.scores.items(), key=lambda item: -item[1])
    for rank, (text, score) in enumerate(ranked, 1):
        yield RunRow.model_construct(line=f"{row.topic} Q0 {text} {rank} {score!r} {tag}")


def _graded(row: _Grades) -> Iterator[GradeRow]:
    for text, grade in row.scores.items():
        yield GradeRow.model_construct(topic=row.topic, text=text, grade=grade)


GRADES_BY_TOPIC = Translation(_Grades, _graded, values=_by_topic, fields={"text": "scores"})


def is_qrels(file: File) -> bool:
    if _is_called_qrels(file):
        return True
    return not _is_named_run(file) and file.content is Content.QRELS


def is_run(file: File) -> bool:
    if _is_named_run(file) or file.content is Content.RUN:
        return True
    if _is_called_qrels(file):
        return False
    return file.has_scores or (file.is_called_run and file.content is Content.RANKS)


def _is_called_qrels(file: File) -> bool:
    is_called_so = QRELS in file.base or QRELS in file.folders
    if file.ends(".qrels"):
        return True
    return is_called_so and (file.ends(".tsv", ".txt") or file.has_scores)


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
            for text in _texts(file)
            if text
        )

    @cached_property
    def rubric(self) -> str:
        """Return the rubric of all qrels except UMBRELA's, by their largest grade."""
        qrels = [file for file in self.files if is_qrels(file) and not _is_umbrela(file)]
        grades = (grade for file in qrels for grade in _grades(file))
        return f"{QRELS}-{max((grade for grade in grades if 1 <= grade <= MOST_GRADES), default=1)}"


def _texts(file: File) -> Iterator[str]:
    """Yield the texts that a run or qrels name; "" for other lines."""
    if not file.has_scores:
        yield from map(_text_of, _lines(file))
        return
    with suppress(InvalidFileError, *_UNREADABLE):
        for _, _, scores in streamed.values(file.path):
            yield from scores if isinstance(scores, dict) else ()


def _grades(file: File) -> Iterator[int]:
    """Yield the grades of qrels; 0 for other lines."""
    if not file.has_scores:
        yield from map(_grade, _lines(file))
        return
    with suppress(InvalidFileError, *_UNREADABLE):
        for _, _, scores in streamed.values(file.path):
            grades = scores.values() if isinstance(scores, dict) else ()
            yield from (grade for grade in grades if type(grade) is int)


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
        has_own_name = _is_named_run(file) or file.has_scores
        name = file.stem if has_own_name else run_name(file.name.rpartition("/")[2])
        if not file.has_scores:
            yield file.source(Kind.RUN, None, system=name)
            return
        name = run_name(re.sub(r"\s+", "-", name))[:_LONGEST_NAME]
        ranked = partial(_ranked, name)
        by_topic = Translation(_Scores, ranked, values=_by_topic, fields={"text": "scores"})
        yield file.source(Kind.RUN, by_topic, system=name, may_be_other=True)
    elif not is_qrels(file):
        return
    elif _is_umbrela(file):
        yield _grades_of(file, translation, file.rater or UMBRELA, UMBRELA)
    else:
        if file.is_trec_qrels:  # four columns, whatever the format has elsewhere
            translation = TREC
        yield _grades_of(file, translation, QRELS, folder.rubric)


def _grades_of(file: File, translation: Translation, rater: str, rubric: str) -> Source:
    is_json = file.has_scores
    return file.source(
        Kind.GRADES,
        GRADES_BY_TOPIC if is_json else translation,
        rater=rater,
        rubric=rubric,
        may_be_other=is_json,
    )
