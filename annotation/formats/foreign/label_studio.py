"""Label Studio: tasks, each a pair. People's grades are annotations, those of models and baselines predictions.

A grade is one of `choices` under its rubric's name, a span one of `labels` whose label is the rubric. Places
are code points, as Label Studio counts them since 1.4; the words tell where an older one counted in UTF-16.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from annotation.formats.foreign.tools import (
    BASELINE,
    HUMAN,
    MODEL,
    SPANS,
    WORDS,
    Answers,
    Grade,
    Grading,
    Pair,
    PairName,
    WordsText,
    placed,
    reader,
    words_of,
)
from annotation.formats.records import Name, RatingRow, Row, Something, SpanRow, Words
from annotation.formats.summary import Mapped
from annotation.formats.translation import Told

_GRADES = ("choices", "rating", "number")
_NEEDS = {kind: (kind,) for kind in _GRADES} | {
    "labels": ("labels", "start", "end"),
    "textarea": ("text",),
}


class _Value(Row):
    choices: Annotated[list[Grade], Field(min_length=1, max_length=1)] | None = None
    rating: Grade | None = None
    number: Grade | None = None
    labels: Annotated[list[Name], Field(min_length=1)] | None = None
    start: Annotated[int, Field(ge=0)] | None = None
    end: Annotated[int, Field(ge=0)] | None = None
    text: Words | list[WordsText] | None = None


class _Result(Row):
    """One thing that was said; of what is no grade, no span and no words of ours, the kind alone."""

    type: Words
    from_name: Words = ""
    value: _Value = _Value()

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: Any) -> Any:
        kind = data.get("type") if isinstance(data, dict) else None
        if not isinstance(kind, str):
            return data
        ours = kind in _NEEDS and (kind != "textarea" or data.get("from_name") == WORDS)
        return data if ours else {"type": "other"}

    @model_validator(mode="after")
    def _whole(self) -> "_Result":
        for name in _NEEDS.get(self.type, ()):
            if getattr(self.value, name) is None:
                raise ValueError(f"{self.type} without {name}")
        return self

    @property
    def grade(self) -> int:
        value = getattr(self.value, self.type)
        return value[0] if self.type == "choices" else value

    def span(self, body: str) -> SpanRow:
        """Line ends within its words are written as a backslash and an n by Label Studio itself."""
        start, end = self.value.start or 0, self.value.end or 0
        words = self.value.text if isinstance(self.value.text, str) else ""
        if words != body[start:end]:
            words = words.replace("\\n", "\n")
        return SpanRow.model_construct(start=start, end=end, quote=words)


def _as_account(value: Any) -> Any:
    return {"id": value} if isinstance(value, int | str) else value


class _Account(Row):
    id: int | Words = ""
    email: Words = ""


class _Annotation(Row):
    completed_by: Annotated[_Account, BeforeValidator(_as_account)]
    result: list[_Result]
    was_cancelled: bool = False


class _Prediction(Row):
    model_version: Something
    result: list[_Result]


class _Data(Row):
    pair: PairName
    question: Words | None = None
    text: Words = ""


class _Meta(Row):
    baselines: list[Words] = []


class _Task(Row):
    data: _Data
    meta: _Meta = _Meta()
    annotations: list[_Annotation] = []
    predictions: list[_Prediction] = []


def _into(row: _Task) -> Iterator[RatingRow | Told]:
    for annotation in row.annotations:
        if annotation.was_cancelled:
            yield Told(Mapped.NOT_HANDED_IN)
            continue
        account = annotation.completed_by
        yield from _answers(row, str(account.email or account.id), HUMAN, annotation.result)
    for prediction in row.predictions:
        name = prediction.model_version
        kind = BASELINE if name in row.meta.baselines else MODEL
        yield from _answers(row, name, kind, prediction.result)


def _answers(
    row: _Task, rater: str, kind: str, results: Sequence[_Result]
) -> Iterator[RatingRow | Told]:
    spans: dict[str, list[SpanRow]] = defaultdict(list)
    words = ""
    for result in results:
        if result.type == "labels":
            for rubric in result.value.labels or ():
                spans[rubric].append(result.span(row.data.text))
        elif result.type == "textarea" and result.value.text:
            words = result.value.text[0]
        elif result.type == "other":
            yield Told(Mapped.NO_GRADES)
    yield from Answers(
        pair=row.data.pair,
        rater=rater,
        kind=kind,
        grades={result.from_name: result.grade for result in results if result.type in _GRADES},
        spans=spans,
        words=words,
        question=row.data.question,
    ).rows()


_NAMES = {
    "rater": "completed_by or model_version",
    "rater_kind": "completed_by or model_version",
    "rubric": "from_name",
    "grade": "value",
    "question": "data.question",
    "spans": "value",
}
sources = reader(_Task, _into, _NAMES, pair="data.pair")


def task(pair: Pair) -> dict[str, Any]:
    """The pair as a task with all its grades."""
    data = {
        "pair": pair.name,
        "topic": pair.topic,
        "question": pair.question,
        "text": pair.body or "",
    }
    people, others = pair.by_rater(people=True), pair.by_rater(people=False)
    return {
        "data": data,
        "meta": {"baselines": pair.baselines},
        "annotations": [
            {"completed_by": {"email": name}, "result": _results(gradings)}
            for name, gradings in people.items()
        ],
        "predictions": [
            {"model_version": name, "result": _results(gradings)}
            for name, gradings in others.items()
        ],
    }


def _results(gradings: Sequence[Grading]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []

    def add(kind: str, name: str, value: dict[str, Any]) -> None:
        number = f"r{len(results)}"
        about = {"id": number, "type": kind, "from_name": name, "to_name": "text"}
        results.append(about | {"value": value})

    for grading in gradings:
        add("choices", grading.rubric, {"choices": [str(grading.grade)]})
        for span in placed(grading):
            place = {"start": span.start, "end": span.end, "text": span.quote}
            add("labels", SPANS, place | {"labels": [grading.rubric]})
    if words := words_of(gradings):
        add("textarea", WORDS, {"text": [words]})
    return results
