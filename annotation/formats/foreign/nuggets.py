"""Nuggets: of TREC RAG and its nuggetizer, of NeuCLIR and RAGTIME, of auto-judge, of HLTCOE's tool; criteria.

A nugget is a sub-question. What a file says of its weight, of reports and of answers becomes ratings.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from annotation.formats.foreign import rows
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import (
    CitedRow,
    Name,
    PassageRow,
    RatingRow,
    Row,
    Something,
    SpanRow,
    SubQuestionsRow,
    TopicRow,
    Word,
    Words,
)
from annotation.formats.translation import DECODER, Told, Translation

ASSESSOR, GOLD = "assessor", "gold"
HUMAN, MODEL = "human", "model"
# Where the text is not shown one text stands for its topic.
OF_TOPIC = "{}:request"
OF_NO_RUN = "assignments of no run: no row"
IMPORTANCE = {"vital": 2, "okay": 1}
SUPPORT = {"support": 2, "partial_support": 1, "not_support": 0}
_OF_PEOPLE = ("assessor", "human", "nist")
_OF_A_TOPIC = re.compile(r"(?:.*/)?nuggets_(?P<topic>[^/_.]+)(?:[_.][^/]*)?\.json")


@dataclass
class Asked:
    """A nugget: the part of the request that it is about, and its answers with the texts that give them."""

    group: str = ""
    answers: dict[str, list[str]] = field(default_factory=dict)

    def add(self, answers: Mapping[str, Iterable[str]]) -> None:
        """These answers too, by their texts: an answer or a text that is there already is there once."""
        for answer, texts in answers.items():
            known = self.answers.setdefault(answer, [])
            known.extend(text for text in dict.fromkeys(texts) if text not in known)


class _Bank(Row):
    """The nuggets of a topic, in whichever shape."""

    query: Words | None = None

    @property
    def topic(self) -> str:
        raise NotImplementedError

    @property
    def asked(self) -> dict[str, Asked]:
        """By their words, in their order."""
        raise NotImplementedError


class _Nugget(Row):
    text: Something
    importance: Literal["vital", "okay", "failed", ""] | None = None
    assignment: Literal["support", "partial_support", "not_support", "failed", ""] | None = None
    mapped_sub_narrative: Annotated[Words, Field(max_length=250)] | None = None


class _Nuggets(_Bank):
    """TREC RAG 2025, and what nuggetizer creates and assigns."""

    qid: rows.TopicId
    run_id: Word | None = None
    answer_text: Words | None = None
    docid: rows.Id | None = None
    candidate_text: Words | None = None
    nuggets: list[_Nugget]

    @property
    def passage(self) -> str | None:
        """The passage that nuggets are assigned to; None where they are assigned to a report, or to nothing."""
        return None if self.run_id and self.answer_text is not None else self.docid

    @property
    def topic(self) -> str:
        return self.qid

    @property
    def asked(self) -> dict[str, Asked]:
        return {
            words: Asked(nugget.mapped_sub_narrative or "") for words, nugget in self.told_apart
        }

    @property
    def told_apart(self) -> list[tuple[str, _Nugget]]:
        return list(
            zip(_told_apart(nugget.text for nugget in self.nuggets), self.nuggets, strict=True)
        )


class _Criterion(Row):
    criterion: Something
    axis: Annotated[Words, Field(max_length=250)] = ""


class _Criteria(_Bank):
    """ResearchRubrics. The weights are not read."""

    qid: rows.TopicId
    rubrics: list[_Criterion]

    @property
    def topic(self) -> str:
        return self.qid

    @property
    def asked(self) -> dict[str, Asked]:
        words = _told_apart(row.criterion for row in self.rubrics)
        return {each: Asked(row.axis) for each, row in zip(words, self.rubrics, strict=True)}


_Pair = Annotated[tuple[Something, list[Words] | Words], Field(strict=False)]  # JSON has lists


class _Pairs(_Bank):
    """NeuCLIR and RAGTIME: questions with answers, any of which will do. One that is there twice is one."""

    id: rows.TopicId
    nuggets: list[_Pair]

    @property
    def topic(self) -> str:
        return self.id

    @property
    def asked(self) -> dict[str, Asked]:
        asked: dict[str, Asked] = {}
        for question, answers in self.nuggets:
            nugget = asked.setdefault(question.strip(), Asked())
            nugget.add(dict.fromkeys([answers] if isinstance(answers, str) else answers, ()))
        return asked


class _BankQuestion(Row):
    question: Words = ""
    answers: dict[Words, Any] | list[Words] | None = None


class _NuggetBank(_Bank):
    """auto-judge, version 3. A question that is there under two keys is one."""

    query_id: rows.TopicId
    nugget_bank: dict[Something, _BankQuestion]

    @property
    def topic(self) -> str:
        return self.query_id

    @property
    def asked(self) -> dict[str, Asked]:
        asked: dict[str, Asked] = {}
        for words, nugget in self.nugget_bank.items():
            own = asked.setdefault((nugget.question or words).strip(), Asked())
            own.add(dict.fromkeys(nugget.answers or (), ()))
        return asked


_Answers = dict[Words, list[Name]]
_Listed = Annotated[tuple[Something, _Answers], Field(strict=False)]


class _Tool(_Bank):
    """The annotation tool of HLTCOE: a file a topic, which only its name tells.

    A question that is there twice is one.
    """

    of: rows.TopicId
    nugget_dict: dict[Something, _Answers] = Field(default_factory=dict)
    nugget_list: list[_Listed] = Field(default_factory=list)
    group_assignment: dict[Words, Annotated[Words, Field(max_length=250)]] = Field(
        default_factory=dict
    )

    @property
    def topic(self) -> str:
        return self.of

    @property
    def asked(self) -> dict[str, Asked]:
        asked: dict[str, Asked] = {}
        for question, answers in [*self.nugget_dict.items(), *self.nugget_list]:
            group = self.group_assignment.get(question, "")
            asked.setdefault(question.strip(), Asked(group)).add(answers)
        return asked


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if file.ends(".json") and (name := _OF_A_TOPIC.fullmatch(file.name)):
        yield from _banks(file, _Tool, values=partial(_whole, name["topic"]))
    elif file.ends(".jsonl"):
        if {"qid", "nuggets"} <= file.keys:
            yield from _nuggets(file)
        elif {"qid", "rubrics"} <= file.keys:
            yield from _banks(file, _Criteria)
        elif {"id", "nuggets"} <= file.keys:
            yield from _banks(file, _Pairs)
        elif {"query_id", "nugget_bank"} <= file.keys:
            yield from _banks(file, _NuggetBank)


def _banks(file: File, shape: type[_Bank], **more: Any) -> Iterator[Source]:
    """Nuggets, and their answers as ratings of nobody in particular."""
    fields = {"id": "topic", "subquestions": "nuggets"}
    yield file.source(Kind.SUBQUESTIONS, Translation(shape, _questions, fields=fields, **more))
    yield file.source(Kind.TOPICS, Translation(shape, _topic, **more), again=True)
    yield file.source(Kind.RATINGS, Translation(shape, _answers, **more), again=True)


def _nuggets(file: File) -> Iterator[Source]:
    """Nuggets with their weights; of nuggetizer also topics, reports, and who says what these support.

    What nuggetizer wrote has the query with it, and weights by whom the file is called after. Other files
    are of the track's assessors.
    """
    rater = (file.rater, _kind(file))
    by = rater if "query" in file.keys else (ASSESSOR, HUMAN)

    def of(into: Any, **fields: str) -> Translation:
        return Translation(_Nuggets, into, fields=fields)

    yield file.source(Kind.SUBQUESTIONS, of(_questions, id="qid", subquestions="nuggets"))
    yield file.source(Kind.RATINGS, of(partial(_weights, by)), again=True)
    yield file.source(Kind.TOPICS, of(_topic, id="qid", request="query"), again=True)
    # Nuggets of one topic may have been assigned and those of another not yet, so that keys tell nothing.
    report = of(_report, topic="qid", system="run_id", body="answer_text")
    yield file.source(Kind.CITED, report, again=True)
    passage = of(_passage, id="docid", contents="candidate_text")
    yield file.source(Kind.PASSAGES, passage, again=True)
    supports = of(partial(_supports, rater), text="docid or run_id", question="nuggets")
    yield file.source(Kind.RATINGS, supports, again=True)


def _told_apart(nuggets: Iterable[str]) -> Iterator[str]:
    """The words of each nugget. One that is there again counts again, and has its number behind it."""
    n_of = Counter[str]()
    given: set[str] = set()
    for words in map(str.strip, nuggets):
        own = words
        while not n_of[words] or own in given:  # another may have these words and this number
            n_of[words] += 1
            own = words if n_of[words] == 1 else f"{words} ({n_of[words]})"
        given.add(own)
        yield own


def _kind(file: File) -> str:
    return HUMAN if any(word in file.base for word in _OF_PEOPLE) else MODEL


def _whole(topic: str, path: Path) -> Iterator[tuple[int, Any]]:
    """A file which is one JSON object, on however many lines. Raises OSError and ValueError."""
    try:
        value = DECODER.decode(path.read_bytes().decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("is no JSON object")
    yield 1, {**value, "of": topic}


def _topic(row: _Bank) -> Iterator[TopicRow]:
    """The topic, without its request where no query tells it: a file of topics does."""
    yield rows.topic(row.topic, row.query or "")


def _questions(row: _Bank) -> Iterator[SubQuestionsRow]:
    asked = row.asked
    groups = [nugget.group for nugget in asked.values()]
    if asked:
        yield SubQuestionsRow.model_construct(
            id=row.topic, subquestions=list(asked), groups=groups if any(groups) else []
        )


def _report(row: _Nuggets) -> Iterator[CitedRow]:
    """An empty answer is a report too: it supports nothing."""
    if row.run_id and row.answer_text is not None:
        body = row.answer_text
        yield CitedRow.model_construct(topic=row.qid, system=row.run_id, body=body, statements=[])


def _passage(row: _Nuggets) -> Iterator[PassageRow]:
    """The passage with its words, if the file has them; else the ratings name it."""
    if row.passage and row.candidate_text is not None:
        yield rows.passage(row.passage, "", row.candidate_text)


def _weights(by: tuple[str, str], row: _Nuggets) -> Iterator[RatingRow]:
    for words, nugget in row.told_apart:
        if nugget.importance is not None:
            grade = IMPORTANCE.get(nugget.importance)
            yield _rating(by, "importance", row.qid, words, grade=grade)


def _supports(by: tuple[str, str], row: _Nuggets) -> Iterator[RatingRow | Told]:
    if row.passage:
        of = {"text_kind": "passage", "system": "", "text": row.passage}
    elif row.run_id:
        of = {"text_kind": "report", "system": row.run_id, "text": row.qid}
    else:
        yield from (Told(OF_NO_RUN) for nugget in row.nuggets if nugget.assignment is not None)
        return
    for words, nugget in row.told_apart:
        if nugget.assignment is not None:
            grade = SUPPORT.get(nugget.assignment)
            yield _rating(by, "nugget-support", row.qid, words, grade=grade, **of)


def _answers(row: _Bank) -> Iterator[RatingRow]:
    """All answers of a nugget as words of the topic, and of each text those that it gives."""
    for question, nugget in row.asked.items():
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
    given: Mapping[str, Any] = {"text": OF_TOPIC.format(topic), "spans": []} | more
    return RatingRow.model_construct(
        rater=rater, rater_kind=kind, rubric=rubric, topic=topic, question=question, **given
    )
