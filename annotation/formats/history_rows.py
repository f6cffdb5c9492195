"""The rows of our own text_history.jsonl, as shapes. No Django here."""

from typing import Annotated, Literal

from pydantic import Field

from annotation.formats.records import Name, Row, SpanRow, Time, Whole, Word, Words

Index = Annotated[Whole, Field(ge=0)]
Place = Annotated[Whole, Field(ge=0, le=2_000_000_000)]


class TextRef(Row):
    """A text by its natural key."""

    text_kind: Word = "passage"
    system: Words = ""
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

    start: Place | None = None
    end: Place | None = None
    quote: Words = ""
    source_quote: Words = ""
    located: Literal["exact", "normalised", "unlocated"]


# By the SHA-256 of the wording; null for a span of a text that was not edited since.
Positions = dict[Annotated[Words, Field(max_length=64)], PositionRow] | None


class SupersededSpanRow(SpanRow):
    """A span of a superseded grade."""

    earlier_positions: Positions = None


class CurrentRow(RatedRow):
    """The time of a current rating, with the earlier positions of its spans."""

    positions: list[Positions] = []


class SupersededRow(RatedRow):
    """A grade that a change of the words superseded; its spans are in the words with this hash."""

    grade: Index
    text_sha256: Annotated[Words, Field(max_length=64)] | None = None
    is_placed: bool | None = None
    spans: list[SupersededSpanRow] = []


class CitationRow(Row):
    """A citation of a report; `cited` is null where the label names nothing."""

    position: Index
    start: Place
    end: Place
    label: Annotated[Words, Field(max_length=250)]
    cited: TextRef | None = None


class HadRow(Row):
    """Citations and places that belonged to the earlier wording."""

    citations: list[CitationRow] = []
    document: Name | None = None
    start: Place | None = None
    end: Place | None = None
    source_body: Words = ""


class VersionRow(Row):
    """Earlier words of a text, or of a question, which has a topic and an index instead."""

    text_kind: Word = "passage"
    system: Words = ""
    text: Name | None = None
    topic: Name | None = None
    question_index: Index | None = None
    number: Annotated[Whole, Field(ge=1, le=32_000)]
    body: Words
    why: Annotated[Words, Field(max_length=200)] = ""
    counts: bool
    n_ratings: Place = 0
    replaced: Time
    by: Annotated[Words, Field(max_length=150)] = ""
    superseded: list[SupersededRow] = []
    citations: list[CitationRow] = []
    had: HadRow | None = None
    rated: list[CurrentRow] = []
