"""Argilla: records, each a pair. Grades are answers to a question named after the rubric.

Spans are answers to one SpanQuestion, with the rubric as label. Their offsets are UTF-16 units, as
Argilla's page counts them, and refer to the record's own text, without a quote. People's answers
are responses; a record has room for one suggestion to a question, so those of further models are
responses too.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from annotation.formats.foreign.tools import (
    BASELINE,
    HUMAN,
    MODEL,
    QUOTES,
    SPANS,
    Answers,
    GradeOrLabels,
    Grading,
    Pair,
    PairName,
    QuotesText,
    grade_of,
    id_of,
    located_spans,
    quotes_json,
    reader,
)
from annotation.formats.left_out_rows import Part
from annotation.formats.records import Name, RatingRow, Row, SpanRow, StoredText, WholeNumber
from annotation.formats.summary import Conversion
from annotation.formats.translation import Skipped
from annotation.text.spans import from_utf16, to_utf16

_RATER, _KIND = "rater.", "kind."  # of metadata: whom an id means, and what it is if no person
_SUBMITTED = "submitted"
_LARGEST = 10  # of a RatingQuestion
_RATERS = uuid.UUID("6f9f4a2e-52a2-4ce2-8f5c-0f6f8a3a7c11")


class _SpanValue(Row):
    start: Annotated[WholeNumber, Field(ge=0)]
    end: Annotated[WholeNumber, Field(ge=0)]
    label: Name


class _Response(Row):
    user_id: StoredText | None = None
    status: StoredText | None = None


class _Suggestion(Row):
    agent: StoredText | None = None


class _Graded(Row):
    """An answer to any question; `grade` is None for one that is no grade.

    The labels of a MultiLabelQuestion are those of a multi-label rubric.
    """

    value: Any

    @property
    def grade(self) -> GradeOrLabels | None:
        labels = self.value if isinstance(self.value, list) else []
        if labels and all(isinstance(label, str) for label in labels):
            return tuple(labels)
        try:
            return grade_of(self.value)
        except ValueError:
            return None


class _Spans(Row):
    value: list[_SpanValue] | None


class _Typed(Row):
    value: QuotesText | None


class _GradeResponse(_Response, _Graded): ...


class _SpansResponse(_Response, _Spans): ...


class _WordsResponse(_Response, _Typed): ...


class _GradeSuggestion(_Suggestion, _Graded): ...


class _SpansSuggestion(_Suggestion, _Spans): ...


class _WordsSuggestion(_Suggestion, _Typed): ...


class _Questions(Row):
    """Answers by question: two questions have their own shape, all others are rubrics."""

    model_config = ConfigDict(extra="allow")


class _Responses(_Questions):
    spans: list[_SpansResponse] = Field(default=[], validation_alias=SPANS)
    quotes: list[_WordsResponse] = Field(default=[], validation_alias=QUOTES)
    __pydantic_extra__: dict[str, list[_GradeResponse]] = Field(init=False)


class _Suggestions(_Questions):
    spans: _SpansSuggestion | None = Field(default=None, validation_alias=SPANS)
    quotes: _WordsSuggestion | None = Field(default=None, validation_alias=QUOTES)
    __pydantic_extra__: dict[str, _GradeSuggestion] = Field(init=False)


class _Fields(Row):
    question: StoredText | None = None
    text: StoredText


def _by_question(value: Any) -> Any:
    if isinstance(value, list):
        raise ValueError("must be an object by question, as records.to_json of Argilla 2 writes it")
    return value


class _Record(Row):
    id: PairName
    fields: _Fields
    metadata: dict[str, Any] = {}
    responses: Annotated[_Responses, BeforeValidator(_by_question)] = _Responses()
    suggestions: Annotated[_Suggestions, BeforeValidator(_by_question)] = _Suggestions()

    def kind(self, rater: str, otherwise: str) -> str:
        kind = self.metadata.get(f"{_KIND}{rater}")
        return kind if kind in (MODEL, BASELINE) else otherwise


@dataclass
class _RaterAnswers:
    """All answers of one user or agent in a record."""

    grades: dict[str, GradeOrLabels | None] = field(default_factory=dict)
    span_values: Sequence[_SpanValue] = ()
    quotes: str = ""


def _parts(record: dict[str, Any]) -> Iterator[Part]:
    """Yield the answers of each user, and of each agent, as a record with these alone.

    A second answer of a user to a question becomes a record of its own.
    """
    present = {name: value for name, value in record.items() if value is not None}
    responses, suggestions = present.get("responses", {}), present.get("suggestions", {})
    number = id_of(record.get("id"))
    if not isinstance(responses, dict) or not isinstance(suggestions, dict):
        yield Part(present, number)
        return
    present |= {"responses": {}, "suggestions": {}}
    layers: dict[tuple[str, int], dict[str, Any]] = {}
    for question, answers in responses.items():
        if not isinstance(answers, list | None):
            yield Part(present | {"responses": {question: answers}}, number)
            continue
        n_of: Counter[str] = Counter()
        for answer in answers or ():
            user = id_of(answer.get("user_id")) if isinstance(answer, dict) else ""
            layers.setdefault((user, n_of[user]), {})[question] = [answer]
            n_of[user] += 1
    for (user, _), answered in layers.items():
        yield Part(present | {"responses": answered}, number, person=user)
    agents: dict[str, dict[str, Any]] = {}
    for question, answer in suggestions.items():
        if answer is not None:
            agent = id_of(answer.get("agent")) if isinstance(answer, dict) else ""
            agents.setdefault(agent, {})[question] = answer
    for agent, suggested in agents.items():
        yield Part(present | {"suggestions": suggested}, number, person=agent)
    if not layers and not agents:
        yield Part(present, number)


def _into(row: _Record) -> Iterator[RatingRow | Skipped]:
    users: dict[str, _RaterAnswers] = defaultdict(_RaterAnswers)
    rubrics = (row.responses.__pydantic_extra__ or {}).items()
    graded = [(rubric, answer) for rubric, answers in rubrics for answer in answers]
    for rubric, answer in graded:
        if answer.status not in (None, _SUBMITTED):
            yield Skipped(Conversion.NOT_HANDED_IN)
        elif not answer.user_id:
            yield Skipped(Conversion.NO_ACCOUNT)
        else:
            users[answer.user_id].grades[rubric] = answer.grade
    for spans in row.responses.spans:
        if spans.user_id:
            users[spans.user_id].span_values = spans.value or ()
    for quotes in row.responses.quotes:
        if quotes.user_id:
            users[quotes.user_id].quotes = quotes.value or ""
    for user, given_answers in users.items():
        name = row.metadata.get(f"{_RATER}{user}", user)
        yield from _answers(row, str(name), row.kind(str(name), HUMAN), given_answers)
    agents, nameless = _of_agents(row.suggestions)
    yield from [Skipped(Conversion.NO_AGENT)] * nameless
    for agent, given_answers in agents.items():
        yield from _answers(row, agent, row.kind(agent, MODEL), given_answers)


def _of_agents(suggestions: _Suggestions) -> tuple[dict[str, _RaterAnswers], int]:
    """Return suggestions by agent, and the number of suggestions without an agent."""
    agents: dict[str, _RaterAnswers] = defaultdict(_RaterAnswers)
    nameless = 0
    for rubric, answer in (suggestions.__pydantic_extra__ or {}).items():
        if answer.agent:
            agents[answer.agent].grades[rubric] = answer.grade
        else:
            nameless += 1
    for spans in filter(None, (suggestions.spans,)):
        if spans.agent:
            agents[spans.agent].span_values = spans.value or ()
    for quotes in filter(None, (suggestions.quotes,)):
        if quotes.agent:
            agents[quotes.agent].quotes = quotes.value or ""
    return agents, nameless


def _answers(
    row: _Record, rater: str, kind: str, given_answers: _RaterAnswers
) -> Iterator[RatingRow | Skipped]:
    spans: dict[str, list[SpanRow]] = defaultdict(list)
    for span_value in given_answers.span_values:
        spans[span_value.label].append(_span(row.fields.text, span_value))
    yield from [Skipped(Conversion.NO_GRADES)] * list(given_answers.grades.values()).count(None)
    yield from Answers(
        pair=row.id,
        rater=rater,
        kind=kind,
        grades={
            rubric: grade for rubric, grade in given_answers.grades.items() if grade is not None
        },
        spans=spans,
        quotes=given_answers.quotes,
        question=row.fields.question,
    ).rows()


def _span(text: str, value: _SpanValue) -> SpanRow:
    """Return a span with its quote; offsets outside the text are left for the reader's error."""
    start, end = from_utf16(text, value.start, value.end) or (value.start, value.end)
    return SpanRow.model_construct(start=start, end=end, quote=text[start:end])


_NAMES = {
    "rater": "user_id or agent",
    "rater_kind": "user_id or agent",
    "rubric": "responses or suggestions",
    "grade": "value",
    "question": "fields.question",
    "spans": SPANS,
}
sources = reader(_Record, _into, _NAMES, pair="id", parts=_parts)


def record(pair: Pair) -> dict[str, Any]:
    """Return the pair as a record with all its grades."""
    of_models = pair.by_rater(people=False)
    agent = next(iter(of_models), "")
    suggested = of_models.pop(agent, [])
    metadata = {
        f"{_KIND}{grading.rater}": grading.kind
        for grading in pair.gradings
        if grading.kind != HUMAN
    }
    responses: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, gradings in (pair.by_rater(people=True) | of_models).items():
        user = str(uuid.uuid5(_RATERS, name))
        metadata[f"{_RATER}{user}"] = name
        for question, value in _values_by_question(pair, gradings).items():
            responses[question].append({"value": value, "user_id": user})
    return {
        "id": pair.name,
        "fields": {"question": pair.question, "text": pair.body or ""},
        "metadata": metadata,
        "responses": dict(responses),
        "suggestions": {
            question: {"value": value, "score": None, "agent": agent}
            for question, value in _values_by_question(pair, suggested).items()
        },
        "vectors": {},
    }


def _values_by_question(pair: Pair, gradings: Sequence[Grading]) -> dict[str, Any]:
    """Return the answers of one rater by question."""
    body = pair.body or ""
    values: dict[str, Any] = {graded.rubric: _grade(graded) for graded in gradings}
    span_values = [
        {
            "start": to_utf16(body, span.start or 0),
            "end": to_utf16(body, span.end or 0),
            "label": grading.rubric,
        }
        for grading in gradings
        for span in located_spans(grading)
    ]
    quotes = quotes_json(gradings)
    return (
        values
        | ({SPANS: span_values} if span_values else {})
        | ({QUOTES: quotes} if quotes else {})
    )


def _grade(grading: Grading) -> int | str:
    """Return a rating, or a label where the rubric's grades exceed the range of ratings."""
    return grading.grade if grading.largest <= _LARGEST else str(grading.grade)
