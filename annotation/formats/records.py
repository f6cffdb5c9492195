"""Row shapes (pydantic models) of the authors' files. No Django here.

Strict: a number in quotes or a true where a grade should be is an error, not a guess. A whole
number may be written as data frames write a column with a gap: 4.0 is 4, and 4.5 is an error. Keys
that no shape names (`k`, `coverage`, `answerable_at_3`) are derived and not read.
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

from annotation.origins import LONGEST_MODEL

NOT_APPLICABLE = "NA"  # the key that qlabels files give to every filtered question
MAX_QUESTIONS = 1000  # of a topic
UNJUDGED = -1
FILTERED = -2


def check_text(value: str) -> str:
    """Return a string that every database can store. Raises ValueError for others."""
    if "\x00" in value:
        raise ValueError("holds a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is no character") from None
    return value


@lru_cache(maxsize=10_000)  # a file says the same names over and over
def checked_name(value: str) -> str:
    """Return a name that a TREC run can hold: 1 to 250 characters, no white space."""
    # The blank is the only printable white space; NUL and lone surrogates are not printable.
    if 0 < len(value) <= 250 and value.isprintable() and " " not in value:
        return value
    check_text(value)
    raise ValueError("must have 1 to 250 characters and no white space")


def _checked_time(value: str) -> str:
    if datetime.fromisoformat(value).tzinfo is None:
        raise ValueError("has no time zone")
    return value


def check_not_empty(value: str) -> str:
    if not check_text(value):
        raise ValueError("is empty")
    return value


_EXACT = 2**53  # floats above it skip whole numbers


def whole_number(value: Any) -> Any:
    """Return the int that a float such as 4.0 stands for, below 2**53; else the value itself."""
    if type(value) is float and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value


def _checked_grade(value: Any) -> float | None:
    """Return a grade, or None for no grade.

    A fraction is left to the rubric, whose error lists its grades.
    """
    if value is None or type(value) is int:
        return value
    if type(value) is not float or value != value or abs(value) >= _EXACT:
        raise ValueError("Input should be a valid integer or null")
    return int(value) if value.is_integer() else value


def _checked_grade_or_labels(value: Any) -> float | tuple[str, ...] | None:
    """Return a grade, no grade, or the labels of a multi-label rubric that apply."""
    if isinstance(value, list):
        if all(isinstance(label, str) for label in value):
            return tuple(map(check_text, value))
        raise ValueError("a list of labels holds strings alone")
    return _checked_grade(value)


StoredText = Annotated[str, AfterValidator(check_text)]
RepeatedText = Annotated[str, AfterValidator(lru_cache(maxsize=1000)(check_text))]  # one of a few
NonEmptyText = Annotated[str, AfterValidator(check_not_empty)]
Name = Annotated[str, AfterValidator(checked_name)]
Time = Annotated[StoredText, AfterValidator(_checked_time)]
WholeNumber = Annotated[int, BeforeValidator(whole_number)]
Grade = Annotated[float | None, PlainValidator(_checked_grade)]
ExposureName = Literal["none", "judge", "raters", "both", "unknown", "feedback"]
GradeOrLabels = Annotated[float | tuple[str, ...] | None, PlainValidator(_checked_grade_or_labels)]


TextKey = tuple[str, str, str]  # natural key of a text in a dataset: kind, system, name


class Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class RaterRow(Row):
    """Our own raters.jsonl: facts about a rater that its grades do not state."""

    name: Name
    kind: StoredText
    adjudicator: bool = False
    first_rating: Time | None = None


class ExampleRow(Row):
    text: StoredText
    question: StoredText = ""
    reason: StoredText


class LevelRow(Row):
    grade: WholeNumber
    label: StoredText
    name: StoredText = ""
    key: StoredText = ""
    colour: StoredText = ""
    examples: list[ExampleRow] = []


class ImpossibleRow(Row):
    grade: WholeNumber
    rubric: StoredText
    grades: list[WholeNumber]


class RubricRow(Row):
    """Our own rubrics.jsonl."""

    slug: Name
    title: StoredText
    question: StoredText = ""
    scale: StoredText = "ordinal"
    shows: list[StoredText] = ["text", "question"]
    eta: WholeNumber | None = None
    span_from: WholeNumber | None = None
    impossible: list[ImpossibleRow] = []
    guideline: StoredText
    levels: list[LevelRow]


class SpanRow(Row):
    """A span that supports a grade. Without `located` it is searched for in the text."""

    start: Annotated[WholeNumber, Field(ge=0)] | None = None
    end: Annotated[WholeNumber, Field(ge=0)] | None = None
    quote: StoredText = ""
    source_quote: StoredText = ""
    located: Literal["", "exact", "normalised", "unlocated"] = ""


Spans = dict[StoredText, list[SpanRow]]  # by the position of a question


class RatingRow(Row):
    """A rating: a line of the long table, or the part of one that identifies the pair."""

    rater: Name
    rater_kind: RepeatedText = Field(validation_alias=AliasChoices("rater_kind", "kind"))
    rubric: Name
    topic: StoredText = ""
    question_index: Annotated[WholeNumber, Field(ge=0)] | None = None
    question: StoredText | None = None
    text_kind: StoredText = "passage"
    system: StoredText = ""
    text: Name
    text_sha256: StoredText = ""
    grade: GradeOrLabels
    copied_from: StoredText = ""
    copied_from_system: StoredText = ""
    exposure: ExposureName = "unknown"
    spans: list[SpanRow] = Field(default_factory=list)  # a [] would be copied, line by line


class ExposureRow(Row):
    """Our own exposures.jsonl: what a rater had seen, of all grades under a rubric or of one."""

    rater: Name
    rubric: Name
    exposure: ExposureName
    topic: StoredText = ""
    question_index: Annotated[WholeNumber, Field(ge=0)] | None = None
    text_kind: RepeatedText = "passage"
    system: StoredText = ""
    text: StoredText = ""

    @property
    def text_key(self) -> TextKey:
        return self.text_kind, self.system, self.text


class CopiedGradeRow(Row):
    """Our own copied_grades.jsonl: a grade, and the text of equal words that was read."""

    rater: Name
    rubric: Name
    topic: Name
    question_index: Annotated[WholeNumber, Field(ge=0)]
    text_kind: RepeatedText = "passage"
    system: StoredText = ""
    text: Name
    copied_from_system: StoredText = ""
    copied_from: Name

    @property
    def text_key(self) -> TextKey:
        return self.text_kind, self.system, self.text

    @property
    def read_text_key(self) -> TextKey:
        return self.text_kind, self.copied_from_system, self.copied_from


def _checked_group(value: str) -> str:
    if len(value) <= 80 and (not value or value.replace("-", "a").replace("_", "a").isalnum()):
        return value
    raise ValueError("must have 80 characters at most: letters, digits, - and _")


class TopicRow(Row):
    """`group` is ours: the kind of task, domain or track."""

    id: Annotated[Name, Field(max_length=200)]
    request: StoredText
    group: Annotated[RepeatedText, AfterValidator(_checked_group)] = ""


LARGEST = 1e100
"""Of a number that no grade bounds: sums of such are numbers, too."""


def checked_setting(value: Any) -> Any:
    if isinstance(value, str):
        return check_text(value)
    if isinstance(value, int | float) and -LARGEST <= value <= LARGEST:
        return value
    if value is None:
        return value
    raise ValueError(f"must be words, true, false, null or a number up to {LARGEST:g}")


class SystemRow(Row):
    """Our own systems.jsonl: settings of a system, as names with plain values."""

    system: Name
    settings: dict[Name, Annotated[Any, AfterValidator(checked_setting)]]


class OriginRow(Row):
    """Origin of a text, a sub-question or a run: a model in a role."""

    role: Literal["wrote", "asked", "retrieved", "reranked", "filtered"]
    model: Annotated[NonEmptyText, Field(max_length=LONGEST_MODEL)]
    revision: Annotated[StoredText, Field(max_length=LONGEST_MODEL)] = ""
    edited: bool = False


class ValueRow(Row):
    """Our own values.jsonl: measures of a report, computed elsewhere.

    Without a name, the report is called like its topic.
    """

    topic: Name
    system: StoredText
    name: StoredText = ""
    measure: Annotated[RepeatedText, Field(min_length=1, max_length=120)]
    value: Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]


class NoteRow(Row):
    """Our own notes.jsonl: a note about a pair, with its author and its time and zone.

    A note without a time, from a table, has that of the import, unless the same note is there.
    """

    topic: Name
    question_index: Annotated[WholeNumber, Field(ge=0)]
    text_kind: RepeatedText = "passage"
    system: StoredText = ""
    text: Name
    by: Annotated[NonEmptyText, Field(max_length=150)]
    at: Time | None = None
    note: NonEmptyText


class FilteredQuestion(Row):
    """The reason why a question is filtered, and the eta at which it was."""

    because: Annotated[StoredText, Field(min_length=1, max_length=200)]
    eta: Annotated[WholeNumber, Field(ge=0, le=100)] | None = None


class SubQuestionsRow(Row):
    """The questions of a topic.

    `filtered` is ours: {index: reason}, where no annotated report says it with a null. So is
    `groups`: the part of the request that each question is about, "" for none in particular.
    """

    id: Name
    subquestions: Annotated[list[StoredText], Field(min_length=1, max_length=MAX_QUESTIONS)]
    filtered: dict[StoredText, FilteredQuestion] = {}
    groups: list[Annotated[StoredText, Field(max_length=250)]] = []


class AddedQuestionRow(Row):
    """A sub-question that comes after those of its topic; `id` is the topic's."""

    id: Name
    question: NonEmptyText


class PassageRow(Row):
    """A passage. `document`, `start` and `end` are ours.

    They are its source document and its position there, in code points.
    """

    id: Name
    contents: StoredText
    document: Name | None = None
    start: Annotated[WholeNumber, Field(ge=0, le=2_000_000_000)] | None = None
    end: Annotated[WholeNumber, Field(ge=0, le=2_000_000_000)] | None = None


class DocumentRow(Row):
    """Our own documents.jsonl and references.jsonl: source documents and references."""

    id: Name
    contents: NonEmptyText


class ReportRow(Row):
    """A generated report with its context and, as `report`, the human reference summary."""

    qid: Name
    topic: StoredText
    questions: list[StoredText | None]
    type: StoredText = ""
    docids: list[Name] = []
    report: StoredText | None = None
    response: StoredText


Offsets = Annotated[list[WholeNumber], Field(min_length=2, max_length=2)]


class QlabelsRow(Row):
    """T1: a report by one rater.

    Ours are `offsets`, for quotes that occur twice, and `spans`.
    """

    id: Name
    question_based_nugget: dict[StoredText, StoredText]
    answerability: list[Annotated[WholeNumber, Field(ge=FILTERED, le=1)]]
    offsets: dict[StoredText, list[Offsets]] = {}
    spans: Spans = {}


class QrelsRow(Row):
    """T2: a passage by one rater, for a topic's questions, keyed by their index."""

    id: Name
    document: Name
    relevances: dict[StoredText, WholeNumber]
    rationales: dict[StoredText, StoredText] = {}
    offsets: dict[StoredText, list[Offsets]] = {}
    spans: Spans = {}


class JudgementRow(Row):
    """A judge's grades of one text for a topic's questions; null for no grade.

    `spans` is ours.
    """

    example_id: Name = Field(validation_alias=AliasChoices("example_id", "id"))
    pid: Name = Field(validation_alias=AliasChoices("pid", "docid"))
    rating: list[WholeNumber | None]
    spans: Spans = {}


class RunRow(Row):
    """A line of a TREC run."""

    line: StoredText


class GradeRow(Row):
    """A line of qrels: a text's grade for the topic as a whole."""

    topic: Name
    text: Name
    grade: WholeNumber


_Mark = Annotated[tuple[StoredText, Name | None], Field(strict=False)]  # JSON has lists


class StatementRow(Row):
    """Position of a statement in its report, in code points, and its citations.

    Each citation is the label as written and the name of the text that it cites.
    """

    start: Annotated[WholeNumber, Field(ge=0)]
    end: Annotated[WholeNumber, Field(ge=1)]
    # JSON has lists.
    cited: Annotated[
        tuple[Annotated[tuple[StoredText, Name | None], Field(strict=False)], ...],
        Field(strict=False),
    ] = ()


class CitedRow(Row):
    """Our own reports_cited.jsonl, also the target shape of other formats' reports.

    Without a name, the report is called like its topic.
    """

    topic: Name
    system: StoredText
    name: StoredText = ""
    body: StoredText
    statements: list[StatementRow]
