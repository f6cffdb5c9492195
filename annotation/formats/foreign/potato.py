"""Potato: its export as JSON lines, each the answers of one user to one instance, which is a pair.

A grade is the label that was chosen in the scheme of its rubric, a span one whose name is the rubric. Lines of
models and baselines have an `annotator_origin`. Places are code points; the words tell where they are not.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, ConfigDict, Field

from annotation.formats.foreign.tools import (
    BASELINE,
    HUMAN,
    MODEL,
    SPANS,
    WORDS,
    Answers,
    Grading,
    Pair,
    PairName,
    WordsText,
    grade_of,
    placed,
    reader,
    words_of,
)
from annotation.formats.records import Name, RatingRow, Row, Something, SpanRow, Words
from annotation.formats.summary import Mapped
from annotation.formats.translation import Told

_KINDS = {HUMAN: "human", MODEL: "llm", BASELINE: "tool"}
_OURS = {theirs: ours for ours, theirs in _KINDS.items()}
_BOX = "text_box"
_NOT_CHOSEN = (None, False, "", "false")


class _Origin(Row):
    kind: Words = HUMAN


class _Span(Row):
    """`label` is what some versions call `name`."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    name: Name = Field(validation_alias=AliasChoices("name", "label"))
    text: Words = ""


def _chosen(labels: dict[str, Any]) -> int | None:
    """The grade that is chosen: by its label, or by the value of a scale. None for typed words."""
    if set(labels) == {_BOX}:
        return None
    chosen = [(label, value) for label, value in labels.items() if value not in _NOT_CHOSEN]
    if len(chosen) != 1:
        raise ValueError("must have one label that is chosen")
    label, value = chosen[0]
    try:
        return grade_of(label)
    except ValueError:
        return grade_of(value)


class _Typed(Row):
    text: WordsText = Field(default="", validation_alias=_BOX)


class _Labels(Row):
    """Answers by their schemes: all but one are rubrics."""

    model_config = ConfigDict(extra="allow")

    words: _Typed = Field(default=_Typed(), validation_alias=WORDS)
    __pydantic_extra__: dict[str, Annotated[dict[str, Any], AfterValidator(_chosen)]] = Field(
        init=False
    )


class _Record(Row):
    instance_id: PairName
    user_id: Something
    annotator_origin: _Origin = _Origin()
    labels: _Labels = _Labels()
    spans: dict[str, list[_Span]] = {}


def _into(record: _Record) -> Iterator[RatingRow | Told]:
    answers: dict[str, int | None] = record.labels.__pydantic_extra__ or {}  # type: ignore[assignment]
    spans: dict[str, list[SpanRow]] = defaultdict(list)
    for span in chain.from_iterable(record.spans.values()):
        row = SpanRow.model_construct(start=span.start, end=span.end, quote=span.text)
        spans[span.name].append(row)
    yield from [Told(Mapped.NO_GRADES)] * list(answers.values()).count(None)
    yield from Answers(
        pair=record.instance_id,
        rater=record.user_id,
        kind=_OURS.get(record.annotator_origin.kind, MODEL),
        grades={rubric: grade for rubric, grade in answers.items() if grade is not None},
        spans=spans,
        words=record.labels.words.text,
    ).rows()


_NAMES = {
    "rater": "user_id",
    "rater_kind": "annotator_origin",
    "rubric": "labels",
    "grade": "labels",
    "spans": "spans",
}
sources = reader(_Record, _into, _NAMES, pair="instance_id")


def records(pair: Pair) -> Iterator[dict[str, Any]]:
    """A record for each rater of the pair."""
    for people in (True, False):
        for name, gradings in pair.by_rater(people=people).items():
            yield _record(pair, name, gradings)


def _record(pair: Pair, rater: str, gradings: Sequence[Grading]) -> dict[str, Any]:
    labels = {each.rubric: {str(each.grade): str(each.grade)} for each in gradings}
    words = words_of(gradings)
    spans = [
        {
            "schema": SPANS,
            "name": grading.rubric,
            "title": grading.rubric,
            "start": span.start,
            "end": span.end,
            "text": span.quote,
        }
        for grading in gradings
        for span in placed(grading)
    ]
    return {
        "instance_id": pair.name,
        "user_id": rater,
        "annotator_origin": {"kind": _KINDS[gradings[0].kind]},
        "labels": labels | ({WORDS: {_BOX: words}} if words else {}),
        "spans": {SPANS: spans} if spans else {},
        "links": {},
    }
