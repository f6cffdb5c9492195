"""Label Studio: tasks, each a pair, with annotations of people and predictions of models.

Baselines are predictions, too. A grade is one of `choices` under its rubric's name, a span one of
`labels` whose label is the rubric. Offsets are code points, as Label Studio counts them since 1.4;
the quote identifies an older file that counts UTF-16 units.

Label Studio attributes an annotation of an unknown user to the account that imports, and refuses
names that are no account's. So the export gives an annotation a number, which Label Studio keeps,
and the task maps the number to the rater.
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
    QUOTES,
    SPANS,
    Answers,
    Choice,
    Grade,
    GradeOrLabels,
    Grading,
    Pair,
    PairName,
    QuotesText,
    id_of,
    lists_of,
    located_spans,
    quotes_json,
    reader,
)
from annotation.formats.left_out_rows import Part
from annotation.formats.records import (
    Name,
    RatingRow,
    Row,
    SpanRow,
    StoredText,
    WholeNumber,
)
from annotation.formats.summary import Conversion
from annotation.formats.translation import Skipped

_RATERS = uuid.UUID("a2c6da9f-112b-469c-adff-4cdae412a38c")
_BITS = 48  # of a rater's number: few enough for JavaScript, and too many for a number of theirs
_GRADES = ("choices", "rating", "number")
_NEEDS = {kind: (kind,) for kind in _GRADES} | {
    "labels": ("labels", "start", "end"),
    "textarea": ("text",),
}


def _checked_choices(choices: list[GradeOrLabels]) -> list[GradeOrLabels]:
    if len(choices) > 1 and any(isinstance(choice, int) for choice in choices):
        raise ValueError("must be one grade, or labels of a multi-label rubric")
    return choices


class _Value(Row):
    choices: (
        Annotated[list[Choice], Field(min_length=1), AfterValidator(_checked_choices)] | None
    ) = None
    rating: Grade | None = None
    number: Grade | None = None
    labels: Annotated[list[Name], Field(min_length=1)] | None = None
    start: Annotated[WholeNumber, Field(ge=0)] | None = None
    end: Annotated[WholeNumber, Field(ge=0)] | None = None
    text: StoredText | list[QuotesText] | None = None


class _Result(Row):
    """A result of an annotation; of other types than grades, spans and quotes only the type."""

    type: StoredText
    from_name: StoredText = ""
    value: _Value = _Value()

    @model_validator(mode="before")
    @classmethod
    def _drop_other_values(cls, data: Any) -> Any:
        kind = data.get("type") if isinstance(data, dict) else None
        if not isinstance(kind, str):
            return data
        ours = kind in _NEEDS and (kind != "textarea" or data.get("from_name") == QUOTES)
        return data if ours else {"type": "other"}

    @model_validator(mode="after")
    def _whole(self) -> "_Result":
        for name in _NEEDS.get(self.type, ()):
            if getattr(self.value, name) is None:
                raise ValueError(f"{self.type} without {name}")
        return self

    @property
    def grade(self) -> GradeOrLabels:
        if self.type != "choices":
            return int(getattr(self.value, self.type))
        choices = self.value.choices or []
        if isinstance(choices[0], int):
            return choices[0]
        return tuple(label for choice in choices if isinstance(choice, tuple) for label in choice)

    def span(self, body: str) -> SpanRow:
        """Return the span of a `labels` result.

        Label Studio itself writes line ends within its text as a backslash and an n.
        """
        start, end = self.value.start or 0, self.value.end or 0
        quote = self.value.text if isinstance(self.value.text, str) else ""
        if quote != body[start:end]:
            quote = quote.replace("\\n", "\n")
        return SpanRow.model_construct(start=start, end=end, quote=quote)


def _graded_once(results: list[_Result]) -> list[_Result]:
    rubrics = [result.from_name for result in results if result.type in _GRADES]
    if twice := {rubric for rubric in rubrics if rubrics.count(rubric) > 1}:
        raise ValueError(f"has several grades under {min(twice)}")
    return results


_Results = Annotated[list[_Result], AfterValidator(_graded_once)]


def _as_account(value: Any) -> Any:
    return {"id": value} if isinstance(value, int | str) else value


class _Account(Row):
    id: int | StoredText = ""
    email: StoredText = ""


class _Annotation(Row):
    """An annotation of ours or of Label Studio.

    Ours has an `id` and no account; Label Studio's has an account, and our `id` as its `import_id`.
    """

    id: int | StoredText = ""
    import_id: int | None = None
    completed_by: Annotated[_Account, BeforeValidator(_as_account)] | None = None
    result: _Results
    was_cancelled: bool = False

    @property
    def number(self) -> str:
        """Return the number by which the task may know the rater. Deleted accounts have none."""
        ours = self.import_id is None and self.completed_by is None
        return str(self.id if ours else self.import_id)

    @property
    def account(self) -> str:
        return str(self.completed_by.email or self.completed_by.id) if self.completed_by else ""


class _Prediction(Row):
    model_version: StoredText | None = None
    result: _Results


def _unless_number(value: Any) -> Any:
    return None if isinstance(value, int) else value


class _Data(Row):
    pair: PairName
    question: StoredText | None = None
    text: StoredText = ""


class _Meta(Row):
    baselines: list[StoredText] = []
    raters: dict[str, StoredText] = {}  # by the numbers of their annotations


class _Task(Row):
    """A task with its annotations. JSON_MIN, an export without them, is refused by its name."""

    data: _Data
    meta: _Meta = _Meta()
    annotations: list[_Annotation] = []
    drafts: list[Any] = []
    # None: a bare number, as in Label Studio's plain export.
    predictions: list[Annotated[_Prediction | None, BeforeValidator(_unless_number)]] = []

    @model_validator(mode="before")
    @classmethod
    def _is_no_json_min(cls, value: Any) -> Any:
        if isinstance(value, dict) and "data" not in value and "annotation_id" in value:
            raise ValueError("must be a task of the export JSON (JSON_MIN has no annotations)")
        return value

    def rater(self, annotation: _Annotation) -> str:
        """Return the rater that our export assigned to the number; else the account."""
        return self.meta.raters.get(annotation.number) or annotation.account


def _parts(task: dict[str, Any]) -> Iterator[Part]:
    """Yield each annotation and prediction as a task with it alone. Drafts go with the first."""
    present = {name: value for name, value in task.items() if value is not None}
    if "completions" in present:  # before version 1.0
        present["annotations"] = present.pop("completions")
    number = id_of(task.get("id"))
    if not lists_of(present, "annotations", "predictions", "drafts"):
        yield Part(present, number)
        return
    without_answers = present | {"annotations": [], "predictions": []}
    drafts = without_answers.pop("drafts", [])
    answers = [
        (name, answer)
        for name in ("annotations", "predictions")
        for answer in present.get(name, ())
    ]
    if drafts or not answers:
        yield Part(without_answers | {"drafts": drafts}, number)
    for name, answer in answers:
        about = answer if isinstance(answer, dict) else {}
        by = about.get("completed_by") if name == "annotations" else about.get("model_version")
        if isinstance(by, dict):
            by = by.get("email") or by.get("id")
        time = id_of(about.get("updated_at") or about.get("created_at"))
        yield Part(
            without_answers | {name: [answer]}, number, id_of(about.get("id")), id_of(by), time
        )


def _into(row: _Task) -> Iterator[RatingRow | Skipped]:
    yield from [Skipped(Conversion.NOT_HANDED_IN)] * len(row.drafts)
    for annotation in row.annotations:
        if annotation.was_cancelled:
            yield Skipped(Conversion.NOT_HANDED_IN)
            continue
        rater = row.rater(annotation)
        if not rater:
            yield Skipped(Conversion.NO_ACCOUNT)
            continue
        yield from _answers(row, rater, HUMAN, annotation.result)
    for prediction in row.predictions:
        if prediction is None:
            yield Skipped(Conversion.NUMBER_ALONE)
            continue
        name = prediction.model_version
        if not name:
            yield Skipped(Conversion.NO_MODEL)
            continue
        kind = BASELINE if name in row.meta.baselines else MODEL
        yield from _answers(row, name, kind, prediction.result)


def _answers(
    row: _Task, rater: str, kind: str, results: Sequence[_Result]
) -> Iterator[RatingRow | Skipped]:
    spans: dict[str, list[SpanRow]] = defaultdict(list)
    quotes = ""
    for result in results:
        if result.type == "labels":
            for rubric in result.value.labels or ():
                spans[rubric].append(result.span(row.data.text))
        elif result.type == "textarea" and result.value.text:
            quotes = result.value.text[0]
        elif result.type == "other":
            yield Skipped(Conversion.NO_GRADES)
    yield from Answers(
        pair=row.data.pair,
        rater=rater,
        kind=kind,
        grades={result.from_name: result.grade for result in results if result.type in _GRADES},
        spans=spans,
        quotes=quotes,
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
    """Return the pair as a task with all its grades."""
    data = {
        "pair": pair.name,
        "topic": pair.topic,
        "question": pair.question,
        "text": pair.body or "",
    }
    people, models = pair.by_rater(people=True), pair.by_rater(people=False)
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
            for name, gradings in models.items()
        ],
    }


def _number(rater: str) -> int:
    """Return a constant number for a rater, far above those that Label Studio assigns."""
    return uuid.uuid5(_RATERS, rater).int >> (128 - _BITS)


def _results(gradings: Sequence[Grading]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []

    def add(kind: str, name: str, value: dict[str, Any]) -> None:
        number = f"r{len(results)}"
        about = {"id": number, "type": kind, "from_name": name, "to_name": "text"}
        results.append(about | {"value": value})

    for grading in gradings:
        add("choices", grading.rubric, {"choices": [str(grading.grade)]})
        for span in located_spans(grading):
            span_value = {"start": span.start, "end": span.end, "text": span.quote}
            add("labels", SPANS, span_value | {"labels": [grading.rubric]})
    if quotes := quotes_json(gradings):
        add("textarea", QUOTES, {"text": [quotes]})
    return results
