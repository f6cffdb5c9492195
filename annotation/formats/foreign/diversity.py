"""TREC diversity qrels: topic, subtopic, text, grade.

A subtopic is a sub-question by its number, from 1. Rater and rubric are only in the file's name:
RATER.qrels, RATER.RUBRIC.qrels.
"""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

from pydantic import Field

from annotation.formats.foreign import qrels, rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import GradeRow, RatingRow
from annotation.formats.translation import Translation

GRADED = "graded"
_COLUMNS = ("topic", "subtopic", "text", "grade")
_KINDS = {"judgements": "model", "baselines": "baseline"}  # by folder; elsewhere a person
_FILE_NAME_PARTS = ("diversity", "qrels")  # what a name says beside rater and rubric


class _Grade(GradeRow):
    topic: rows.TopicId
    subtopic: Annotated[int, Field(strict=False, ge=1)]
    grade: Annotated[int, Field(strict=False)]


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if not qrels.is_qrels(file):
        yield from qrels.sources(file, folder)
        return
    rater, *rubric = [part for part in file.stem.split(".") if part not in _FILE_NAME_PARTS] or [
        qrels.QRELS
    ]
    kind = next((kind for name, kind in _KINDS.items() if name in file.folders), "human")
    into = partial(_rating, rater, kind, rubric[0] if rubric else GRADED)
    fields = {"question_index": "subtopic"}
    yield file.source(Kind.RATINGS, Translation(_Grade, into, _COLUMNS, None, fields=fields))


def _rating(rater: str, kind: str, rubric: str, row: _Grade) -> tuple[RatingRow]:
    """Return the rating of a line; a grade below 0 is none: unjudged, or filtered."""
    return (
        RatingRow.model_construct(
            rater=rater,
            rater_kind=kind,
            rubric=rubric,
            topic=row.topic,
            question_index=row.subtopic - 1,
            text=row.text,
            grade=row.grade if row.grade >= 0 else None,
            spans=[],
        ),
    )
