"""Potato: its JSON Lines export, and the files of each user of versions 1 and 2.

A line has the answers of one user to one instance, which is a pair. A grade is the label chosen in
the scheme of its rubric, a span one whose name is the rubric. Lines of models and baselines have an
`annotator_origin`. Offsets are code points: of the text in our lines, of the displayed text in
Potato's own. The quote tells which; a state, which has none, is always Potato's.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, AliasChoices, ConfigDict, Field

from annotation.formats.foreign import streamed
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
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
    grade_or_label,
    id_of,
    located_spans,
    quotes_json,
    reader,
)
from annotation.formats.layout import Source
from annotation.formats.left_out_rows import Part
from annotation.formats.records import Name, RatingRow, Row, SpanRow, StoredText, WholeNumber
from annotation.formats.summary import Conversion
from annotation.formats.translation import InvalidFileError, Skipped

_KINDS = {HUMAN: "human", MODEL: "llm", BASELINE: "tool"}
_OURS = {theirs: ours for ours, theirs in _KINDS.items()}
_BOX = "text_box"
_TYPED = frozenset({_BOX, "free_response"})
_STATE = "user_state.json"
_OF_VERSION_1 = "annotated_instances.jsonl"
_ORDER = "annotation_order.txt"  # which version 1 writes into the folder of each user
_WITHOUT_ANSWERS = (
    *("annotation_history.jsonl", "device_visits.json", "phase_responses.jsonl"),
    *("assigned_user_data.json", "task_assignment.json", "user_config.json"),  # of version 1
)
_SCALE_POINT = re.compile(r"scale_(\d+)")  # of a Likert scale
_FIELDS_OF_NUMBERS = frozenset({"select-one", "slider", "number", "confidence_level"})
NO_USER = (
    "has no names of users: import the folder annotation_output of Potato 1, which has a folder "
    "for each user"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NOT_CHOSEN = (None, False, "", "false")


class _Origin(Row):
    kind: StoredText = HUMAN


class _Span(Row):
    """A span; `label` is called `name` in some versions."""

    start: Annotated[WholeNumber, Field(ge=0)]
    end: Annotated[WholeNumber, Field(ge=0)]
    name: Name = Field(validation_alias=AliasChoices("name", "label"))
    text: StoredText = ""


def _chosen(labels: dict[str, Any]) -> tuple[GradeOrLabels | None, int]:
    """Return the chosen grade, and the number of typed answers.

    The grade is the label, or the value of a scale. Words are labels, for the rubric to resolve: their
    value may be the key that chooses them.
    """
    typed = len(labels.keys() & _TYPED)
    if typed == len(labels) > 0:
        return None, typed
    chosen = {
        label: value
        for label, value in labels.items()
        if label not in _TYPED and value not in _NOT_CHOSEN
    }
    grades = [_grade(label, value) for label, value in chosen.items()]
    if len(grades) == 1:
        return grades[0], typed
    if not grades or any(isinstance(grade, int) for grade in grades):
        raise ValueError("must have one label that is chosen")
    return tuple(chosen), typed


def _grade(label: str, value: Any) -> GradeOrLabels:
    if point := _SCALE_POINT.fullmatch(label):
        return int(point[1])
    return grade_or_label(value if label in _FIELDS_OF_NUMBERS else label)


class _Typed(Row):
    text: QuotesText = Field(default="", validation_alias=_BOX)


class _Labels(Row):
    """Answers by scheme: all but one are rubrics."""

    model_config = ConfigDict(extra="allow")

    quotes: _Typed = Field(default=_Typed(), validation_alias=QUOTES)
    __pydantic_extra__: dict[str, Annotated[dict[str, Any], AfterValidator(_chosen)]] = Field(
        init=False
    )


class _Record(Row):
    instance_id: PairName
    user_id: StoredText | None = None
    annotator_origin: _Origin = _Origin()
    labels: _Labels = _Labels()
    spans: dict[str, list[_Span]] = {}


def _parts(line: dict[str, Any]) -> Iterator[Part]:
    yield Part(line, id_of(line.get("instance_id")), person=id_of(line.get("user_id")))


def _into(line: _Record) -> Iterator[RatingRow | Skipped]:
    if not line.user_id:
        yield Skipped(Conversion.NO_ACCOUNT)
        return
    # The output of `_chosen`, which the declared type does not state.
    answers = cast(
        dict[str, tuple[GradeOrLabels | None, int]], line.labels.__pydantic_extra__ or {}
    )
    spans: dict[str, list[SpanRow]] = defaultdict(list)
    for span in chain.from_iterable(line.spans.values()):
        row = SpanRow.model_construct(start=span.start, end=span.end, quote=span.text)
        spans[span.name].append(row)
    yield from [Skipped(Conversion.NO_GRADES)] * sum(typed for _, typed in answers.values())
    yield from Answers(
        pair=line.instance_id,
        rater=line.user_id,
        kind=_OURS.get(line.annotator_origin.kind, MODEL),
        grades={rubric: grade for rubric, (grade, _) in answers.items() if grade is not None},
        spans=spans,
        quotes=line.labels.quotes.text,
    ).rows()


def _displayed_offsets(body: str) -> list[int]:
    """Return the offset in the text of each character that Potato displays.

    It drops control characters except line feeds, all but the first of several spaces, and white
    space at both ends.
    """
    offsets = [at for at, sign in enumerate(body) if sign == "\n" or not _CONTROL.match(sign)]
    offsets = [
        at
        for before, at in pairwise([-1, *offsets])
        if before < 0 or body[before] + body[at] != "  "
    ]
    while offsets and body[offsets[-1]].isspace():
        offsets.pop()
    first = next((n for n, at in enumerate(offsets) if not body[at].isspace()), 0)
    return offsets[first:]


_NAMES = {
    "rater": "user_id",
    "rater_kind": "annotator_origin",
    "rubric": "labels",
    "grade": "labels",
    "spans": "spans",
}
_of_lines = reader(
    _Record, _into, _NAMES, pair="instance_id", parts=_parts, displayed_offsets=_displayed_offsets
)


def sources(file: File, folder: Folder) -> Iterator[Source]:
    """Yield the sources of an export or of user states. Potato's other files have no answers."""
    if file.base in _WITHOUT_ANSWERS or (file.base == _OF_VERSION_1 and _is_repeated(file, folder)):
        return
    for source in _of_lines(file, folder):
        if file.base == _STATE and source.translation:
            # One of several participants may have no answers.
            may_be_empty = len(folder.files) > 1
            state = replace(source.translation, values=_of_state, may_be_empty=may_be_empty)
            yield replace(source, translation=state)
        elif file.base == _OF_VERSION_1 and source.translation:
            yield replace(source, translation=replace(source.translation, values=_of_version_1))
        else:
            yield source


def _is_repeated(file: File, folder: Folder) -> bool:
    """Return whether other files of Potato have the same answers, with the names of users."""
    state_name = f"{file.name.rpartition('/')[0]}/{_STATE}".lstrip("/")
    below = f"{file.name.removesuffix(_OF_VERSION_1)}"
    return any(
        file_beside.name == state_name
        or (
            file_beside is not file
            and file_beside.base == _OF_VERSION_1
            and file_beside.name.startswith(below)
        )
        for file_beside in folder.files
    )


def _of_version_1(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the answers of a user as lines of the export; the folder is called like the user."""
    folder_user = path.parent.name if (path.parent / _ORDER).exists() else ""
    for line, value in streamed.objects(path):
        if not isinstance(value, dict):
            yield line, value
            continue
        user = value.get("user_id") or folder_user
        if not user:
            raise InvalidFileError(line, NO_USER)
        yield line, {"instance_id": value.get("id"), "user_id": user} | _answers_of_version_1(value)


def _answers_of_version_1(value: dict[str, Any]) -> dict[str, Any]:
    spans = value.get("span_annotations") or []
    if isinstance(spans, list):
        spans = {SPANS: [_span_of_version_1(span) for span in spans]}
    labels = value.get("label_annotations", value.get("annotation"))
    return {"labels": labels or {}, "spans": spans}


def _span_of_version_1(span: Any) -> Any:
    """Return a span of version 1 as one of the export; its words are HTML."""
    if not isinstance(span, dict):
        return span
    name, quote = span.get("annotation"), span.get("span")
    text = html.unescape(quote) if isinstance(quote, str) else quote
    return {"start": span.get("start"), "end": span.get("end"), "name": name, "text": text}


def _of_state(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield all answers of a user as lines of the export, by instance."""
    state = {name: (line, value) for line, name, value in streamed.values(path)}
    line, labels = state.get("instance_id_to_label_to_value", (1, {}))
    _, spans = state.get("instance_id_to_span_to_value", (1, {}))
    if not isinstance(labels, dict) or not isinstance(spans, dict):
        raise InvalidFileError(line, "answers and spans must be by instance")
    _, user = state.get("user_id", (1, path.parent.name))
    for instance in sorted({*labels, *spans}):
        try:
            answers = _by_scheme(labels.get(instance, {}), spans.get(instance, {}))
        except (TypeError, ValueError, LookupError) as error:
            raise InvalidFileError(
                line, f"answers of {instance} are neither by scheme nor pairs"
            ) from error
        yield line, {"instance_id": instance, "user_id": user, **answers}


def _by_scheme(labels: Any, spans: Any) -> dict[str, Any]:
    """Return labels and spans by scheme; they may be lists of pairs, [{schema, name}, value]."""
    if isinstance(labels, list):
        schemes: dict[str, dict[str, Any]] = defaultdict(dict)
        for label, value in labels:
            schemes[label["schema"]][label["name"]] = value
        labels = dict(schemes)
    if isinstance(spans, list):
        spans = {SPANS: [span for span, _ in spans]}
    return {"labels": labels, "spans": spans}


def records(pair: Pair) -> Iterator[dict[str, Any]]:
    """Yield a record for each rater of the pair."""
    for people in (True, False):
        for name, gradings in pair.by_rater(people=people).items():
            yield _record(pair, name, gradings)


def _record(pair: Pair, rater: str, gradings: Sequence[Grading]) -> dict[str, Any]:
    labels = {graded.rubric: {str(graded.grade): str(graded.grade)} for graded in gradings}
    quotes = quotes_json(gradings)
    spans = [
        {
            "schema": SPANS,
            "name": grading.rubric,
            "title": grading.rubric,
            "start": span.start,
            "end": span.end,
            "text": span.quote,
        }
        for grading in gradings
        for span in located_spans(grading)
    ]
    return {
        "instance_id": pair.name,
        "user_id": rater,
        "annotator_origin": {"kind": _KINDS[gradings[0].kind]},
        "labels": labels | ({QUOTES: {_BOX: quotes}} if quotes else {}),
        "spans": {SPANS: spans} if spans else {},
        "links": {},
    }
