"""Presets of doccano and Prodigy: labels of passages become grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets.base import (
    PresetError,
    PresetTables,
    binary_rubric,
    column,
    labels_rubric,
    listed,
    only_table,
    other_headers,
    required,
)
from annotation.formats.tables.presets.nested import is_absent, nested_value, parsed, text_cell
from annotation.formats.tables.presets.scores import MAX_LEVELS, rubric_slug, rubric_slugs
from annotation.formats.tables.source import Row, Table
from annotation.formats.tables.values import several_answers

Constants = Mapping[str, str]
_TEXT = ("text", "data")
_LABELS = ("label", "labels", "entities", "annotations")
_COMMENTS = ("Comments", "comments", "comment")
_MAX_LABEL = 100  # characters; longer ones are free answers
_ROLES = {
    "id of the text": "text.id",
    "text": "text.body",
    "person": "rater",
    "rubric of the label": "rubric",
    "label": "grade",
    "spans": "spans",
    "comment": "comment",
}
ANSWERS = ("accept", "reject", "ignore")


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    label: str


@dataclass
class _Item:
    """Text of a row, with the labels that a person gave it."""

    row: int
    name: str
    body: str
    person: str
    comment: str = ""
    word_labels: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    """Labels that the person could choose from, where the file has them."""
    spans: list[_Span] | None = None
    """None where the row is not about spans; [] where nothing was marked."""
    grades: dict[str, int] = field(default_factory=dict)
    """0 or 1, by label."""
    is_set: bool = False
    """True where the person could choose several labels, or none, and a rubric is named."""

    def cells(self, rubric: str = "", grade: Cell = None, spans: Sequence[_Span] = ()) -> Row:
        marked = [
            {"start": span.start, "end": span.end, "quote": self.body[span.start : span.end]}
            for span in sorted(spans, key=lambda span: (span.start, span.end))
        ]
        cells: dict[str, Cell] = {
            "id of the text": self.name,
            "text": self.body,
            "person": self.person,
            "rubric of the label": rubric,
            "label": grade,
            "spans": [*marked],
            "comment": self.comment,
        }
        return self.row, cells


def _comment(cell: Cell) -> str:
    """Return the comments of a text as one note: a text, or a list of texts or objects."""
    value = parsed(cell)
    if not isinstance(value, list):
        return text_cell(value)
    parts = [item.get("text") if isinstance(item, dict) else item for item in value]
    return "\n".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def _span(preset: PresetTables, body: str, value: Any) -> _Span | None:
    """Return a span as [start, end, label] or as an object; None, counted, where it is none."""
    start = end = label = None
    if isinstance(value, list) and len(value) >= 3:
        start, end, label = value[:3]
    elif isinstance(value, dict):
        start = value.get("start_offset", value.get("start"))
        end = value.get("end_offset", value.get("end"))
        label = value.get("label")
    offsets = [offset for offset in (start, end) if type(offset) is int]
    if len(offsets) == 2 and text_cell(label) and 0 <= offsets[0] < offsets[1] <= len(body):
        return _Span(offsets[0], offsets[1], text_cell(label))
    preset.counts["spans outside of their text or without a label: left out"] += 1
    return None


def _spans(preset: PresetTables, body: str, values: Sequence[Any]) -> list[_Span]:
    spans = [_span(preset, body, value) for value in values]
    return list(dict.fromkeys(span for span in spans if span is not None))


def _add_items(
    preset: PresetTables,
    prefix: str,
    items: Sequence[tuple[Table, list[_Item], list[str]]],
    constants: Constants,
    slug_of_words: str,
) -> None:
    """Add the texts and their labels.

    A label of spans becomes a rubric of 0 and 1; labels of whole texts share one rubric.
    """
    everything = [item for _, of_table, _ in items for item in of_table]
    of_spans = {span.label for item in everything for span in item.spans or ()}
    word_labels = {item.word_labels[0] for item in everything if len(item.word_labels) == 1}
    options = {option for item in everything for option in item.options}
    binary = {label for item in everything for label in item.grades}
    slugs = rubric_slugs(prefix, of_spans | binary)
    for label, slug in slugs.items():
        preset.rubrics[slug] = binary_rubric(label)
    if len(word_labels) > MAX_LEVELS or any(
        len(word_label) > _MAX_LABEL for word_label in word_labels
    ):
        preset.counts["labels that are free answers: no grade"] += len(word_labels)
        word_labels = set()
    if word_labels:
        if len(word_labels | options) <= MAX_LEVELS:
            word_labels |= options
        preset.rubrics[slug_of_words] = labels_rubric(slug_of_words, word_labels)
    roles = {name: role for name, role in _ROLES.items() if role not in constants}
    for table, of_table, unread in items:
        rows: list[Row] = []
        graded: list[Row] = []
        for item in of_table:
            before = len(graded)
            if item.spans is not None:
                for label in sorted(of_spans):
                    marked = [span for span in item.spans if span.label == label]
                    graded.append(item.cells(slugs[label], int(bool(marked)), marked))
            for label, grade in item.grades.items():
                graded.append(item.cells(slugs[label], grade))
            if item.is_set or len(item.word_labels) > 1:
                _check_rubric_of_sets(table, item, constants)
                graded.append(item.cells(slug_of_words, [*item.word_labels]))
            elif item.word_labels and item.word_labels[0] in word_labels:
                graded.append(item.cells(slug_of_words, item.word_labels[0]))
            if len(graded) == before:
                rows.append(item.cells())
        base = {"text.kind": "passage", "rater.kind": "human"} | dict(constants)
        only_texts = {name: role for name, role in roles.items() if role in _OF_TEXTS}
        for part, part_roles in ((graded, roles), (rows, only_texts)):
            if part:
                preset.add(listed(table, [*part_roles, *unread], part), part_roles, base)


def _check_rubric_of_sets(table: Table, item: _Item, constants: Constants) -> None:
    """Raise PresetError for several labels of a text where no rubric for them is named."""
    if "rubric" not in constants:
        message = several_answers(item.word_labels, "a new rubric takes one")
        raise PresetError(table.location(item.row, ""), message)


_OF_TEXTS = ("text.id", "text.body", "rater", "comment")


def _no_texts(preset: PresetTables, files: Sequence[TableFile]) -> None:
    if not preset.tables:
        raise PresetError(files[0].name, "has no row with a text")


def doccano(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read doccano's exports, a file a person: labels of texts, or labels of spans."""
    preset = PresetTables()
    items = []
    for file in files:
        table = only_table(file)
        text = required(table, "text", *_TEXT)
        labels = required(table, "labels", *_LABELS)
        comments = column(table, *_COMMENTS)
        of_table = []
        for number, cells in table.rows():
            body = cells.get(text)
            if not isinstance(body, str) or not body.strip():
                preset.counts["rows without a text: left out"] += 1
                continue
            item = _Item(number, text_cell(cells.get("id")), body, file.stem)
            item.comment = _comment(cells.get(comments))
            _doccano_labels(preset, item, parsed(cells.get(labels)))
            of_table.append(item)
        if any(item.spans for item in of_table):
            for item in of_table:
                if not item.word_labels:
                    item.spans = item.spans or []
        else:
            n_unlabelled = sum(not item.word_labels for item in of_table)
            preset.counts["texts without a label: no grade"] += n_unlabelled
        unread = other_headers(table, "id", text, labels, comments)
        items.append((table, of_table, unread))
    _add_items(preset, "doccano", items, constants, "doccano-label")
    _no_texts(preset, files)
    return preset


def _is_span(part: object) -> bool:
    return isinstance(part, list) or (
        isinstance(part, dict) and not {"start_offset", "start"}.isdisjoint(part)
    )


def _doccano_labels(preset: PresetTables, item: _Item, value: Any) -> None:
    """Read a cell of labels: a list of spans or words, or words joined by #, as in CSV."""
    if isinstance(value, list):
        if any(_is_span(part) for part in value):
            item.spans = _spans(preset, item.body, value)
        else:
            parts = [part.get("label") if isinstance(part, dict) else part for part in value]
            item.word_labels = [word_label for part in parts if (word_label := text_cell(part))]
    elif isinstance(value, str):
        item.word_labels = [part.strip() for part in value.split("#") if part.strip()]
    elif not is_absent(value) and not isinstance(value, dict):
        item.word_labels = [text_cell(value)]
    item.word_labels = list(dict.fromkeys(item.word_labels))


def prodigy(files: Sequence[TableFile], constants: Constants) -> PresetTables:
    """Read Prodigy's db-out: accept is 1 and reject is 0 for a label; choices are words."""
    preset = PresetTables()
    items = []
    for file in files:
        table = only_table(file)
        required(table, "text", "text")
        required(table, "answer", "answer")
        person = column(table, "_annotator_id", "_session_id")
        of_table = []
        for number, cells in table.rows():
            body = cells.get("text")
            if not isinstance(body, str) or not body.strip():
                preset.counts["tasks without a text: left out"] += 1
                continue
            name = text_cell(cells.get(person)) or text_cell(cells.get("_session_id"))
            item = _Item(number, "", body, name or file.stem)
            _prodigy_answer(preset, item, cells, table, has_rubric="rubric" in constants)
            of_table.append(item)
        used = ("text", "answer", "label", "spans", "options", "accept")
        unread = other_headers(table, *used, "_annotator_id", "_session_id")
        items.append((table, of_table, unread))
    _add_items(preset, "prodigy", items, constants, rubric_slug("prodigy", "choice"))
    _no_texts(preset, files)
    return preset


def _prodigy_answer(
    preset: PresetTables,
    item: _Item,
    cells: Mapping[str, Cell],
    table: Table,
    *,
    has_rubric: bool,
) -> None:
    answer = text_cell(cells.get("answer")).casefold()
    label = text_cell(cells.get("label"))
    options, spans = nested_value(cells, "options"), nested_value(cells, "spans")
    if answer not in ("accept", "reject"):
        preset.counts["tasks that were ignored: no grade"] += 1
    elif isinstance(options, list) and options:
        _prodigy_choice(preset, item, cells, answer, has_rubric=has_rubric)
        names = [option.get("id") for option in options if isinstance(option, dict)]
        item.options = [text for name in names if (text := text_cell(name))]
    elif label:
        item.grades[label] = int(answer == "accept")
    elif "spans" in table.headers and (
        not is_absent(cells.get("spans")) or not is_absent(cells.get("tokens"))
    ):  # a task of spans has its tokens also where nothing is marked
        if answer == "accept":
            item.spans = _spans(preset, item.body, spans if isinstance(spans, list) else [])
        else:
            preset.counts["marked texts that were rejected: no grade"] += 1
    else:
        item.grades["answer"] = int(answer == "accept")


def _prodigy_choice(
    preset: PresetTables,
    item: _Item,
    cells: Mapping[str, Cell],
    answer: str,
    *,
    has_rubric: bool,
) -> None:
    accepted = parsed(cells.get("accept"))
    chosen = accepted if isinstance(accepted, list) else [accepted]
    word_labels = [word_label for part in chosen if (word_label := text_cell(part))]
    is_multiple = text_cell(cells.get("config.choice_style")) == "multiple"
    item.is_set = is_multiple and has_rubric and answer == "accept"
    if answer == "reject" or not (word_labels or item.is_set):
        preset.counts["tasks without a choice: no grade"] += 1
    else:
        item.word_labels = list(dict.fromkeys(word_labels))
    if item.is_set:
        item.word_labels = _without_numbers(item.word_labels, nested_value(cells, "options"))


def _without_numbers(labels: Sequence[str], options: Any) -> list[str]:
    """Return labels with the words of options in place of their numbers, which are keys."""
    texts = {
        text_cell(option.get("id")): text_cell(option.get("text"))
        for option in options
        if isinstance(option, dict)
    }
    return [(label.isdecimal() and texts.get(label)) or label for label in labels]
