"""Row shapes of our own text_history.jsonl. No Django here."""

from typing import Annotated, Literal

from pydantic import Field

from annotation.formats.records import (
    ExposureName,
    Name,
    OriginRow,
    RepeatedText,
    Row,
    SpanRow,
    StoredText,
    Time,
    WholeNumber,
)

Index = Annotated[WholeNumber, Field(ge=0)]
Offset = Annotated[WholeNumber, Field(ge=0, le=2_000_000_000)]


class TextRef(Row):
    """A text by its natural key."""

    text_kind: RepeatedText = "passage"
    system: StoredText = ""
    text: Name


class RatedRow(TextRef):
    """The time of a rating, by its natural key."""

    rater: Name
    rubric: Name
    topic: Name
    question_index: Index
    created: Time


class PositionRow(Row):
    """The position of a span in one wording of its text."""

    start: Offset | None = None
    end: Offset | None = None
    quote: StoredText = ""
    source_quote: StoredText = ""
    located: Literal["exact", "normalised", "unlocated"]


# By the SHA-256 of the wording; null for a span of a text that was not edited since.
Positions = dict[Annotated[StoredText, Field(max_length=64)], PositionRow] | None


class SupersededSpanRow(SpanRow):
    """A span of a superseded grade."""

    earlier_positions: Positions = None


class CurrentRow(RatedRow):
    """The time of a current rating, with the earlier positions of its spans."""

    positions: list[Positions] = []


class SupersededRow(RatedRow):
    """A grade superseded by a text edit; its spans are in the wording with this hash."""

    grade: Index
    text_sha256: Annotated[StoredText, Field(max_length=64)] | None = None
    is_placed: bool | None = None
    exposure: ExposureName | None = None
    copied_from: TextRef | None = None
    spans: list[SupersededSpanRow] = []


class CitationRow(Row):
    """A citation of a report; `cited` is null where the label names nothing."""

    position: Index
    start: Offset
    end: Offset
    label: Annotated[StoredText, Field(max_length=250)]
    cited: TextRef | None = None


class HadRow(Row):
    """Citations, positions and origins that belonged to the earlier wording."""

    citations: list[CitationRow] = []
    document: Name | None = None
    start: Offset | None = None
    end: Offset | None = None
    source_body: StoredText = ""
    origins: list[OriginRow] = []


class VersionRow(Row):
    """An earlier wording of a text, or of a question, which has a topic and an index instead."""

    text_kind: RepeatedText = "passage"
    system: StoredText = ""
    text: Name | None = None
    topic: Name | None = None
    question_index: Index | None = None
    number: Annotated[WholeNumber, Field(ge=1, le=32_000)]
    body: StoredText
    why: Annotated[StoredText, Field(max_length=200)] = ""
    counts: bool
    n_ratings: Offset = 0
    replaced: Time
    by: Annotated[StoredText, Field(max_length=150)] = ""
    superseded: list[SupersededRow] = []
    citations: list[CitationRow] = []
    had: HadRow | None = None
    rated: list[CurrentRow] = []
