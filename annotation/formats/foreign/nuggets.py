"""Nuggets of TREC RAG, AutoNuggetizer, NeuCLIR, RAGTIME, auto-judge, HLTCOE; criteria.

A nugget is a sub-question. Its importance, the support by reports and its answers become ratings.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import (
    CitedRow,
    Name,
    NonEmptyText,
    PassageRow,
    RatingRow,
    RepeatedText,
    Row,
    SpanRow,
    StoredText,
    SubQuestionsRow,
    TopicRow,
)
from annotation.formats.translation import DECODER, Skipped, Translation

ASSESSOR, GOLD = "assessor", "gold"
HUMAN, MODEL = "human", "model"
# Name of the text that represents a topic in rubrics that show no text.
OF_TOPIC = "{}:request"
OF_NO_RUN = "assignments of no run: no row"
IMPORTANCE = {"vital": 2, "okay": 1}
SUPPORT = {"support": 2, "partial_support": 1, "not_support": 0}
_OF_PEOPLE = ("assessor", "human", "nist")
_OF_A_TOPIC = re.compile(r"(?:.*/)?nuggets_(?P<topic>[^/_.]+)(?:[_.][^/]*)?\.json")


@dataclass
class NuggetQuestion:
    """A nugget: its part of the request, and its answers with the texts that give them."""

    group: str = ""
    answers: dict[str, list[str]] = field(default_factory=dict)

    def add(self, answers: Mapping[str, Iterable[str]]) -> None:
        """Merge further answers and their texts, without duplicates."""
        for answer, texts in answers.items():
            known_texts = self.answers.setdefault(answer, [])
            known_texts.extend(text for text in dict.fromkeys(texts) if text not in known_texts)


class _Bank(Row):
    """The nuggets of a topic, in any of the shapes."""

    query: StoredText | None = None

    @property
    def topic(self) -> str:
        raise NotImplementedError

    @property
    def sub_questions(self) -> dict[str, NuggetQuestion]:
        """Return the nuggets by their text, in order."""
        raise NotImplementedError


def _label(value: object) -> object:
    """Return a label in lower case, with _ between its words: "Partial support " is one."""
    return re.sub(r"[\s_-]+", "_", value.strip().lower()) if isinstance(value, str) else value


_Importance = Literal["vital", "okay", "failed", ""]
_Assignment = Literal["support", "partial_support", "not_support", "failed", ""]


class _Nugget(Row):
    text: NonEmptyText
    importance: Annotated[_Importance | None, BeforeValidator(_label)] = None
    assignment: Annotated[_Assignment | None, BeforeValidator(_label)] = None
    mapped_sub_narrative: Annotated[StoredText, Field(max_length=250)] | None = None


class _Nuggets(_Bank):
    """Nuggets of TREC RAG 2025, and nuggets created and assigned by nuggetizer."""

    qid: rows.TopicId
    run_id: RepeatedText | None = None
    answer_text: StoredText | None = None
    docid: rows.Id | None = None
    candidate_text: StoredText | None = None
    nuggets: list[_Nugget]

    @property
    def passage(self) -> str | None:
        """Return the passage that nuggets are assigned to; None for a report, or for none."""
        return None if self.run_id and self.answer_text is not None else self.docid

    @property
    def topic(self) -> str:
        return self.qid

    @property
    def sub_questions(self) -> dict[str, NuggetQuestion]:
        return {
            body: NuggetQuestion(nugget.mapped_sub_narrative or "")
            for body, nugget in self.numbered_nuggets
        }

    @property
    def numbered_nuggets(self) -> list[tuple[str, _Nugget]]:
        return list(
            zip(_numbered_texts(nugget.text for nugget in self.nuggets), self.nuggets, strict=True)
        )


class _Criterion(Row):
    criterion: NonEmptyText
    axis: Annotated[StoredText, Field(max_length=250)] = ""


class _Criteria(_Bank):
    """Criteria of ResearchRubrics. The weights are not read."""

    qid: rows.TopicId
    rubrics: list[_Criterion]

    @property
    def topic(self) -> str:
        return self.qid

    @property
    def sub_questions(self) -> dict[str, NuggetQuestion]:
        texts = _numbered_texts(row.criterion for row in self.rubrics)
        return {
            text: NuggetQuestion(row.axis) for text, row in zip(texts, self.rubrics, strict=True)
        }


_Pair = Annotated[
    tuple[NonEmptyText, list[StoredText] | StoredText], Field(strict=False)
]  # JSON has lists


class _Pairs(_Bank):
    """Nuggets of NeuCLIR and RAGTIME: questions with alternative answers, merged if repeated."""

    id: rows.TopicId
    nuggets: list[_Pair]

    @property
    def topic(self) -> str:
        return self.id

    @property
    def sub_questions(self) -> dict[str, NuggetQuestion]:
        sub_questions: dict[str, NuggetQuestion] = {}
        for question, answers in self.nuggets:
            nugget = sub_questions.setdefault(question.strip(), NuggetQuestion())
            nugget.add(dict.fromkeys([answers] if isinstance(answers, str) else answers, ()))
        return sub_questions


class _BankQuestion(Row):
    question: StoredText = ""
    answers: dict[StoredText, Any] | list[StoredText] | None = None


class _NuggetBank(_Bank):
    """Nugget bank of auto-judge, version 3. A question under two keys is merged."""

    query_id: rows.TopicId
    nugget_bank: dict[NonEmptyText, _BankQuestion]

    @property
    def topic(self) -> str:
        return self.query_id

    @property
    def sub_questions(self) -> dict[str, NuggetQuestion]:
        sub_questions: dict[str, NuggetQuestion] = {}
        for key, nugget in self.nugget_bank.items():
            merged = sub_questions.setdefault((nugget.question or key).strip(), NuggetQuestion())
            merged.add(dict.fromkeys(nugget.answers or (), ()))
        return sub_questions


_Answers = dict[StoredText, list[Name]]
_Listed = Annotated[tuple[NonEmptyText, _Answers], Field(strict=False)]


class _Tool(_Bank):
    """Nuggets of HLTCOE's annotation tool: a file for each topic, which only its name tells.

    A repeated question is merged.
    """

    of: rows.TopicId
    nugget_dict: dict[NonEmptyText, _Answers] = Field(default_factory=dict)
    nugget_list: list[_Listed] = Field(default_factory=list)
    group_assignment: dict[StoredText, Annotated[StoredText, Field(max_length=250)]] = Field(
        default_factory=dict
    )

    @property
    def topic(self) -> str:
        return self.of

    @property
    def sub_questions(self) -> dict[str, NuggetQuestion]:
        sub_questions: dict[str, NuggetQuestion] = {}
        for question, answers in [*self.nugget_dict.items(), *self.nugget_list]:
            group = self.group_assignment.get(question, "")
            sub_questions.setdefault(question.strip(), NuggetQuestion(group)).add(answers)
        return sub_questions


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if file.ends(".json") and (name := _OF_A_TOPIC.fullmatch(file.name)):
        yield from _banks(file, _Tool, values=partial(_whole, name["topic"]))
    elif file.is_json:
        if {"qid", "nuggets"} <= file.keys:
            yield from _nuggets(file)
        elif {"qid", "rubrics"} <= file.keys:
            yield from _banks(file, _Criteria)
        elif {"id", "nuggets"} <= file.keys:
            yield from _banks(file, _Pairs)
        elif {"query_id", "nugget_bank"} <= file.keys:
            yield from _banks(file, _NuggetBank)


def _banks(file: File, shape: type[_Bank], **more: Any) -> Iterator[Source]:
    """Yield the sources of nuggets, with their answers as gold ratings."""
    fields = {"id": "topic", "subquestions": "nuggets"}
    yield file.source(Kind.SUBQUESTIONS, Translation(shape, _questions, fields=fields, **more))
    yield file.source(Kind.TOPICS, Translation(shape, _topic, **more), again=True)
    yield file.source(Kind.RATINGS, Translation(shape, _answers, **more), again=True)


def _nuggets(file: File) -> Iterator[Source]:
    """Yield the sources of nuggets with importance; of nuggetizer also topics and reports.

    Also the assignments of nuggets to reports or passages. A nuggetizer's file has the query, and
    its rater is named after the file. Other files are by the track's assessors.
    """
    rater = (file.rater, _kind(file))
    by = rater if "query" in file.keys else (ASSESSOR, HUMAN)

    def of(into: Any, **fields: str) -> Translation:
        return Translation(_Nuggets, into, fields=fields)

    yield file.source(Kind.SUBQUESTIONS, of(_questions, id="qid", subquestions="nuggets"))
    yield file.source(Kind.RATINGS, of(partial(_weights, by)), again=True)
    yield file.source(Kind.TOPICS, of(_topic, id="qid", request="query"), again=True)
    # Keys of the first line are not enough: nuggets of some topics may not be assigned yet.
    report = of(_report, topic="qid", system="run_id", body="answer_text")
    yield file.source(Kind.CITED, report, again=True)
    passage = of(_passage, id="docid", contents="candidate_text")
    yield file.source(Kind.PASSAGES, passage, again=True)
    supports = of(partial(_supports, rater), text="docid or run_id", question="nuggets")
    yield file.source(Kind.RATINGS, supports, again=True)


def _numbered_texts(nuggets: Iterable[str]) -> Iterator[str]:
    """Yield the text of each nugget. A repeated one counts again, with its number appended."""
    n_of = Counter[str]()
    used: set[str] = set()
    for body in map(str.strip, nuggets):
        numbered = body
        while not n_of[body] or numbered in used:  # another may have these words and this number
            n_of[body] += 1
            numbered = body if n_of[body] == 1 else f"{body} ({n_of[body]})"
        used.add(numbered)
        yield numbered


def _kind(file: File) -> str:
    return HUMAN if any(prefix in file.base for prefix in _OF_PEOPLE) else MODEL


def _whole(topic: str, path: Path) -> Iterator[tuple[int, Any]]:
    """Yield a file that is one JSON object. Raises OSError and ValueError."""
    try:
        value = DECODER.decode(path.read_bytes().decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("is no JSON object")
    yield 1, {**value, "of": topic}


def _topic(row: _Bank) -> Iterator[TopicRow]:
    """Yield the topic, without a request where no query states it: a file of topics does."""
    yield rows.topic(row.topic, row.query or "")


def _questions(row: _Bank) -> Iterator[SubQuestionsRow]:
    sub_questions = row.sub_questions
    groups = [nugget.group for nugget in sub_questions.values()]
    if sub_questions:
        yield SubQuestionsRow.model_construct(
            id=row.topic, subquestions=list(sub_questions), groups=groups if any(groups) else []
        )


def _report(row: _Nuggets) -> Iterator[CitedRow]:
    """Yield the report. An empty answer is a report too: it supports nothing."""
    if row.run_id and row.answer_text is not None:
        body = row.answer_text
        yield CitedRow.model_construct(topic=row.qid, system=row.run_id, body=body, statements=[])


def _passage(row: _Nuggets) -> Iterator[PassageRow]:
    """Yield the passage with its body, if the file has it; else only ratings name it."""
    if row.passage and row.candidate_text is not None:
        yield rows.passage(row.passage, "", row.candidate_text)


def _weights(by: tuple[str, str], row: _Nuggets) -> Iterator[RatingRow]:
    for body, nugget in row.numbered_nuggets:
        if nugget.importance is not None:
            grade = IMPORTANCE.get(nugget.importance)
            yield _rating(by, "importance", row.qid, body, grade=grade)


def _supports(by: tuple[str, str], row: _Nuggets) -> Iterator[RatingRow | Skipped]:
    if row.passage:
        of = {"text_kind": "passage", "system": "", "text": row.passage}
    elif row.run_id:
        of = {"text_kind": "report", "system": row.run_id, "text": row.qid}
    else:
        yield from (Skipped(OF_NO_RUN) for nugget in row.nuggets if nugget.assignment is not None)
        return
    for body, nugget in row.numbered_nuggets:
        if nugget.assignment is not None:
            grade = SUPPORT.get(nugget.assignment)
            yield _rating(by, "nugget-support", row.qid, body, grade=grade, **of)


def _answers(row: _Bank) -> Iterator[RatingRow]:
    """Yield all answers of a nugget for the topic, and for each text those that it gives."""
    for question, nugget in row.sub_questions.items():
        by_text: dict[str, list[str]] = {}
        for answer, texts in nugget.answers.items():
            for text in (OF_TOPIC.format(row.topic), *texts):
                by_text.setdefault(text, []).append(answer)
        for text, answers in by_text.items():
            spans = [SpanRow.model_construct(source_quote=answer) for answer in answers if answer]
            yield _rating(
                (GOLD, HUMAN), "answered", row.topic, question, grade=1, text=text, spans=spans
            )


def _rating(by: tuple[str, str], rubric: str, topic: str, question: str, **more: Any) -> RatingRow:
    rater, kind = by
    fields: Mapping[str, Any] = {"text": OF_TOPIC.format(topic), "spans": []} | more
    return RatingRow.model_construct(
        rater=rater, rater_kind=kind, rubric=rubric, topic=topic, question=question, **fields
    )
