"""ALCE: inputs, results and demonstrations (JSON), and human grades of utility.

Inputs are *.json [...], results {"args", "data": [...]}. An item of the first three is {"id",
"question", "qa_pairs" | "answers" | "claims", "answer", "docs", "output"}, a line of the grades
{"system", "id", "question", "output", "utility_score", "automatic_correctness_scores"}.
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

from annotation.formats.foreign import rows, streamed
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, Source
from annotation.formats.records import (
    CitedRow,
    DocumentRow,
    PassageRow,
    RatingRow,
    RepeatedText,
    Row,
    RunRow,
    SpanRow,
    StatementRow,
    StoredText,
    SubQuestionsRow,
    TopicRow,
    WholeNumber,
)
from annotation.formats.summary import Conversion
from annotation.formats.translation import Counted, Translation
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
    title: StoredText | None = ""
    text: StoredText


class _QaPair(Row):
    question: StoredText
    short_answers: list[StoredText] = Field(default_factory=list)


class _Item(Row):
    """An item of a file.

    An input has no `output`. Nor has a demonstration, whose text is `answer`: it has no gold.
    """

    own_id: rows.TopicId | None = Field(None, validation_alias=AliasChoices("id", "sample_id"))
    question: StoredText
    qa_pairs: list[_QaPair] | None = None
    answers: list[list[StoredText]] | None = None
    claims: list[StoredText] | None = None
    answer: StoredText | None = None
    docs: list[_Doc] = Field(default_factory=list)
    output: StoredText | None = None

    @property
    def id(self) -> str:
        """Return the item's id, or a name made from its question.

        So all files have the question under the same name.
        """
        return self.own_id or f"q-{_hash(self.question)}"

    @property
    def is_demonstration(self) -> bool:
        return self.output is None and not (self.qa_pairs or self.answers or self.claims)

    @property
    def names(self) -> list[str]:
        """Return the names of its documents: ids, else the topic's name and a hash of the text.

        Another system may retrieve the same text. Duplicates are numbered, as their citations are.
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
        """Return the output as ALCE reads it: the first line, without an end token.

        None for an input.
        """
        output = self.answer if self.is_demonstration else self.output
        return output and output.strip().split("\n")[0].replace("<|im_end|>", "")


def _hash(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]


class _Graded(Row):
    """A line of grades.

    Lines with the results of a whole system (`key`, `overall`) are no items.
    """

    system: RepeatedText = ""
    key: StoredText | None = None
    id: rows.TopicId | None = None
    question: StoredText | None = None
    output: StoredText | None = None
    utility_score: WholeNumber | None = None
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
            yield from _results(file, partial(streamed.items, names=ARRAYS, allows_nan=True))
    elif file.ends(".jsonl") and file.keys & {"utility_score", "overall"}:
        yield from _grades(file)
    elif file.ends(".jsonl") and {"question", "docs"} <= file.keys:
        yield from _results(file)


def _has_items(file: File) -> bool:
    """Return whether the beginning of a JSON file looks like a list of items."""
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
    """Yield the distinct questions of the pairs, the gold answers with aliases, or the claims."""
    if row.qa_pairs:
        questions = list(_answers(row))
    elif row.answers:
        questions = ["\n".join(_cleaned(aliases)) for aliases in row.answers]
    elif row.claims:
        questions = row.claims
    elif is_list and row.is_demonstration:  # what it answers is its gold
        questions = _listed(row.written or "")
    else:
        questions = []
    if cleaned := _cleaned(questions, keeps_lines=True):
        yield SubQuestionsRow.model_construct(id=row.id, subquestions=cleaned, filtered={})


def _cleaned(strings: Iterable[str], *, keeps_lines: bool = False) -> list[str]:
    """Return distinct, stripped, non-empty strings in order."""
    plain = (string.strip() if keeps_lines else " ".join(string.split()) for string in strings)
    return list(dict.fromkeys(string for string in plain if string))


def _answers(row: _Item) -> dict[str, list[str]]:
    """Return the gold answers by question; those of a repeated question are merged."""
    answers: dict[str, list[str]] = {}
    for pair in row.qa_pairs or ():
        if question := pair.question.strip():
            answers.setdefault(question, []).extend(pair.short_answers)
    return {question: _cleaned(aliases) for question, aliases in answers.items()}


def _passages(row: _Item) -> Iterator[PassageRow]:
    for name, doc in zip(row.names, row.docs, strict=True):
        yield rows.passage(name, doc.title, doc.text)


def _reference(is_list: bool, row: _Item) -> Iterator[DocumentRow]:
    """Yield the long answer as the reference, where it is not the output."""
    if row.answer and row.answer.strip() and not (is_list or row.is_demonstration):
        yield DocumentRow.model_construct(id=row.id, contents=row.answer)


def _ranked(system: str, row: _Item) -> Iterator[RunRow]:
    for rank, name in enumerate(dict.fromkeys(row.names), 1):
        yield RunRow.model_construct(line=f"{row.id} Q0 {name} {rank} {1 / rank!r} {system}")


def _report(system: str, is_list: bool, row: _Item) -> Iterator[CitedRow | Counted]:
    """Yield the text without citation marks, as ALCE scores it.

    A mark belongs to the part of the text that it is in.
    """
    raw = row.written
    if raw is None:
        return
    body, offset_of = _without_marks(raw)
    names = row.names
    statements = []
    for start, end in _parts(raw, is_list):
        inside = body[offset_of(start) : offset_of(end)]
        statement = inside.strip()
        if statement:
            at = offset_of(start) + inside.index(statement)
            cited = tuple(_cited(raw[start:end], names))
            yield from (Counted(Conversion.CITES_NOTHING) for _, name in cited if name is None)
            statements.append(
                StatementRow.model_construct(start=at, end=at + len(statement), cited=cited)
            )
    yield CitedRow.model_construct(topic=row.id, system=system, body=body, statements=statements)


def _without_marks(raw: str) -> tuple[str, Any]:
    """Return the text without marks, and a function that maps offsets of the raw text."""
    offsets: list[int] = []
    last = 0
    for mark in _MARKS.finditer(raw):
        offsets += range(last, mark.start())
        last = mark.end()
    offsets += range(last, len(raw))
    return "".join(raw[offset] for offset in offsets), partial(bisect_left, offsets)


def _parts(raw: str, is_list: bool) -> list[tuple[int, int]]:
    """Return the spans of a list's items, separated by commas; else of the sentences."""
    if not is_list:
        return sentences(raw, 0, len(raw))
    length = len(raw.rstrip().rstrip(".").rstrip(","))
    commas = [at for at, sign in enumerate(raw[:length]) if sign == ","]
    return list(zip([0, *(at + 1 for at in commas)], [*commas, length], strict=True))


def _listed(raw: str) -> list[str]:
    """Return the distinct items of a list without citation marks, ignoring case."""
    body, offset_of = _without_marks(raw)
    first: dict[str, str] = {}
    for start, end in _parts(raw, True):
        part = body[offset_of(start) : offset_of(end)].strip()
        first.setdefault(part.casefold(), part)
    return list(first.values())


def _cited(part: str, names: list[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the citation labels of a part, also repeated ones, and the texts that they index.

    Numbers count from 1; the text is None beyond the last.
    """
    for label in _CITATION.findall(part):
        number = int(label) if len(label) <= _DIGITS else 0  # Python reads no number of any length
        yield label, names[number - 1] if 0 < number <= len(names) else None


def _gold(row: _Item) -> Iterator[RatingRow]:
    """Yield the short answers of a question as spans of the long answer."""
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
                spans=[SpanRow.model_construct(quote=answer) for answer in answers],
            )


def _items(row: _Graded) -> Iterator[_Graded]:
    if row.key is None:
        yield row


def _graded_topic(row: _Graded) -> Iterator[TopicRow]:
    for item in _items(row):
        yield rows.topic(item.id or "", item.question or "")


def _graded_questions(row: _Graded) -> Iterator[SubQuestionsRow]:
    """Yield the question itself, and an empty one for each answer checked but not stated."""
    for item in _items(row):
        unstated = [""] * len(item.automatic_correctness_scores)
        yield SubQuestionsRow.model_construct(
            id=item.id, subquestions=[item.question, *unstated], filtered={}
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
        for index, score in enumerate(item.automatic_correctness_scores, 1):
            yield report(
                rater=AUTOMATIC,
                rater_kind="model",
                rubric="answerable",
                question_index=index,
                grade=score,
            )
