"""The rows of the authors' files, as shapes. No Django here.

Strict: a number in quotes or a true where a grade should be is an error, not a guess. A whole number may be
written as data frames write a column with a gap: 4.0 is 4, and 4.5 is an error. Keys that
no shape names (`k`, `coverage`, `answerable_at_3`) can be worked out again and are not read.
"""

from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
)

NOT_APPLICABLE = "NA"  # the key that qlabels files give to every filtered question
UNJUDGED = -1
FILTERED = -2


def checked_words(value: str) -> str:
    """Words that every database can keep. Raises ValueError for those that not all can."""
    if "\x00" in value:
        raise ValueError("holds a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is no character") from None
    return value


@lru_cache(maxsize=10_000)  # a file says the same names over and over
def checked_name(value: str) -> str:
    """A name that a TREC run can hold too: 1 to 250 characters, no white space."""
    # Of white space a blank alone is printable; NUL and halves of pairs are not.
    if 0 < len(value) <= 250 and value.isprintable() and " " not in value:
        return value
    checked_words(value)
    raise ValueError("must have 1 to 250 characters and no white space")


def _checked_time(value: str) -> str:
    if datetime.fromisoformat(value).tzinfo is None:
        raise ValueError("has no time zone")
    return value


def checked_something(value: str) -> str:
    if not checked_words(value):
        raise ValueError("is empty")
    return value


_EXACT = 2**53  # floats above it skip whole numbers


def whole_number(value: Any) -> Any:
    """Return the int that a float such as 4.0 stands for, below 2**53; anything else unchanged."""
    if type(value) is float and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value


def _checked_grade(value: Any) -> float | None:
    """Return a grade, or None for no grade. A fraction is left to the rubric, whose error lists its grades."""
    if value is None or type(value) is int:
        return value
    if type(value) is not float or value != value or abs(value) >= _EXACT:
        raise ValueError("Input should be a valid integer or null")
    return int(value) if value.is_integer() else value


Words = Annotated[str, AfterValidator(checked_words)]
Word = Annotated[str, AfterValidator(lru_cache(maxsize=1000)(checked_words))]  # one of a few
Something = Annotated[str, AfterValidator(checked_something)]
Name = Annotated[str, AfterValidator(checked_name)]
Time = Annotated[Words, AfterValidator(_checked_time)]
Whole = Annotated[int, BeforeValidator(whole_number)]
Grade = Annotated[float | None, PlainValidator(_checked_grade)]


class Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class RaterRow(Row):
    """Our own raters.jsonl: facts about a rater that its grades do not state."""

    name: Name
    kind: Words
    adjudicator: bool = False
    first_rating: Time | None = None


class LevelRow(Row):
    grade: Whole
    label: Words
    name: Words = ""
    key: Words = ""
    colour: Words = ""


class RubricRow(Row):
    """Our own rubrics.jsonl."""

    slug: Name
    title: Words
    question: Words = ""
    scale: Words = "ordinal"
    shows: list[Words] = ["text", "question"]
    eta: Whole | None = None
    span_from: Whole | None = None
    guideline: Words
    levels: list[LevelRow]


class SpanRow(Row):
    """Words that support a grade. `located` says what became of them: looked for where it is missing."""

    start: Annotated[Whole, Field(ge=0)] | None = None
    end: Annotated[Whole, Field(ge=0)] | None = None
    quote: Words = ""
    source_quote: Words = ""
    located: Literal["", "exact", "normalised", "unlocated"] = ""


Spans = dict[Words, list[SpanRow]]  # by the position of a question


class RatingRow(Row):
    """One rating: a line of the long table, or as little of one as says which pair is meant."""

    rater: Name
    rater_kind: Word = Field(validation_alias=AliasChoices("rater_kind", "kind"))
    rubric: Name
    topic: Words = ""
    question_index: Annotated[Whole, Field(ge=0)] | None = None
    question: Words | None = None
    text_kind: Words = "passage"
    system: Words = ""
    text: Name
    text_sha256: Words = ""
    grade: Grade
    spans: list[SpanRow] = Field(default_factory=list)  # a [] would be copied, line by line


def _checked_group(value: str) -> str:
    if len(value) <= 80 and (not value or value.replace("-", "a").replace("_", "a").isalnum()):
        return value
    raise ValueError("must have 80 characters at most: letters, digits, - and _")


class TopicRow(Row):
    """`group` is ours: the kind of task, domain or track."""

    id: Annotated[Name, Field(max_length=200)]
    request: Words
    group: Annotated[Word, AfterValidator(_checked_group)] = ""


LARGEST = 1e100
"""Of a number that no grade bounds: sums of such are numbers, too."""


def checked_setting(value: Any) -> Any:
    if isinstance(value, str):
        return checked_words(value)
    if isinstance(value, int | float) and -LARGEST <= value <= LARGEST:
        return value
    if value is None:
        return value
    raise ValueError(f"must be words, true, false, null or a number up to {LARGEST:g}")


class SystemRow(Row):
    """Our own systems.jsonl: how a system was set, a name and a plain value each."""

    system: Name
    settings: dict[Name, Annotated[Any, AfterValidator(checked_setting)]]


class ValueRow(Row):
    """Our own values.jsonl: what was computed elsewhere of a report, called like its topic if not by a name."""

    topic: Name
    system: Words
    name: Words = ""
    measure: Annotated[Word, Field(min_length=1, max_length=120)]
    value: Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]


class NoteRow(Row):
    """Our own notes.jsonl: what somebody wrote about a pair, and when, with the zone."""

    topic: Name
    question_index: Annotated[Whole, Field(ge=0)]
    text_kind: Word = "passage"
    system: Words = ""
    text: Name
    by: Annotated[Something, Field(max_length=150)]
    at: Time
    note: Something


class FilteredQuestion(Row):
    """Why a question is filtered, and at which eta it was."""

    because: Annotated[Words, Field(min_length=1, max_length=200)]
    eta: Annotated[Whole, Field(ge=0, le=100)] | None = None


class SubQuestionsRow(Row):
    """`filtered` is ours: {index: why}, where no annotated report says it with a null.

    So is `groups`: which part of the request each question is about, "" for none in particular.
    """

    id: Name
    subquestions: Annotated[list[Words], Field(min_length=1, max_length=1000)]
    filtered: dict[Words, FilteredQuestion] = {}
    groups: list[Annotated[Words, Field(max_length=250)]] = []


class PassageRow(Row):
    """`document`, `start` and `end` are ours: what a passage is from, and where in it, in code points."""

    id: Name
    contents: Words
    document: Name | None = None
    start: Annotated[Whole, Field(ge=0, le=2_000_000_000)] | None = None
    end: Annotated[Whole, Field(ge=0, le=2_000_000_000)] | None = None


class DocumentRow(Row):
    """Our own documents.jsonl and references.jsonl: words before anything was written after them."""

    id: Name
    contents: Something


class ReportRow(Row):
    """A generated report with its context and, as `report`, the human reference summary."""

    qid: Name
    topic: Words
    questions: list[Words | None]
    type: Words = ""
    docids: list[Name] = []
    report: Words | None = None
    response: Words


Offsets = Annotated[list[Whole], Field(min_length=2, max_length=2)]


class QlabelsRow(Row):
    """T1: one report by one rater. Ours are `offsets`, where words that occur twice are meant, and `spans`."""

    id: Name
    question_based_nugget: dict[Words, Words]
    answerability: list[Annotated[Whole, Field(ge=FILTERED, le=1)]]
    offsets: dict[Words, list[Offsets]] = {}
    spans: Spans = {}


class QrelsRow(Row):
    """T2: one passage by one rater, for one topic's questions, keyed by their index."""

    id: Name
    document: Name
    relevances: dict[Words, Whole]
    rationales: dict[Words, Words] = {}
    offsets: dict[Words, list[Offsets]] = {}
    spans: Spans = {}


class JudgementRow(Row):
    """A judge's grades of one text for one topic's questions; null where it gave none. `spans` is ours."""

    example_id: Name = Field(validation_alias=AliasChoices("example_id", "id"))
    pid: Name = Field(validation_alias=AliasChoices("pid", "docid"))
    rating: list[Whole | None]
    spans: Spans = {}


class RunRow(Row):
    """A line of a TREC run."""

    line: Words


class GradeRow(Row):
    """A line of qrels: a text's grade for the topic as a whole."""

    topic: Name
    text: Name
    grade: Whole


_Mark = Annotated[tuple[Words, Name | None], Field(strict=False)]  # JSON has lists


class StatementRow(Row):
    """Where a statement is in its report, in code points; its citations as written, and what each names."""

    start: Annotated[Whole, Field(ge=0)]
    end: Annotated[Whole, Field(ge=1)]
    # JSON has lists.
    cited: Annotated[
        tuple[Annotated[tuple[Words, Name | None], Field(strict=False)], ...], Field(strict=False)
    ] = ()


class CitedRow(Row):
    """Our own reports_cited.jsonl, and what others' reports become: called like its topic if not by a name."""

    topic: Name
    system: Words
    name: Words = ""
    body: Words
    statements: list[StatementRow]
