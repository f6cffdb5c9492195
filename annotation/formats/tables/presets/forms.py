"""Preset of Google Forms: a row for each person, a column for each question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from annotation.formats.tables.cells import Cell
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets.base import (
    MAX_LABELS,
    PresetError,
    PresetTables,
    binary_rubric,
    derived,
    labels_rubric,
    only_table,
)
from annotation.formats.tables.presets.nested import text_cell
from annotation.formats.tables.presets.scores import number_in, rubric_slug, whole_rubric
from annotation.formats.tables.source import Row, Table
from annotation.formats.tables.values import FALSE, TRUE, is_missing, several_answers

PERSON = "number of the person"
TIMESTAMPS = frozenset(
    {
        *("timestamp", "zeitstempel", "horodateur", "marca temporal", "informazioni cronologiche"),
        *("tijdstempel", "carimbo de data/hora", "tidsstämpel", "sygnatura czasowa"),
        *("отметка времени", "タイムスタンプ", "时间戳记", "타임스탬프"),
    }
)
_GRID = re.compile(r"\A(?P<title>.*?)\s*\[(?P<row>.+)\](?:\s\(\d+\))?\Z", re.DOTALL)
_OF_QUIZ = ("[score]", "[feedback]")  # ends of columns that a quiz adds to each question
_MAX_SCALE = 10


def is_form(headers: Sequence[str]) -> bool:
    """Return whether the first header is a form's time of the answer."""
    return bool(headers) and headers[0].strip().casefold() in TIMESTAMPS


def google_forms(files: Sequence[TableFile], constants: Mapping[str, str]) -> PresetTables:
    """Read the answers to a form; the row of a grid in brackets is the text that people grade."""
    preset = PresetTables()
    for file in files:
        table = only_table(file)
        questions = _questions(table)
        if not questions:
            message = "has no question with grades: a grid's columns are called Question [Row]"
            raise PresetError(table.name, message)
        if "rubric" not in constants:
            _refuse_checkboxes(table, questions)
        titles = list(dict.fromkeys(title for title, _ in questions.values()))
        roles: dict[str, Any] = {}
        for header, (title, texts) in questions.items():
            role: dict[str, str] = {"role": "grade", "text.body": texts}
            if "rubric" not in constants:
                role["rubric"] = _rubric(preset, table, title, questions)
            elif len(titles) > 1 and title:
                role["question.text"] = title
            roles[header] = role
        if "rater" not in constants:
            roles[PERSON] = "rater"
        left_out = len(table.headers) - len(questions)
        preset.counts["columns of a form that hold no grades: not read"] += left_out
        with_person = derived(table, [*table.headers, PERSON], _numbered)
        base = {"text.kind": "passage", "rater.kind": "human"}
        preset.add(with_person, roles, base | dict(constants))
    return preset


def _numbered(rows: Iterator[Row]) -> Iterator[Row]:
    """Name people by the order of their rows: their addresses are not stored."""
    for position, (number, cells) in enumerate(rows, 1):
        yield number, {**cells, PERSON: f"person-{position}"}


def _questions(table: Table) -> dict[str, tuple[str, str]]:
    """Return the columns of grades: title of the question, and the words of the text."""
    cells_by_header = _cells_by_header(table)
    of_form = table.headers[1:] if is_form(table.headers) else ()  # the first is the time
    questions = {}
    for header in table.headers:
        cells = cells_by_header[header]
        match = _GRID.match(header)
        if header.rstrip().casefold().endswith(_OF_QUIZ):
            continue
        if match:
            if _are_grades(cells):
                questions[header] = match["title"].strip(), match["row"].strip()
        elif header in of_form and _is_scale(cells):
            questions[header] = "", header
    return questions


def _cells_by_header(table: Table) -> dict[str, list[Cell]]:
    cells_by_header: dict[str, list[Cell]] = {header: [] for header in table.headers}
    for _, cells in table.rows():
        for header in table.headers:
            if not is_missing(cells.get(header)):
                cells_by_header[header].append(cells.get(header))
    return cells_by_header


def _refuse_checkboxes(table: Table, questions: Mapping[str, tuple[str, str]]) -> None:
    """Raise PresetError for an answer of several checkboxes, which no new rubric takes."""
    texts_by_title: dict[str, set[str]] = {}
    for header, answers_below in _cells_by_header(table).items():
        if header in questions:
            title = questions[header][0]
            texts_by_title.setdefault(title, set()).update(map(text_cell, answers_below))
    for number, cells in table.rows():
        for header, (title, _) in questions.items():
            answers = _checked(text_cell(cells.get(header)), texts_by_title.get(title, set()))
            if len(answers) > 1:
                message = f"{header}: {several_answers(answers, 'a new rubric takes one')}"
                raise PresetError(table.location(number, header), message)


def _checked(text: str, texts: Set[str]) -> list[str]:
    """Return the checked boxes of an answer.

    A CSV file joins them by semicolons, and a spreadsheet by commas. A comma may be one
    of a label: it separates labels that another answer has, too.
    """
    if len(parts := _parts(text, ";")) > 1:
        return parts
    parts = _parts(text, ", ")
    elsewhere = {part for answer in texts - {text} for part in _parts(answer, ", ")}
    return parts if not texts.isdisjoint(parts) or elsewhere.issuperset(parts) else [text]


def _parts(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]


def _are_grades(cells: Sequence[Cell]) -> bool:
    """Return whether cells are few whole numbers or short words, or sets of them."""
    texts = {text_cell(cell) for cell in cells}
    return _are_labels(texts) or any(
        _are_labels({part for text in texts for part in _parts(text, separator)})
        for separator in (";", ", ")
    )


def _are_labels(texts: Set[str]) -> bool:
    numbers = [number for text in texts if (number := number_in(text)) is not None]
    if not texts or not all(number.is_integer() for number in numbers):
        return False
    return len(texts) <= MAX_LABELS and all(len(text) <= 60 for text in texts)


def _is_scale(cells: Sequence[Cell]) -> bool:
    """Return whether cells are whole numbers of a scale, or yes and no."""
    texts = {text_cell(cell).casefold() for cell in cells}
    if texts and texts <= TRUE | FALSE:
        return True
    numbers = [number_in(text) for text in texts]
    return bool(numbers) and all(
        number is not None and number.is_integer() and 0 <= number <= _MAX_SCALE
        for number in numbers
    )


def _rubric(
    preset: PresetTables, table: Table, title: str, questions: Mapping[str, tuple[str, str]]
) -> str:
    """Return the slug of a question's rubric, and add it: all columns of a grid have one."""
    slug = rubric_slug("google-forms", title or "scale")
    if slug not in preset.rubrics:
        cells_by_header = _cells_by_header(table)
        texts = {
            text_cell(cell)
            for header, (of_title, _) in questions.items()
            if of_title == title
            for cell in cells_by_header[header]
        }
        preset.rubrics[slug] = _rubric_of(title or "Scale", texts)
    return slug


def _rubric_of(title: str, texts: set[str]) -> dict[str, Any]:
    if {text.casefold() for text in texts} <= TRUE | FALSE:
        return binary_rubric(title)
    numbers = [number for text in texts if (number := number_in(text)) is not None]
    whole = whole_rubric(title, numbers) if len(numbers) == len(texts) else None
    return whole or labels_rubric(title, texts)
