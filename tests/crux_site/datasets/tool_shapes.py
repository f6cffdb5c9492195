"""File schemas of annotation tools, written from their documentation, without extra keys.

Their own importers are no dependency of the tests. Sources: Label Studio, guide/task_format and
guide/predictions; Argilla 2, reference of rg.Record, rg.Response and rg.Suggestion, as records.to_json writes
them; Potato, docs/data-export/export_formats and docs/advanced/machine_annotators; W3C, Web Annotation Data
Model.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Offset = Annotated[int, Field(ge=0)]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Choices(Shape):
    choices: list[str]


class Labels(Shape):
    start: Offset
    end: Offset
    text: str
    labels: list[str]


class TextArea(Shape):
    text: list[str]


class Result(Shape):
    id: str
    type: Literal["choices", "labels", "textarea"]
    from_name: str
    to_name: Literal["text"]
    value: Choices | Labels | TextArea


class Work(Shape):
    id: int
    result: list[Result]


class Prediction(Shape):
    model_version: str
    result: list[Result]


class Task(Shape):
    data: dict[str, str]
    meta: dict[str, Any]
    annotations: list[Work]
    predictions: list[Prediction]


class ArgillaSpan(Shape):
    start: Offset
    end: Offset
    label: str


Value = int | str | list[ArgillaSpan]


class Response(Shape):
    value: Value
    user_id: UUID


class Suggestion(Shape):
    value: Value
    score: float | None
    agent: str


class Record(Shape):
    id: str
    fields: dict[str, str]
    metadata: dict[str, str | int | float]
    responses: dict[str, list[Response]]
    suggestions: dict[str, Suggestion]
    vectors: dict[str, list[float]]


class Origin(Shape):
    kind: Literal["human", "tool", "llm"]


class PotatoSpan(Shape):
    schema_: str = Field(alias="schema")
    name: str
    title: str
    start: Offset
    end: Offset
    text: str


class Line(Shape):
    instance_id: str
    user_id: str
    annotator_origin: Origin
    labels: dict[str, dict[str, str]]
    spans: dict[str, list[PotatoSpan]]
    links: dict[str, Any]


class Agent(Shape):
    id: str
    type: Literal["Person", "Organization", "Software"]
    name: str
    kind: Literal["baseline"] | None = Field(None, alias="crux:kind")


class Body(Shape):
    type: Literal["TextualBody"]
    format: Literal["text/plain"]
    purpose: Literal["assessing", "classifying", "questioning"]
    value: str


class Position(Shape):
    type: Literal["TextPositionSelector"]
    start: Offset
    end: Offset


class Quote(Shape):
    type: Literal["TextQuoteSelector"]
    exact: str
    prefix: str = ""
    suffix: str = ""


class Target(Shape):
    type: Literal["SpecificResource"]
    source: str
    selector: list[Position | Quote] = []
    words: str = Field("", alias="crux:words")


class Annotation(Shape):
    id: str
    type: Literal["Annotation"]
    motivation: Literal["assessing"]
    creator: Agent
    body: Annotated[list[Body], Field(min_length=3, max_length=3)]
    target: Annotated[list[Target], Field(min_length=1)]
    pair: str = Field(alias="crux:pair")


SHAPES: dict[str, type[Shape]] = {
    "label-studio": Task,
    "argilla": Record,
    "potato": Line,
    "web-annotation": Annotation,
}
