"""W3C Web Annotations: one a rating, as JSON lines or as the items of a page.

The grade, its rubric and the question are bodies; each span is a target, by position and by quote.
Offsets are code points, as in the W3C model. A target without a selector is the text as a whole.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from annotation.formats.foreign.tools import (
    BASELINE,
    HUMAN,
    MODEL,
    Answers,
    Grading,
    Pair,
    PairName,
    escaped,
    grade_of,
    id_of,
    reader,
)
from annotation.formats.left_out_rows import Part
from annotation.formats.records import RatingRow, Row, SpanRow, StoredText, WholeNumber
from annotation.formats.summary import Conversion
from annotation.formats.translation import Skipped

OF_OTHER_SELECTORS = "targets of other selectors than places and quotes: no span"
_OURS = "urn:x-crux:"
_CONTEXT = ["http://www.w3.org/ns/anno.jsonld", {"crux": _OURS}]
_AROUND = 32  # code points of prefix and suffix
_GRADE, _RUBRIC, _QUESTION = "assessing", "classifying", "questioning"  # purposes of bodies


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _as_object(value: Any) -> Any:
    """Return an object for a bare IRI."""
    return {"id": value} if isinstance(value, str) else value


class _Agent(Row):
    id: StoredText = ""
    type: StoredText = "Person"
    name: StoredText = ""
    kind: StoredText = Field("", alias="crux:kind")

    @model_validator(mode="after")
    def _check_named(self) -> "_Agent":
        if not (self.name or self.id):
            raise ValueError("must have a name or an id")
        return self


class _Body(Row):
    id: StoredText = ""
    purpose: StoredText = ""
    value: StoredText | None = None


class _Selector(Row):
    type: StoredText
    start: Annotated[WholeNumber, Field(ge=0)] | None = None
    end: Annotated[WholeNumber, Field(ge=0)] | None = None
    exact: StoredText = ""


class _Target(Row):
    selector: Annotated[list[_Selector], BeforeValidator(_as_list)] = []
    source_quote: StoredText = Field("", alias="crux:words")

    @property
    def span(self) -> SpanRow | None:
        quotes = [
            selector.exact for selector in self.selector if selector.type == "TextQuoteSelector"
        ]
        positions = [
            selector for selector in self.selector if selector.type == "TextPositionSelector"
        ]
        if not quotes and not positions:
            return None
        return SpanRow.model_construct(
            start=positions[0].start if positions else None,
            end=positions[0].end if positions else None,
            quote=quotes[0] if quotes else "",
            source_quote=self.source_quote,
        )


def _checked_bodies(bodies: list[_Body]) -> list[_Body]:
    of_grade = [body.value or "" for body in bodies if body.purpose == _GRADE]
    of_rubric = [body.value for body in bodies if body.purpose == _RUBRIC and body.value]
    if len(of_grade) != 1 or len(of_rubric) != 1:
        raise ValueError(
            f"must have one value for {_GRADE}, the grade, and for {_RUBRIC}, its rubric"
        )
    grade_of(of_grade[0])
    return bodies


_OneBody = Annotated[_Body, BeforeValidator(_as_object)]
_OneTarget = Annotated[_Target, BeforeValidator(_as_object)]


class _Annotation(Row):
    pair: PairName = Field(alias="crux:pair")
    creator: Annotated[_Agent, BeforeValidator(_as_object)] | None = None
    body: Annotated[list[_OneBody], BeforeValidator(_as_list), AfterValidator(_checked_bodies)]
    target: Annotated[list[_OneTarget], BeforeValidator(_as_list)]

    def value_for(self, purpose: str) -> str | None:
        return next((body.value for body in self.body if body.purpose == purpose), None)


def _parts(annotation: dict[str, Any]) -> Iterator[Part]:
    creator = annotation.get("creator")
    by = creator.get("name") or creator.get("id") if isinstance(creator, dict) else creator
    time = annotation.get("modified") or annotation.get("created")
    if creator in ("", {}):
        annotation = annotation | {"creator": None}
    yield Part(
        annotation, annotation=id_of(annotation.get("id")), person=id_of(by), time=id_of(time)
    )


def _into(row: _Annotation) -> Iterator[RatingRow | Skipped]:
    if row.creator is None:
        yield Skipped(Conversion.NO_ACCOUNT)
        return
    rubric = row.value_for(_RUBRIC) or ""
    spans = [span for target in row.target if (span := target.span)]
    software = BASELINE if row.creator.kind == BASELINE else MODEL
    yield from Answers(
        pair=row.pair,
        rater=row.creator.name or row.creator.id,
        kind=software if row.creator.type == "Software" else HUMAN,
        grades={rubric: grade_of(row.value_for(_GRADE) or "")},
        spans={rubric: spans},
        question=row.value_for(_QUESTION),
    ).rows()
    n_other_selectors = sum(bool(target.selector) and not target.span for target in row.target)
    yield from [Skipped(OF_OTHER_SELECTORS)] * n_other_selectors


_NAMES = {
    "rater": "creator",
    "rater_kind": "creator.type",
    "rubric": "body",
    "grade": "body",
    "question": "body",
    "spans": "target",
}
sources = reader(_Annotation, _into, _NAMES, pair="crux:pair", parts=_parts)


def page_of(dataset: str) -> tuple[str, str]:
    """Return the text before and after the annotations of a dataset, an AnnotationPage."""
    page = {
        "@context": _CONTEXT,
        "id": f"{_OURS}dataset/{escaped(dataset)}",
        "type": "AnnotationPage",
    }
    return f'{json.dumps(page)[:-1]}, "items": [\n', "\n]}\n"


def annotations(pair: Pair) -> Iterator[dict[str, Any]]:
    """Yield an annotation for each grade."""
    return (_annotation(pair, grading) for grading in pair.gradings)


def _annotation(pair: Pair, grading: Grading) -> dict[str, Any]:
    agent = {
        "id": f"{_OURS}rater/{escaped(grading.rater)}",
        "type": "Person" if grading.kind == HUMAN else "Software",
        "name": grading.rater,
    }
    values = {_GRADE: str(grading.grade), _RUBRIC: grading.rubric, _QUESTION: pair.question}
    targets = [_target(pair, span) for span in grading.spans]
    return {
        "id": f"{_OURS}rating/{pair.name}/{escaped(grading.rubric)}/{escaped(grading.rater)}",
        "type": "Annotation",
        "motivation": _GRADE,
        "creator": agent | ({"crux:kind": BASELINE} if grading.kind == BASELINE else {}),
        "body": [
            {"type": "TextualBody", "format": "text/plain", "purpose": purpose, "value": value}
            for purpose, value in values.items()
        ],
        "target": targets or [{"type": "SpecificResource", "source": _source(pair)}],
        "crux:pair": pair.name,
    }


def _source(pair: Pair) -> str:
    return f"{_OURS}text/{'/'.join(map(escaped, (pair.kind, pair.system, pair.text)))}"


def _target(pair: Pair, span: SpanRow) -> dict[str, Any]:
    target: dict[str, Any] = {"type": "SpecificResource", "source": _source(pair)}
    quote = {"type": "TextQuoteSelector", "exact": span.quote or span.source_quote}
    if span.start is None or span.end is None or pair.body is None:
        return target | {"selector": [quote]}
    around = {
        "prefix": pair.body[max(0, span.start - _AROUND) : span.start],
        "suffix": pair.body[span.end : span.end + _AROUND],
    }
    position = {"type": "TextPositionSelector", "start": span.start, "end": span.end}
    source_quote = {"crux:words": span.source_quote} if span.source_quote else {}
    return target | {"selector": [position, quote | around]} | source_quote
