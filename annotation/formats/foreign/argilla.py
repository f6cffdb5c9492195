"""Argilla: records, each a pair. Grades are answers to a question that is called like their rubric.

Spans are answers to one SpanQuestion, each with its rubric as its label. Their places are units of UTF-16, as
Argilla's page counts them, and of the record's own text: no words are beside them. People's answers are
responses; a record has room for one suggestion to a question, so those of further models are responses too.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import ConfigDict, Field

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
    id_of,
    placed,
    reader,
    words_of,
)
from annotation.formats.left_out import Part
from annotation.formats.records import Name, RatingRow, Row, SpanRow, Whole, Words
from annotation.formats.summary import Mapped
from annotation.formats.translation import Told
from annotation.text.spans import from_utf16, in_utf16

_RATER, _KIND = "rater.", "kind."  # of metadata: whom an id means, and what it is if no person
_SUBMITTED = "submitted"
_LARGEST = 10  # of a RatingQuestion
_RATERS = uuid.UUID("6f9f4a2e-52a2-4ce2-8f5c-0f6f8a3a7c11")


class _Place(Row):
    start: Annotated[Whole, Field(ge=0)]
    end: Annotated[Whole, Field(ge=0)]
    label: Name


class _Response(Row):
    user_id: Words | None = None
    status: Words | None = None


class _Suggestion(Row):
    agent: Words | None = None


class _Graded(Row):
    """An answer to any question: those that are no grades have none."""

    value: Any

    @property
    def grade(self) -> int | None:
        try:
            return grade_of(self.value)
        except ValueError:
            return None


class _Spans(Row):
    value: list[_Place] | None


class _Typed(Row):
    value: WordsText | None


class _GradeResponse(_Response, _Graded): ...


class _SpansResponse(_Response, _Spans): ...


class _WordsResponse(_Response, _Typed): ...


class _GradeSuggestion(_Suggestion, _Graded): ...


class _SpansSuggestion(_Suggestion, _Spans): ...


class _WordsSuggestion(_Suggestion, _Typed): ...


class _Questions(Row):
    """Answers by their questions: those of two have a shape of their own, and all others are rubrics."""

    model_config = ConfigDict(extra="allow")


class _Responses(_Questions):
    spans: list[_SpansResponse] = Field(default=[], validation_alias=SPANS)
    words: list[_WordsResponse] = Field(default=[], validation_alias=WORDS)
    __pydantic_extra__: dict[str, list[_GradeResponse]] = Field(init=False)


class _Suggestions(_Questions):
    spans: _SpansSuggestion | None = Field(default=None, validation_alias=SPANS)
    words: _WordsSuggestion | None = Field(default=None, validation_alias=WORDS)
    __pydantic_extra__: dict[str, _GradeSuggestion] = Field(init=False)


class _Fields(Row):
    question: Words | None = None
    text: Words


class _Record(Row):
    id: PairName
    fields: _Fields
    metadata: dict[str, Any] = {}
    responses: _Responses = _Responses()
    suggestions: _Suggestions = _Suggestions()

    def kind(self, rater: str, otherwise: str) -> str:
        kind = self.metadata.get(f"{_KIND}{rater}")
        return kind if kind in (MODEL, BASELINE) else otherwise


@dataclass
class _Said:
    """All that one user, or one agent, said of a record."""

    grades: dict[str, int | None] = field(default_factory=dict)
    places: Sequence[_Place] = ()
    words: str = ""


def _parts(record: dict[str, Any]) -> Iterator[Part]:
    """The answers of each user, and of each agent, as a record with these alone.

    An answer to a question that its user answered already is a record of its own.
    """
    whole = {name: value for name, value in record.items() if value is not None}
    responses, suggestions = whole.get("responses", {}), whole.get("suggestions", {})
    number = id_of(record.get("id"))
    if not isinstance(responses, dict) or not isinstance(suggestions, dict):
        yield Part(whole, number)
        return
    whole |= {"responses": {}, "suggestions": {}}
    layers: dict[tuple[str, int], dict[str, Any]] = {}
    for question, answers in responses.items():
        if not isinstance(answers, list | None):
            yield Part(whole | {"responses": {question: answers}}, number)
            continue
        n_of: Counter[str] = Counter()
        for each in answers or ():
            user = id_of(each.get("user_id")) if isinstance(each, dict) else ""
            layers.setdefault((user, n_of[user]), {})[question] = [each]
            n_of[user] += 1
    for (user, _), answered in layers.items():
        yield Part(whole | {"responses": answered}, number, person=user)
    agents: dict[str, dict[str, Any]] = {}
    for question, each in suggestions.items():
        if each is not None:
            agent = id_of(each.get("agent")) if isinstance(each, dict) else ""
            agents.setdefault(agent, {})[question] = each
    for agent, suggested in agents.items():
        yield Part(whole | {"suggestions": suggested}, number, person=agent)
    if not layers and not agents:
        yield Part(whole, number)


def _into(row: _Record) -> Iterator[RatingRow | Told]:
    users: dict[str, _Said] = defaultdict(_Said)
    rubrics = (row.responses.__pydantic_extra__ or {}).items()
    graded = [(rubric, each) for rubric, answers in rubrics for each in answers]
    for rubric, each in graded:
        if each.status not in (None, _SUBMITTED):
            yield Told(Mapped.NOT_HANDED_IN)
        elif not each.user_id:
            yield Told(Mapped.NO_ACCOUNT)
        else:
            users[each.user_id].grades[rubric] = each.grade
    for spans in row.responses.spans:
        if spans.user_id:
            users[spans.user_id].places = spans.value or ()
    for words in row.responses.words:
        if words.user_id:
            users[words.user_id].words = words.value or ""
    for user, said in users.items():
        name = row.metadata.get(f"{_RATER}{user}", user)
        yield from _answers(row, str(name), row.kind(str(name), HUMAN), said)
    agents, nameless = _of_agents(row.suggestions)
    yield from [Told(Mapped.NO_AGENT)] * nameless
    for agent, said in agents.items():
        yield from _answers(row, agent, row.kind(agent, MODEL), said)


def _of_agents(suggestions: _Suggestions) -> tuple[dict[str, _Said], int]:
    """Suggestions by agent, and the number of suggestions that name none."""
    agents: dict[str, _Said] = defaultdict(_Said)
    nameless = 0
    for rubric, each in (suggestions.__pydantic_extra__ or {}).items():
        if each.agent:
            agents[each.agent].grades[rubric] = each.grade
        else:
            nameless += 1
    for spans in filter(None, (suggestions.spans,)):
        if spans.agent:
            agents[spans.agent].places = spans.value or ()
    for words in filter(None, (suggestions.words,)):
        if words.agent:
            agents[words.agent].words = words.value or ""
    return agents, nameless


def _answers(row: _Record, rater: str, kind: str, said: _Said) -> Iterator[RatingRow | Told]:
    spans: dict[str, list[SpanRow]] = defaultdict(list)
    for place in said.places:
        spans[place.label].append(_span(row.fields.text, place))
    yield from [Told(Mapped.NO_GRADES)] * list(said.grades.values()).count(None)
    yield from Answers(
        pair=row.id,
        rater=rater,
        kind=kind,
        grades={rubric: grade for rubric, grade in said.grades.items() if grade is not None},
        spans=spans,
        words=said.words,
        question=row.fields.question,
    ).rows()


def _span(text: str, place: _Place) -> SpanRow:
    """A place that is none of the text is left to the reader, who says so."""
    start, end = from_utf16(text, place.start, place.end) or (place.start, place.end)
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
    """The pair as a record with all its grades."""
    others = pair.by_rater(people=False)
    agent = next(iter(others), "")
    suggested = others.pop(agent, [])
    metadata = {f"{_KIND}{each.rater}": each.kind for each in pair.gradings if each.kind != HUMAN}
    responses: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, gradings in (pair.by_rater(people=True) | others).items():
        user = str(uuid.uuid5(_RATERS, name))
        metadata[f"{_RATER}{user}"] = name
        for question, value in _values(pair, gradings).items():
            responses[question].append({"value": value, "user_id": user})
    return {
        "id": pair.name,
        "fields": {"question": pair.question, "text": pair.body or ""},
        "metadata": metadata,
        "responses": dict(responses),
        "suggestions": {
            question: {"value": value, "score": None, "agent": agent}
            for question, value in _values(pair, suggested).items()
        },
        "vectors": {},
    }


def _values(pair: Pair, gradings: Sequence[Grading]) -> dict[str, Any]:
    """What one rater said, by question."""
    body = pair.body or ""
    values: dict[str, Any] = {each.rubric: _grade(each) for each in gradings}
    places = [
        {
            "start": in_utf16(body, span.start or 0),
            "end": in_utf16(body, span.end or 0),
            "label": grading.rubric,
        }
        for grading in gradings
        for span in placed(grading)
    ]
    words = words_of(gradings)
    return values | ({SPANS: places} if places else {}) | ({WORDS: words} if words else {})


def _grade(grading: Grading) -> int | str:
    """A rating, or a label where the rubric has larger grades than ratings have."""
    return grading.grade if grading.largest <= _LARGEST else str(grading.grade)
