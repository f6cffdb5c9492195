"""Guess of a mapping, with the questions that a person must answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.formats.summary import DatasetImportError, Problem
from annotation.formats.tables.cells import SettingNeededError, TableError
from annotation.formats.tables.column_roles import is_answer, role_of, roles_of, settle_fractions
from annotation.formats.tables.column_shapes import (
    SAMPLE_ROWS,
    Shape,
    has_decimal_comma,
    has_decimal_point,
    missing_words,
    shapes_of,
)
from annotation.formats.tables.files import TableFile, open_tables
from annotation.formats.tables.mapping import ASK, SETTINGS, Role, TableImport, parse_mapping
from annotation.formats.tables.new_rubrics import Proposal, rubric_for, scales_of
from annotation.formats.tables.source import Table
from annotation.formats.tables.values import Scale

_MODEL_WORDS = re.compile(r"gpt|llama|claude|mistral|gemini|qwen|judge|deepseek", re.IGNORECASE)


@dataclass(frozen=True)
class OpenQuestion:
    """Question that a person must answer; `key` says what the answer sets."""

    key: str
    text: str
    choices: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        choices = "; ".join(
            f"{value}: {label}" if value and label else value or label
            for value, label in self.choices
        )
        return f"{self.text} ({choices})" if choices else self.text


@dataclass(frozen=True)
class GuessedTable:
    table: Table
    shapes: Mapping[str, Shape]
    mapping: dict[str, Any]


@dataclass
class Guess:
    """Guessed mapping as JSON, with "?" for open columns, and the open questions."""

    tables: list[GuessedTable] = field(default_factory=list)
    rubrics: dict[str, Any] = field(default_factory=dict)
    questions: list[OpenQuestion] = field(default_factory=list)

    @property
    def mapping(self) -> dict[str, Any]:
        value: dict[str, Any] = {"version": 1, "tables": [table.mapping for table in self.tables]}
        return value | ({"rubrics": self.rubrics} if self.rubrics else {})

    def add(self, proposal: Proposal) -> str:
        """Add a proposed rubric and the questions about it; return its slug."""
        if proposal.rubric is not None:
            self.rubrics[proposal.slug] = proposal.rubric
        if proposal.asks_scale:
            self.questions += _questions_about(proposal)
        return proposal.slug

    def as_import(self) -> TableImport:
        """Return the mapping. Raises MappingError while a column is open."""
        return parse_mapping(self.mapping)


def _questions_about(proposal: Proposal) -> list[OpenQuestion]:
    """Ask for the scale of a new rubric of numbers, and for eta."""
    slug, numbers = proposal.slug, proposal.numbers
    scales = scales_of(numbers)
    levels = range(scales[0][0], scales[0][1] + 1)
    return [
        OpenQuestion(
            f"levels:{slug}",
            f"Grades of {slug} are from {numbers[0]} to {numbers[-1]}. What is the scale?",
            tuple((f"{low}-{high}", "") for low, high in scales),
        ),
        OpenQuestion(
            f"eta:{slug}",
            f"From which grade of {slug} on does a text count as answering?",
            (("", "not stated"), *((str(level), "") for level in levels[1:])),
        ),
    ]


def guess_mapping(
    paths: Sequence[Path | TableFile],
    rubrics: Mapping[str, Scale],
    constants: Mapping[str, str],
) -> Guess:
    """Guess the roles of the columns of all tables of files.

    Raises DatasetImportError for a file that cannot be read, and files without a row.
    """
    files = [path if isinstance(path, TableFile) else TableFile.of(path) for path in paths]
    guess = Guess()
    for file in files:
        try:
            guess_file(guess, file, rubrics, constants, has_several_files=len(files) > 1)
        except SettingNeededError as error:
            problem = Problem(f"{file.name}{error.location}", 0, "", str(error))
            raise DatasetImportError([problem]) from error
    if not any(shape.n for table in guess.tables for shape in table.shapes.values()):
        names = ", ".join(file.name for file in files)
        raise DatasetImportError([Problem(names, 0, "", "has no row below a header")])
    return guess


def guess_file(
    guess: Guess,
    file: TableFile,
    rubrics: Mapping[str, Scale],
    constants: Mapping[str, str],
    *,
    has_several_files: bool,
) -> None:
    """Add the tables of a file to a guess.

    Raises SettingNeededError for a file that can be read in several ways, and DatasetImportError.
    """
    try:
        tables = open_tables(file)
    except SettingNeededError:
        raise
    except TableError as error:
        raise DatasetImportError(
            [Problem(f"{file.name}{error.location}", 0, "", str(error))]
        ) from error
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise DatasetImportError([Problem(file.name, 0, "", message)]) from error
    for table in tables:
        guess_table(guess, file, table, rubrics, constants, has_several_files=has_several_files)


def guess_table(
    guess: Guess,
    file: TableFile,
    table: Table,
    rubrics: Mapping[str, Scale],
    constants: Mapping[str, str],
    *,
    has_several_files: bool,
) -> None:
    """Add a table to a guess. Raises DatasetImportError if a row cannot be read."""
    try:
        sample = [cells for _, cells in islice(table.rows(), SAMPLE_ROWS)]
    except TableError as error:
        raise DatasetImportError(
            [Problem(f"{file.name}{error.location}", 0, "", str(error))]
        ) from error
    missing = missing_words(table, sample)
    shapes = shapes_of(table, sample, missing)
    roles = roles_of(table, shapes, sample)
    mapping: dict[str, Any] = {"columns": roles}
    if missing:
        mapping["missing"] = missing
    if has_several_files:
        mapping["file"] = file.name
    if table.worksheet:
        mapping["sheet"] = table.worksheet
    table_constants = _constants(guess, file, table, shapes, roles, constants)
    settle_fractions(roles, table_constants, constants)
    if any(role_of(column) == Role.GRADE for column in roles.values()):
        _choose_rubrics(guess, file, shapes, roles, table_constants, rubrics, constants)
    if any(has_decimal_comma(shape) for shape in shapes.values()):
        mapping["decimal"] = ","
        if any(has_decimal_point(shape) for shape in shapes.values()):
            question = f"Numbers of {table.name} are as 0,5 and as 0.5. What is the decimal sign?"
            guess.questions.append(OpenQuestion("decimal", question, ((",", ""), (".", ""))))
    mapping["constants"] = {
        str(role): value
        for role, value in (table_constants | dict(constants)).items()
        if role not in SETTINGS
    }
    for header, column in roles.items():
        if role_of(column) == ASK:
            guess.questions.append(
                OpenQuestion(f"column:{header}", f"What is the column “{header}” of {table.name}?")
            )
    guess.tables.append(GuessedTable(table, shapes, mapping))


def _constants(
    guess: Guess,
    file: TableFile,
    table: Table,
    shapes: Mapping[str, Shape],
    roles: dict[str, Any],
    fixed: Mapping[str, str],
) -> dict[str, str]:
    """Return the constants that follow from the roles, and ask for those that do not.

    Without a text, each column of words that has no role is asked about.
    """
    role_names = {role_of(column) for column in roles.values()}
    constants: dict[str, str] = {}
    answers = [h for h, c in roles.items() if role_of(c) == Role.BODY and is_answer(h)]
    is_report = bool(answers) or Role.CONTEXTS in role_names
    if {Role.BODY, Role.TEXT, Role.CONTEXTS} & role_names and Role.KIND not in role_names | {
        *fixed
    }:
        constants[Role.KIND] = "report" if is_report or Role.SYSTEM in role_names else "passage"
    if is_report and Role.SYSTEM not in role_names | {*fixed}:
        constants[Role.SYSTEM] = re.sub(r"[^\w.+-]+", "-", file.stem, flags=re.ASCII)
    if {Role.RANK, Role.SCORE} & role_names and not {Role.RUN, Role.SYSTEM} & (
        role_names | {*fixed}
    ):
        constants[Role.RUN] = re.sub(r"[^\w.+-]+", "-", file.stem, flags=re.ASCII)
    has_texts = {Role.BODY, Role.TEXT, Role.CONTEXTS} & (role_names | {*fixed})
    if not has_texts and not _is_of_topics(role_names):
        roles |= {h: ASK for h in table.headers if h not in roles and shapes[h].is_text}
        if not any(c == ASK and shapes[h].is_text for h, c in roles.items()):
            guess.questions.append(
                OpenQuestion(
                    "text.body",
                    f"{table.name} has no column that is known to hold texts: choose one",
                )
            )
    if not {Role.TOPIC, Role.REQUEST} & (role_names | {*fixed}):
        guess.questions.append(
            OpenQuestion("topic.request", f"{table.name} names no topic: set topic.request=WORDS")
        )
    if {Role.GRADE, Role.COMMENT} & role_names:
        _ask_rater(guess, table, shapes, roles, constants, fixed)
    return constants


def _is_of_topics(roles: Collection[str]) -> bool:
    """Return whether a table tells topics, sub-questions or references, and no other texts."""
    of_texts = {Role.GRADE, Role.VALUE, Role.RANK, Role.SCORE, Role.COMMENT, ASK}
    has_topics = Role.TOPIC in roles and bool({Role.REQUEST, Role.QUESTION} & {*roles})
    has_references = Role.REQUEST in roles and bool({Role.REFERENCE, Role.GOLD} & {*roles})
    return (has_topics or has_references) and not of_texts & {*roles}


def _ask_rater(
    guess: Guess,
    table: Table,
    shapes: Mapping[str, Shape],
    roles: Mapping[str, Any],
    constants: dict[str, str],
    fixed: Mapping[str, str],
) -> None:
    role_names = {role_of(column) for column in roles.values()}
    wide = [
        column["rater"]
        for column in roles.values()
        if isinstance(column, dict) and "rater" in column
    ]
    if Role.RATER not in role_names | {*fixed} and not wide:
        verb = "graded" if Role.GRADE in role_names else "commented on"
        guess.questions.append(OpenQuestion("rater", f"Who {verb} {table.name}? Set rater=NAME"))
    if Role.RATER_KIND in role_names | {*fixed}:
        return
    header = next((h for h, c in roles.items() if role_of(c) == Role.RATER), "")
    names = [*wide, *(shapes[header].texts if header else ()), fixed.get(Role.RATER, "")]
    constants[Role.RATER_KIND] = (
        "model" if any(_MODEL_WORDS.search(name) for name in names) else "human"
    )


def _choose_rubrics(
    guess: Guess,
    file: TableFile,
    shapes: Mapping[str, Shape],
    roles: dict[str, Any],
    constants: dict[str, str],
    rubrics: Mapping[str, Scale],
    fixed: Mapping[str, str],
) -> None:
    """Choose a rubric of the site, or describe a new one, for the columns of grades."""
    if Role.RUBRIC in fixed or Role.RUBRIC in {role_of(column) for column in roles.values()}:
        return
    grades = [header for header, column in roles.items() if role_of(column) == Role.GRADE]
    wide = [
        h for h in grades if isinstance(roles[h], dict) and {"rater", "question.text"} & {*roles[h]}
    ]
    groups = [wide, *([h] for h in grades if h not in wide)] if wide else [[h] for h in grades]
    for group in groups:
        slug = guess.add(rubric_for(group, file.stem, shapes, rubrics, guess.rubrics))
        if len(groups) == 1:
            constants[Role.RUBRIC] = slug
            continue
        for header in group:
            column = roles[header]
            roles[header] = (column if isinstance(column, dict) else {"role": column}) | {
                "rubric": slug
            }
