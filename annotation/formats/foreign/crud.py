"""CRUD-RAG: its data set, the questions of RAGQuestEval, and results of systems.

split_merged.json {task: [item]}, or TASK.json [item]; CLASS_quest_gt_save.json {ID: {"question",
"answers"}}; output/COLLECTION_topK_LLM/CLASS_MODEL.json, in `crud_results`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, model_validator

from annotation.formats.foreign import crud_results, rows, streamed
from annotation.formats.foreign.crud_questions import (
    REPEATED,
    UNLIKE,
    answer_rows,
    has_repeated,
    questions_row,
)
from annotation.formats.foreign.crud_tasks import CLASSES, TASKS, TaskItem
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import (
    DocumentRow,
    PassageRow,
    RatingRow,
    StoredText,
    SubQuestionsRow,
    TopicRow,
)
from annotation.formats.translation import Counted, Translation
from annotation.plurals import n_of

_NEWS = ("text", "news1", "news2", "news3")
_FIELDS = (
    *("ID", "id", *_NEWS),
    *(name for task in TASKS.values() for name in (*task.request, task.reference)),
)
NO_QUESTIONS = "items of CRUD-RAG without questions"
_QUESTIONS = re.compile(rf"({'|'.join(CLASSES)})_quest_gt_save")
_RESULTS = re.compile(rf"({'|'.join(CLASSES)})_(.+)")


class _Item(TaskItem):
    """An item of the data set: required fields of its task, and passages."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, StoredText]

    @property
    def texts(self) -> dict[str, str]:
        return self.__pydantic_extra__

    @model_validator(mode="after")
    def _whole(self) -> _Item:
        task = TASKS[self.task]
        for name in (*task.request, task.reference):
            if name not in self.texts:
                raise ValueError(f"{name} is missing from {self.id}")
        return self


def _topic(row: _Item) -> Iterable[TopicRow]:
    yield row.topic_row("".join(row.texts[name] for name in TASKS[row.task].request))


def _reference(row: _Item) -> Iterable[DocumentRow]:
    if body := row.texts[TASKS[row.task].reference]:
        yield DocumentRow.model_construct(id=row.topic, contents=body)


def _passages(row: _Item) -> Iterator[PassageRow]:
    """Yield the news articles that the item was made from."""
    for name in _NEWS:
        if body := row.texts.get(name):
            yield rows.passage(f"{row.topic}:{name}", "", body)


class _Lenient(TaskItem):
    """Questions and answers of an item, without checks."""

    question: list[StoredText] = Field(default_factory=list)
    answers: list[StoredText] = Field(default_factory=list)


class _Strict(_Lenient):
    @model_validator(mode="after")
    def _one_to_one(self) -> _Strict:
        if len(self.question) != len(self.answers):
            n, of = len(self.answers), len(self.question)
            raise ValueError(
                f"{n_of(n, 'answer')} to {n_of(of, 'question')} in {self.id} "
                "(a lenient import keeps them)"
            )
        return self


def _topic_of_questions(row: _Lenient) -> Iterator[TopicRow | Counted]:
    yield row.topic_row()
    if not row.question and not row.answers:
        yield Counted(NO_QUESTIONS)
    elif len(row.question) != len(row.answers):
        yield Counted(UNLIKE)
    if has_repeated(row.question):
        yield Counted(REPEATED)


def _questions(row: _Lenient) -> Iterator[SubQuestionsRow]:
    yield from questions_row(row.topic, row.question, len(row.answers))


def _answers(row: _Lenient) -> Iterator[RatingRow]:
    yield from answer_rows(row.topic, row.answers, "reference", f"{row.topic}:report")


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if not file.ends(".json"):
        return
    if match := _QUESTIONS.fullmatch(file.stem):
        yield from _of_questions(file, CLASSES[match[1]], lenient=folder.lenient)
    elif match := _RESULTS.fullmatch(file.stem):
        task, model = CLASSES[match[1]], match[2]
        yield from crud_results.sources(file, task, model, lenient=folder.lenient)
    elif file.stem in TASKS or _first_name(file) in TASKS:
        of_items = partial(Translation, _Item, values=partial(_items, file.stem))
        yield file.source(Kind.TOPICS, of_items(_topic, fields={"id": "ID"}))
        yield file.source(Kind.REFERENCES, of_items(_reference, fields={"id": "ID"}), again=True)
        yield file.source(Kind.PASSAGES, of_items(_passages, fields={"id": "ID"}), again=True)


def _of_questions(file: File, task: str, *, lenient: bool) -> Iterator[Source]:
    shape = _Lenient if lenient else _Strict
    of_items = partial(Translation, shape, values=partial(_by_id, task), fields={"id": "ID"})
    yield file.source(Kind.TOPICS, of_items(_topic_of_questions))
    yield file.source(Kind.SUBQUESTIONS, of_items(_questions), again=True)
    yield file.source(Kind.RATINGS, of_items(_answers), again=True)


def _items(stem: str, path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the items with their tasks: that of the list, else that of the file."""
    for line, name, value in streamed.values(path):
        if isinstance(value, dict):
            used = {key: value[key] for key in _FIELDS if value.get(key) is not None}
            value = {**used, "task": name or stem}
        yield line, value


def _by_id(task: str, path: Path) -> Iterator[tuple[int, Any]]:
    for line, name, item in streamed.values(path):
        yield line, {"ID": name, **item, "task": task} if isinstance(item, dict) else item


def _first_name(file: File) -> str:
    try:
        return streamed.first_name(file.path)
    except (OSError, EOFError, ValueError, zlib.error):
        return ""
