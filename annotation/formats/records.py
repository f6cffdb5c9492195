"""The rows of the authors' files, as shapes. No Django here.

Strict: a number in quotes or a true where a grade should be is an error, not a guess. Keys that
no shape names (`k`, `coverage`, `answerable_at_3`) can be worked out again and are not read.
"""

from typing import Annotated

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field

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


def checked_name(value: str) -> str:
    """A name that a TREC run can hold too: 1 to 250 characters, no white space."""
    checked_words(value)
    if not 0 < len(value) <= 250 or value.split() != [value] or not value.isprintable():
        raise ValueError("must have 1 to 250 characters and no white space")
    return value


Words = Annotated[str, AfterValidator(checked_words)]
Name = Annotated[str, AfterValidator(checked_name)]


class Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class RaterRow(Row):
    """Our own raters.jsonl: the kind of a rater that its other files would not tell."""

    name: Name
    kind: Words


class LevelRow(Row):
    grade: int
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
    eta: int | None = None
    span_from: int | None = None
    guideline: Words
    levels: list[LevelRow]


class SpanRow(Row):
    start: Annotated[int, Field(ge=0)] | None = None
    end: Annotated[int, Field(ge=0)] | None = None
    quote: Words = ""
    source_quote: Words = ""


class RatingRow(Row):
    """One rating: a line of the long table, or as little of one as says which pair is meant."""

    rater: Name
    rater_kind: Words = Field(validation_alias=AliasChoices("rater_kind", "kind"))
    rubric: Name
    topic: Words = ""
    question_index: Annotated[int, Field(ge=0)] | None = None
    question: Words | None = None
    text_kind: Words = "passage"
    system: Words = ""
    text: Name
    text_sha256: Words = ""
    grade: int | None
    spans: list[SpanRow] = []


class TopicRow(Row):
    id: Annotated[Name, Field(max_length=200)]
    request: Words


class FilteredQuestion(Row):
    """Why a question is filtered, and at which eta it was."""

    because: Annotated[Words, Field(min_length=1, max_length=200)]
    eta: Annotated[int, Field(ge=0, le=100)] | None = None


class SubQuestionsRow(Row):
    """`filtered` is ours: {index: why}, where no annotated report says it with a null."""

    id: Name
    subquestions: Annotated[list[Words], Field(min_length=1, max_length=1000)]
    filtered: dict[Words, FilteredQuestion] = {}


class PassageRow(Row):
    id: Name
    contents: Words


class ReportRow(Row):
    """A generated report with its context and, as `report`, the human reference summary."""

    qid: Name
    topic: Words
    questions: list[Words | None]
    type: Words = ""
    docids: list[Name] = []
    report: Words | None = None
    response: Words


Offsets = Annotated[list[int], Field(min_length=2, max_length=2)]


class QlabelsRow(Row):
    """T1: one report by one rater. `offsets` is ours: where words that occur twice are meant."""

    id: Name
    question_based_nugget: dict[Words, Words]
    answerability: list[Annotated[int, Field(ge=FILTERED, le=1)]]
    offsets: dict[Words, list[Offsets]] = {}


class QrelsRow(Row):
    """T2: one passage by one rater, for one topic's questions, keyed by their index."""

    id: Name
    document: Name
    relevances: dict[Words, int]
    rationales: dict[Words, Words] = {}
    offsets: dict[Words, list[Offsets]] = {}


class JudgementRow(Row):
    """A judge's grades of one text for one topic's questions; null where it gave none."""

    example_id: Name = Field(validation_alias=AliasChoices("example_id", "id"))
    pid: Name = Field(validation_alias=AliasChoices("pid", "docid"))
    rating: list[int | None]
