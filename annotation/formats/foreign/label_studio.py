"""Label Studio: tasks, each a pair. People's grades are annotations, those of models and baselines predictions.

A grade is one of `choices` under its rubric's name, a span one of `labels` whose label is the rubric. Places
are code points, as Label Studio counts them since 1.4; the words tell where an older one counted in UTF-16.

It takes an annotation of nobody whom it knows for the work of the account that imports, and refuses names that
are no account's. So an annotation goes to it with a number, which it keeps, and the task says whose that is.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

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
    id_of,
    lists_of,
    placed,
    reader,
    words_of,
)
from annotation.formats.left_out import Part
from annotation.formats.records import Name, RatingRow, Row, Something, SpanRow, Whole, Words
from annotation.formats.summary import Mapped
from annotation.formats.translation import Told

_RATERS = uuid.UUID("a2c6da9f-112b-469c-adff-4cdae412a38c")
_BITS = 48  # of a rater's number: few enough for JavaScript, and too many for a number of theirs
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
    start: Annotated[Whole, Field(ge=0)] | None = None
    end: Annotated[Whole, Field(ge=0)] | None = None
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


def _graded_once(results: list[_Result]) -> list[_Result]:
    rubrics = [result.from_name for result in results if result.type in _GRADES]
    if twice := {rubric for rubric in rubrics if rubrics.count(rubric) > 1}:
        raise ValueError(f"has several grades under {min(twice)}")
    return results


_Results = Annotated[list[_Result], AfterValidator(_graded_once)]


def _as_account(value: Any) -> Any:
    return {"id": value} if isinstance(value, int | str) else value


class _Account(Row):
    id: int | Words = ""
    email: Words = ""


class _Annotation(Row):
    """Ours has an `id` and no account; Label Studio's has an account, and our `id` as its `import_id`."""

    id: int | Words = ""
    import_id: int | None = None
    completed_by: Annotated[_Account, BeforeValidator(_as_account)] | None = None
    result: _Results
    was_cancelled: bool = False

    @property
    def number(self) -> str:
        """By which the task may know the rater. An account that was deleted is none."""
        ours = self.import_id is None and self.completed_by is None
        return str(self.id if ours else self.import_id)

    @property
    def account(self) -> str:
        return str(self.completed_by.email or self.completed_by.id) if self.completed_by else ""


class _Prediction(Row):
    model_version: Something
    result: _Results


def _unless_number(value: Any) -> Any:
    return None if isinstance(value, int) else value


class _Data(Row):
    pair: PairName
    question: Words | None = None
    text: Words = ""


class _Meta(Row):
    baselines: list[Words] = []
    raters: dict[str, Words] = {}  # by the numbers of their annotations


class _Task(Row):
    data: _Data
    meta: _Meta = _Meta()
    annotations: list[_Annotation] = []
    drafts: list[Any] = []
    # None: its number, which is all that Label Studio's plain export has of one.
    predictions: list[Annotated[_Prediction | None, BeforeValidator(_unless_number)]] = []

    def rater(self, annotation: _Annotation) -> str:
        """The rater as whose work it was sent; else the account."""
        return self.meta.raters.get(annotation.number) or annotation.account


def _parts(task: dict[str, Any]) -> Iterator[Part]:
    """Each annotation and each prediction as a task with it alone. Drafts go with the first."""
    whole = {name: value for name, value in task.items() if value is not None}
    number = id_of(task.get("id"))
    if not lists_of(whole, "annotations", "predictions", "drafts"):
        yield Part(whole, number)
        return
    rest = whole | {"annotations": [], "predictions": []}
    drafts = rest.pop("drafts", [])
    answers = [
        (name, each) for name in ("annotations", "predictions") for each in whole.get(name, ())
    ]
    if drafts or not answers:
        yield Part(rest | {"drafts": drafts}, number)
    for name, each in answers:
        about = each if isinstance(each, dict) else {}
        by = about.get("completed_by") if name == "annotations" else about.get("model_version")
        if isinstance(by, dict):
            by = by.get("email") or by.get("id")
        time = id_of(about.get("updated_at") or about.get("created_at"))
        yield Part(rest | {name: [each]}, number, id_of(about.get("id")), id_of(by), time)


def _into(row: _Task) -> Iterator[RatingRow | Told]:
    yield from [Told(Mapped.NOT_HANDED_IN)] * len(row.drafts)
    for annotation in row.annotations:
        if annotation.was_cancelled:
            yield Told(Mapped.NOT_HANDED_IN)
            continue
        rater = row.rater(annotation)
        if not rater:
            yield Told(Mapped.NO_ACCOUNT)
            continue
        yield from _answers(row, rater, HUMAN, annotation.result)
    for prediction in row.predictions:
        if prediction is None:
            yield Told(Mapped.NUMBER_ALONE)
            continue
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
sources = reader(_Task, _into, _NAMES, pair="data.pair", parts=_parts)


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
        "meta": {
            "baselines": pair.baselines,
            "raters": {str(_number(name)): name for name in people},
        },
        "annotations": [
            {"id": _number(name), "result": _results(gradings)} for name, gradings in people.items()
        ],
        "predictions": [
            {"model_version": name, "result": _results(gradings)}
            for name, gradings in others.items()
        ],
    }


def _number(rater: str) -> int:
    """Always the same, and no number that Label Studio gives itself: those begin at 1."""
    return uuid.uuid5(_RATERS, rater).int >> (128 - _BITS)


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
