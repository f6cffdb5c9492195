"""Results of CRUD-RAG's code: output/COLLECTION_topK_LLM/CLASS_MODEL.json.

{"info", "overall", "results": [{"id", "metrics", "log": {"generated_text", "ground_truth_text",
"quest_eval_save": {"questions_gt", "answers_gt4gt", "answers_gm4gt"}}}]}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator, model_validator

from annotation.formats.foreign import streamed
from annotation.formats.foreign.crud_questions import (
    UNLIKE,
    answer_rows,
    questions_row,
)
from annotation.formats.foreign.crud_tasks import TaskItem
from annotation.formats.foreign.files import File
from annotation.formats.layout import Kind, Source
from annotation.formats.records import (
    LARGEST,
    CitedRow,
    DocumentRow,
    RatingRow,
    Row,
    StoredText,
    SubQuestionsRow,
    SystemRow,
    TopicRow,
    ValueRow,
)
from annotation.formats.translation import Counted, Skipped, Translation
from annotation.plurals import n_of

# Called bertScore in the code, but the cosine of two text embeddings.
SIMILARITY = "similarity (text2vec-base-chinese)"
# Measures that we compute, too: stored under these names for comparison.
THEIRS = {
    name: f"crud:{name}" for name in ("bleu-avg", "rouge-L", "QA_avg_F1", "QA_recall", "length")
}
NO_TEXT = "results of CRUD-RAG without a text: no report"
MEASURES = {"bertScore": SIMILARITY, **THEIRS}

_FOLDER = re.compile(r"(?P<collection>.+)_top(?P<k>\d+)_(?P<llm>.+)")
_CHUNKS = re.compile(r"(?<![0-9])(?P<chunk>\d+)_(?P<overlap>\d+)$")
_NO_SIGN = re.compile(r"[^\w.+-]+", re.ASCII)
_LONGEST = 120
# Where its code failed, a list is an empty string or missing.
_Answers = Annotated[list[StoredText], BeforeValidator(lambda value: value or [])]


class _Answered(Row):
    questions_gt: _Answers = Field(default_factory=list)
    answers_gt4gt: _Answers = Field(default_factory=list)
    answers_gm4gt: _Answers = Field(default_factory=list)


class _Log(Row):
    generated_text: StoredText = ""
    ground_truth_text: StoredText = ""
    quest_eval_save: _Answered = _Answered()


class _Lenient(TaskItem):
    """A result, without checks."""

    system: StoredText
    log: _Log = _Log()
    metrics: dict[StoredText, Any] = Field(default_factory=dict)

    @field_validator("metrics")
    @classmethod
    def _are_bounded(cls, metrics: dict[str, Any]) -> dict[str, Any]:
        for name in MEASURES.keys() & metrics.keys():
            value = metrics[name]
            if type(value) in (int, float) and not -LARGEST <= value <= LARGEST:
                raise ValueError(f"{name} is no number up to {LARGEST:g}")
        return metrics

    @property
    def has_text(self) -> bool:
        return bool(self.log.generated_text.strip())

    @property
    def saved_answers(self) -> _Answered:
        return self.log.quest_eval_save

    @property
    def is_unlike(self) -> bool:
        """True if the numbers of questions and answers differ."""
        saved = self.saved_answers
        return not len(saved.questions_gt) == len(saved.answers_gt4gt) == len(saved.answers_gm4gt)


class _Strict(_Lenient):
    @model_validator(mode="after")
    def _one_to_one(self) -> _Strict:
        if self.has_text and self.is_unlike:
            questions, expected, answered = (len(answers) for _, answers in self.saved_answers)
            mismatch = (
                f"{n_of(questions, 'question')} with {n_of(expected, 'answer')} of the reference "
                f"and {answered} of the text"
            )
            raise ValueError(f"{mismatch} in {self.id} (a lenient import keeps them)")
        return self


def sources(file: File, task: str, model: str, *, lenient: bool) -> Iterator[Source]:
    folder = file.name.rpartition("/")[0].rpartition("/")[2] or file.path.resolve().parent.name
    system, settings = _system(folder, model)
    of_results = partial(
        Translation,
        _Lenient if lenient else _Strict,
        values=partial(_results, task, system),
        fields={"body": "log.generated_text", "contents": "log.ground_truth_text"},
    )
    of_system = Translation(
        SystemRow,
        lambda row: (row,),
        values=lambda _: iter([(0, {"system": system, "settings": settings})]),
    )
    yield file.source(Kind.TOPICS, of_results(_topic))
    yield file.source(Kind.SUBQUESTIONS, of_results(_questions), again=True)
    yield file.source(Kind.REFERENCES, of_results(_reference), again=True)
    yield file.source(Kind.CITED, of_results(_report), again=True)
    yield file.source(Kind.SYSTEMS, of_system, again=True, leaves_out=False)
    yield file.source(Kind.VALUES, of_results(_values), again=True)
    yield file.source(Kind.RATINGS, of_results(_answers), again=True)


def _system(folder: str, model: str) -> tuple[str, dict[str, Any]]:
    """Return a system's name and settings, from its folder and model."""
    settings: dict[str, Any] = {"llm": model}
    name = model
    if match := _FOLDER.fullmatch(folder):
        name = f"{folder}.{model}"
        collection = match["collection"]
        if chunks := _CHUNKS.search(collection):
            settings |= {key: int(size) for key, size in chunks.groupdict().items()}
            collection = collection[: chunks.start()].rstrip("_")
        settings |= {"collection": collection, "k": int(match["k"])}
    return _NO_SIGN.sub("-", name)[-_LONGEST:], settings


def _results(task: str, system: str, path: Path) -> Iterator[tuple[int, Any]]:
    for line, name, value in streamed.values(path):
        if name == "results":
            is_object = isinstance(value, dict)
            yield line, {**value, "task": task, "system": system} if is_object else value


def _topic(row: _Lenient) -> Iterator[TopicRow | Skipped | Counted]:
    yield row.topic_row()
    if not row.has_text:
        yield Skipped(NO_TEXT)
    elif row.is_unlike:
        yield Counted(UNLIKE)


def _questions(row: _Lenient) -> Iterator[SubQuestionsRow]:
    yield from questions_row(
        row.topic, row.saved_answers.questions_gt, len(row.saved_answers.answers_gt4gt)
    )


def _reference(row: _Lenient) -> Iterable[DocumentRow]:
    if row.log.ground_truth_text:
        yield DocumentRow.model_construct(id=row.topic, contents=row.log.ground_truth_text)


def _report(row: _Lenient) -> Iterator[CitedRow]:
    if row.has_text:
        yield CitedRow.model_construct(
            topic=row.topic, system=row.system, body=row.log.generated_text, statements=[]
        )


def _values(row: _Lenient) -> Iterator[ValueRow]:
    for name, value in row.metrics.items():
        if row.has_text and name in MEASURES and type(value) in (int, float):
            yield ValueRow.model_construct(
                topic=row.topic, system=row.system, measure=MEASURES[name], value=value
            )


def _answers(row: _Lenient) -> Iterator[RatingRow]:
    """Yield the answers of the reference, and those of the text to known questions."""
    saved = row.saved_answers
    yield from answer_rows(row.topic, saved.answers_gt4gt, "reference", f"{row.topic}:report")
    if row.has_text:
        n = max(len(saved.questions_gt), len(saved.answers_gt4gt))
        ours = saved.answers_gm4gt[:n]
        yield from answer_rows(row.topic, ours, "report", row.topic, row.system)
