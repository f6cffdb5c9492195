"""ALCE: inputs *.json [...], results {"args", "data": [...]}, demonstrations, and people's grades of utility.

An item of the first three is {"id", "question", "qa_pairs" | "answers" | "claims", "answer", "docs", "output"},
a line of the grades {"system", "id", "question", "output", "utility_score", "automatic_correctness_scores"}.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Annotated, Any

from pydantic import AliasChoices, Field, model_validator

from annotation.formats.foreign import rows
from annotation.formats.foreign.arrays import objects
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import (
    CitedRow,
    DocumentRow,
    PassageRow,
    RatingRow,
    Row,
    RunRow,
    SpanRow,
    StatementRow,
    SubQuestionsRow,
    TopicRow,
    Whole,
    Word,
    Words,
)
from annotation.formats.translation import Translation
from annotation.text.spans import sentences

ARRAYS = ("data", "demos")
GOLD = "gold"
PERSON, AUTOMATIC = "utility-annotator", "automatic-correctness"
_HEAD = 2**16  # bytes
_KEYS = (b'"args"', *(f'"{key}"'.encode() for key in ARRAYS))
_RESULT = re.compile(r"\.json(\.rerank)?$")
_DIGITS = 9  # of the number of a document
_CITATION = re.compile(r"\[(\d+)")
_MARKS = re.compile(r" \[\d+|\[\d+| \||\]")  # what ALCE's remove_citations takes out


class _Doc(Row):
    id: rows.Id | None = None
    title: Words | None = ""
    text: Words


class _QaPair(Row):
    question: Words
    short_answers: list[Words] = Field(default_factory=list)


class _Item(Row):
    """An input has no `output`. Nor has a demonstration, whose text is `answer`: it has no gold."""

    own_id: rows.TopicId | None = Field(None, validation_alias=AliasChoices("id", "sample_id"))
    question: Words
    qa_pairs: list[_QaPair] | None = None
    answers: list[list[Words]] | None = None
    claims: list[Words] | None = None
    answer: Words | None = None
    docs: list[_Doc] = Field(default_factory=list)
    output: Words | None = None

    @property
    def id(self) -> str:
        """Without one a name for its question, so that all files have it under the same."""
        return self.own_id or f"q-{_hash(self.question)}"

    @property
    def is_demonstration(self) -> bool:
        return self.output is None and not (self.qa_pairs or self.answers or self.claims)

    @property
    def names(self) -> list[str]:
        """Of its documents: their ids; without one the topic's name and the hash of its words.

        Another system may get the same words. What is there twice is told apart, as its marks do.
        """
        n = Counter[str]()
        names = []
        for doc in self.docs:
            name = doc.id or f"{self.id}:{_hash(rows.with_title(doc.title or '', doc.text))}"
            n[name] += 1
            names.append(name if doc.id or n[name] == 1 else f"{name}.{n[name]}")
        return names

    @property
    def written(self) -> str | None:
        """What was put out, as ALCE reads it: the first line, without a mark of its end. None for an input."""
        words = self.answer if self.is_demonstration else self.output
        return words and words.strip().split("\n")[0].replace("<|im_end|>", "")


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()[:12]


class _Graded(Row):
    """Lines with the results of a whole system (`key`, `overall`) are no items."""

    system: Word = ""
    key: Words | None = None
    id: rows.TopicId | None = None
    question: Words | None = None
    output: Words | None = None
    utility_score: Whole | None = None
    automatic_correctness_scores: list[Annotated[int, Field(ge=0, le=1, strict=False)]] = Field(
        default_factory=list
    )

    @model_validator(mode="after")
    def _whole(self) -> _Graded:
        for name in ("system", "id", "question"):
            if self.key is None and not getattr(self, name):
                raise ValueError(f"{name} is missing")
        if self.key is None and self.output is None:  # an empty one is there
            raise ValueError("output is missing")
        return self


def sources(file: File, folder: Folder) -> Iterator[Source]:
    if _RESULT.search(file.base.removesuffix(".gz")):
        if _has_items(file):
            yield from _results(file, partial(objects, keys=ARRAYS))
    elif file.ends(".jsonl") and file.keys & {"utility_score", "overall"}:
        yield from _grades(file)
    elif file.ends(".jsonl") and {"question", "docs"} <= file.keys:
        yield from _results(file)


def _has_items(file: File) -> bool:
    """By its beginning: other JSON files of a folder are none of these."""
    try:
        with gzip.open(file.path) if file.path.suffix == ".gz" else file.path.open("rb") as opened:
            head = opened.read(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n")
    except (OSError, EOFError, zlib.error):
        return True  # is told when the file is read
    return head.startswith(b"[") or any(key in head for key in _KEYS)


def _results(file: File, values: Any = None) -> Iterator[Source]:
    is_list = "qampari" in file.base  # as ALCE's eval.py tells
    system = re.sub(r"\.json", "", file.stem)

    def of(into: Any, **fields: str) -> Translation:
        return Translation(_Item, into, values=values, fields={"request": "question"} | fields)

    yield file.source(Kind.TOPICS, of(_topic))
    questions = of(partial(_questions, is_list), subquestions="answers")
    yield file.source(Kind.SUBQUESTIONS, questions, again=True)
    yield file.source(Kind.PASSAGES, of(_passages, contents="docs"), again=True)
    yield file.source(
        Kind.REFERENCES, of(partial(_reference, is_list), contents="answer"), again=True
    )
    cited = of(partial(_report, system, is_list), topic="id", body="output")
    yield file.source(Kind.CITED, cited, again=True)
    run = of(partial(_ranked, system), text="docs")
    yield file.source(Kind.RUN, run, system=system, again=True)
    yield file.source(Kind.RATINGS, of(_gold, spans="qa_pairs"), again=True)


def _grades(file: File) -> Iterator[Source]:
    def of(into: Any, **fields: str) -> Translation:
        return Translation(_Graded, into, fields={"request": "question"} | fields)

    yield file.source(Kind.TOPICS, of(_graded_topic))
    questions = of(_graded_questions, subquestions="automatic_correctness_scores")
    yield file.source(Kind.SUBQUESTIONS, questions, again=True)
    cited = of(_graded_report, topic="id", body="output")
    yield file.source(Kind.CITED, cited, again=True)
    yield file.source(Kind.RATINGS, of(_grades_of, grade="utility_score"), again=True)


def _topic(row: _Item) -> Iterable[TopicRow]:
    return (rows.topic(row.id, row.question),)


def _questions(is_list: bool, row: _Item) -> Iterator[SubQuestionsRow]:
    """Each question of a pair once; each gold answer with its aliases, a line each; or each claim."""
    if row.qa_pairs:
        asked = list(_answers(row))
    elif row.answers:
        asked = ["\n".join(_cleaned(aliases)) for aliases in row.answers]
    elif row.claims:
        asked = row.claims
    elif is_list and row.is_demonstration:  # what it answers is its gold
        asked = _listed(row.written or "")
    else:
        asked = []
    if questions := _cleaned(asked, keeps_lines=True):
        yield SubQuestionsRow.model_construct(id=row.id, subquestions=questions, filtered={})


def _cleaned(words: Iterable[str], *, keeps_lines: bool = False) -> list[str]:
    """Each once, in their order, without white space around them; none that are empty."""
    plain = (word.strip() if keeps_lines else " ".join(word.split()) for word in words)
    return list(dict.fromkeys(word for word in plain if word))


def _answers(row: _Item) -> dict[str, list[str]]:
    """The gold answers of each question of the pairs: those of a question that is there twice together."""
    answers: dict[str, list[str]] = {}
    for pair in row.qa_pairs or ():
        if question := pair.question.strip():
            answers.setdefault(question, []).extend(pair.short_answers)
    return {question: _cleaned(words) for question, words in answers.items()}


def _passages(row: _Item) -> Iterator[PassageRow]:
    for name, doc in zip(row.names, row.docs, strict=True):
        yield rows.passage(name, doc.title, doc.text)


def _reference(is_list: bool, row: _Item) -> Iterator[DocumentRow]:
    """The long answer, where it is not what was put out."""
    if row.answer and row.answer.strip() and not (is_list or row.is_demonstration):
        yield DocumentRow.model_construct(id=row.id, contents=row.answer)


def _ranked(system: str, row: _Item) -> Iterator[RunRow]:
    for rank, name in enumerate(dict.fromkeys(row.names), 1):
        yield RunRow.model_construct(line=f"{row.id} Q0 {name} {rank} {1 / rank!r} {system}")


def _report(system: str, is_list: bool, row: _Item) -> Iterator[CitedRow]:
    """The text without its marks, as ALCE scores it; a mark is of the part of the text that it stands in."""
    raw = row.written
    if raw is None:
        return
    body, place_of = _without_marks(raw)
    names = row.names
    statements = []
    for start, end in _parts(raw, is_list):
        inside = body[place_of(start) : place_of(end)]
        words = inside.strip()
        if words:
            at = place_of(start) + inside.index(words)
            cited = tuple(_cited(raw[start:end], names))
            statements.append(
                StatementRow.model_construct(start=at, end=at + len(words), cited=cited)
            )
    yield CitedRow.model_construct(topic=row.id, system=system, body=body, statements=statements)


def _without_marks(raw: str) -> tuple[str, Any]:
    """The text that is left, and where a place of the raw one is in it."""
    kept: list[int] = []
    last = 0
    for mark in _MARKS.finditer(raw):
        kept += range(last, mark.start())
        last = mark.end()
    kept += range(last, len(raw))
    return "".join(raw[place] for place in kept), partial(bisect_left, kept)


def _parts(raw: str, is_list: bool) -> list[tuple[int, int]]:
    """The answers of a list, parted by commas; else the sentences."""
    if not is_list:
        return sentences(raw, 0, len(raw))
    length = len(raw.rstrip().rstrip(".").rstrip(","))
    commas = [at for at, sign in enumerate(raw[:length]) if sign == ","]
    return list(zip([0, *(at + 1 for at in commas)], [*commas, length], strict=True))


def _listed(raw: str) -> list[str]:
    """The answers of a list without their marks, each once, whatever its case."""
    body, place_of = _without_marks(raw)
    first: dict[str, str] = {}
    for start, end in _parts(raw, True):
        part = body[place_of(start) : place_of(end)].strip()
        first.setdefault(part.casefold(), part)
    return list(first.values())


def _cited(part: str, names: list[str]) -> Iterator[tuple[str, str | None]]:
    """The marks as they are written, repeats too, and the text of each, from 1; None beyond the last."""
    for label in _CITATION.findall(part):
        number = int(label) if len(label) <= _DIGITS else 0  # Python reads no number of any length
        yield label, names[number - 1] if 0 < number <= len(names) else None


def _gold(row: _Item) -> Iterator[RatingRow]:
    """The short answers of a question, as words that the long answer holds or not."""
    if not list(_reference(False, row)):
        return
    for question, answers in _answers(row).items():
        if answers:
            yield RatingRow.model_construct(
                rater=GOLD,
                rater_kind="human",
                rubric="answered",
                text_kind="reference",
                text=f"{row.id}:report",
                question=question,
                grade=1,
                spans=[SpanRow.model_construct(quote=words) for words in answers],
            )


def _items(row: _Graded) -> Iterator[_Graded]:
    if row.key is None:
        yield row


def _graded_topic(row: _Graded) -> Iterator[TopicRow]:
    for item in _items(row):
        yield rows.topic(item.id or "", item.question or "")


def _graded_questions(row: _Graded) -> Iterator[SubQuestionsRow]:
    """The question itself, and a place without words for each answer that was looked for, untold."""
    for item in _items(row):
        places = [""] * len(item.automatic_correctness_scores)
        yield SubQuestionsRow.model_construct(
            id=item.id, subquestions=[item.question, *places], filtered={}
        )


def _graded_report(row: _Graded) -> Iterator[CitedRow]:
    for item in _items(row):
        yield CitedRow.model_construct(
            topic=item.id, system=item.system, body=item.output, statements=[]
        )


def _grades_of(row: _Graded) -> Iterator[RatingRow]:
    for item in _items(row):
        report = partial(
            RatingRow.model_construct, text_kind="report", system=item.system, text=item.id
        )
        if item.utility_score is not None:
            yield report(
                rater=PERSON,
                rater_kind="human",
                rubric="utility",
                question_index=0,
                grade=item.utility_score,
            )
        for place, score in enumerate(item.automatic_correctness_scores, 1):
            yield report(
                rater=AUTOMATIC,
                rater_kind="model",
                rubric="answerable",
                question_index=place,
                grade=score,
            )
