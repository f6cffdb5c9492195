"""Fields of the columns page: the role of each column, and what is the same for all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.formats.tables.column_shapes import Shape
from annotation.formats.tables.mapping import ASK, RATER_KINDS, TEXT_KINDS, Role
from annotation.formats.tables.values import Scale
from crux_site.imports.form_fields import FormField
from crux_site.imports.role_choices import (
    ALWAYS_SHOWN,
    COLUMN_FIELDS,
    COLUMN_NOTES,
    CONSTANTS,
    CUT,
    LABELS,
    MORE_CONSTANTS,
)
from crux_site.imports.source_tables import SourceTable, column_of

MAX_COLUMNS = 300  # on the page, with several fields each: Django limits the fields of a form
NEW_RUBRIC = "+"  # choice of a rubric that is made from the values
DETAILED_COLUMNS = 50  # with fields that few columns need
EXAMPLE_CHARACTERS = 60


@dataclass
class ColumnRow:
    header: str
    shape: Shape
    role: FormField
    fields: list[FormField]
    more_fields: list[FormField]

    @property
    def examples(self) -> list[str]:
        return [
            f"{text[:EXAMPLE_CHARACTERS]} …" if len(text) > EXAMPLE_CHARACTERS else text
            for text in self.shape.examples
        ]

    @property
    def is_open(self) -> bool:
        return self.role.value == ASK


@dataclass
class TableFields:
    source: SourceTable
    read: FormField | None
    columns: list[ColumnRow]
    n_more_columns: int
    settings: list[FormField]
    constants: list[FormField]
    more_constants: list[FormField]

    @property
    def has_wrong_setting(self) -> bool:
        return any(field.error for field in self.settings)


@dataclass(frozen=True)
class FieldBuilder:
    """Builder of the fields of one page: its errors, and the rubrics that one can choose."""

    errors: Mapping[str, str]
    new_rubrics: Sequence[str]
    site_rubrics: Mapping[str, Scale]

    def column_rows(self, index: int, source: SourceTable) -> list[ColumnRow]:
        rows = []
        for number, header in enumerate(source.table.headers):
            key = f"t{index}-c{number}"
            column = column_of(source.part.get("columns", {}).get(header))
            role = str(column.get("role", ""))
            fields, more_fields = [], []
            for name, label in _column_fields(role, column):
                field = self.field(
                    f"{key}-{name}",
                    label,
                    column_text(name, column.get(name, "")),
                    name,
                    note=COLUMN_NOTES.get(name, ""),
                )
                if name in column or name in ALWAYS_SHOWN or field.error:
                    fields.append(field)
                else:
                    more_fields.append(field)
            if role == Role.VALUE and fields and not fields[0].value:
                fields[0].value = header
            if number >= DETAILED_COLUMNS:
                more_fields = []
            role_field = self.field(f"{key}-role", f"Role of {header}", role)
            shape = source.shapes[header]
            rows.append(ColumnRow(header, shape, role_field, fields, more_fields))
        return rows

    def constants(self, index: int, source: SourceTable) -> list[FormField]:
        """Return the fields of the constants that no column tells."""
        constants = source.part.get("constants", {})
        columns = [column_of(column) for column in source.part.get("columns", {}).values()]
        roles = {column.get("role") for column in columns}
        grades = [column for column in columns if column.get("role") == Role.GRADE]
        if grades and all(Role.RATER in column for column in grades):
            roles.add(Role.RATER)
        fields = []
        for role, label, note in CONSTANTS:
            name, value = f"t{index}-constant-{role}", str(constants.get(role, ""))
            if value or role not in roles or name in self.errors:
                fields.append(self.field(name, label, value, role, note=note))
        listed = {role for role, _, _ in (*CONSTANTS, *MORE_CONSTANTS)}
        return fields + [
            self.field(f"t{index}-constant-{role}", LABELS.get(Role(role), role), str(value))
            for role, value in constants.items()
            if role not in listed and role in list(Role)
        ]

    def more_constants(self, index: int, source: SourceTable) -> list[FormField]:
        """Return the fields of constants that few tables need."""
        constants = source.part.get("constants", {})
        return [
            self.field(
                f"t{index}-constant-{role}", label, str(constants.get(role, "")), role, note=note
            )
            for role, label, note in MORE_CONSTANTS
        ]

    def field(
        self, name: str, label: str, value: str, role: str = "", *, note: str = ""
    ) -> FormField:
        choices: Sequence[tuple[str, str]] = ()
        if role == Role.KIND:
            choices = (("", "as the columns tell"), *((kind, kind) for kind in TEXT_KINDS))
        elif role == Role.RATER_KIND:
            choices = (("", "human"), *((kind, kind) for kind in RATER_KINDS[1:]))
            value = "" if value == RATER_KINDS[0] else value
        elif role == Role.RUBRIC:
            choices = self._rubric_choices(value)
        elif role == Role.CITATIONS and "-constant-" in name:
            choices = (("", "none"), ("marks", "[1] cites the first context"))
        if choices and value not in dict(choices):
            choices = (*choices, (value, value))
        return FormField(name, label, value, choices, note, self.errors.get(name, ""))

    def _rubric_choices(self, value: str) -> list[tuple[str, str]]:
        choices = [("", "none"), (NEW_RUBRIC, "a new one, from the values")]
        choices += [(slug, f"{slug} (new)") for slug in self.new_rubrics]
        choices += [
            (slug, f"{slug}: {', '.join(map(str, scale.grades[:8]))}")
            for slug, scale in sorted(self.site_rubrics.items())
            if slug not in self.new_rubrics
        ]
        return choices


def _column_fields(role: str, column: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the constants of a column that has a role: those of the role, and others it has."""
    fields: list[tuple[str, str]] = [*COLUMN_FIELDS.get(role, ())]
    listed = {"role", *(name for name, _ in fields)}
    return fields + [
        (name, LABELS.get(Role(name), name) if name in list(Role) else name)
        for name in column
        if name not in listed
    ]


def column_text(name: str, value: Any) -> str:
    """Return a constant of a column as its field has it."""
    if name == CUT and isinstance(value, list):
        return ", ".join(f"{number:g}" for number in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
