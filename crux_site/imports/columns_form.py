"""Form of the columns page: the mapping of tables that a POST describes."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats.summary import DatasetImportError
from annotation.formats.tables.cells import TableError
from annotation.formats.tables.mapping import (
    ASK,
    RATER_KINDS,
    TEXT_KINDS,
    MappingError,
    Role,
    TableImport,
    parse_mapping,
)
from annotation.formats.tables.mapping import PER_COLUMN as REPEATABLE
from annotation.formats.tables.new_rubrics import rubric_for, scales_of
from annotation.formats.tables.values import Scale
from crux_site.imports.column_fields import MAX_COLUMNS, NEW_RUBRIC, FieldBuilder, TableFields
from crux_site.imports.file_settings import bind_settings, reading_settings, setting_fields
from crux_site.imports.form_fields import DUPLICATES_CHOICES, DUPLICATES_LABEL, FormField
from crux_site.imports.role_choices import COLUMN_FIELDS, CUT, LABELS, SCALE
from crux_site.imports.rubric_fields import RubricFields, bind_rubric, rubric_fields
from crux_site.imports.source_tables import READING_SETTINGS, SourceTable, column_of, read_again

OUTDATED = "The tables were read in another way in another tab. Check the columns again."
_MAX_CUTS = 100


@dataclass
class ColumnsForm:
    """Fields of a mapping, bound by the `data` of a POST; `errors` by the field's name."""

    sources: Sequence[SourceTable]
    base: Mapping[str, Any]
    site_rubrics: Mapping[str, Scale]
    data: Mapping[str, Any] | None = None
    errors: dict[str, str] = field(default_factory=dict)
    general_errors: list[str] = field(default_factory=list)
    has_new_questions: bool = False
    """True if a rubric was made from values: its scale is to be confirmed."""
    has_new_columns: bool = False
    """True if other settings read a table again: its columns are to be confirmed."""

    def __post_init__(self) -> None:
        self.sources = [*self.sources]
        self.rubrics: dict[str, dict[str, Any]] = {
            slug: dict(rubric) for slug, rubric in self.base.get("rubrics", {}).items()
        }
        self.parts = [dict(source.part) for source in self.sources]
        self.reads = [source.is_read for source in self.sources]
        self.duplicates = str(self.base.get("duplicates", "refuse"))
        if self.data is None:
            return
        if self.data.get("layout", self.layout) != self.layout:
            self.general_errors.append(OUTDATED)
        else:
            self._bind(self.data)

    @property
    def layout(self) -> str:
        """Digest of the headers: numbers of columns in a POST are only right for the same ones."""
        headers = [[*source.key, *source.table.headers] for source in self.sources]
        return hashlib.sha256(json.dumps(headers).encode(errors="surrogatepass")).hexdigest()[:16]

    # Reading of a POST

    def _bind(self, data: Mapping[str, Any]) -> None:
        if data.get("duplicates") in dict(DUPLICATES_CHOICES):
            self.duplicates = str(data["duplicates"])
        for slug in list(self.rubrics):
            bind_rubric(slug, self.rubrics[slug], data, self.errors)
        for index, source in enumerate(self.sources):
            if len(self.sources) > 1:
                self.reads[index] = f"t{index}-read" in data
            part = self.parts[index]
            columns = {
                header: column
                for number, header in enumerate(source.table.headers)
                if (column := self._bound_column(index, number, header, data)) is not None
            }
            constants = dict(part.get("constants", {}))
            for role in Role:
                name = f"t{index}-constant-{role}"
                if name in data:
                    constants[role] = str(data[name]).strip()
            constants = {str(role): value for role, value in constants.items() if value}
            part = bind_settings(index, source, part, data, self.errors)
            self.parts[index] = part | {"columns": columns, "constants": constants}
            self._make_rubrics(source, self.parts[index])
            if reading_settings(part) != reading_settings(source.part):
                self._read_again(index)

    def _read_again(self, index: int) -> None:
        """Read a table by its new settings, and keep the choices about columns that it still has."""
        source, part = self.sources[index], self.parts[index]
        settings = reading_settings(part)
        try:
            reread, rubrics = read_again(source, settings, self.site_rubrics)
        except (TableError, MappingError, DatasetImportError, OSError) as error:
            changed = next(
                name for name in READING_SETTINGS if part.get(name) != source.part.get(name)
            )
            message = error.problems[0] if isinstance(error, DatasetImportError) else error
            self.errors[f"t{index}-{changed}"] = f"{str(message).rstrip('.')}."
            return
        both = {*source.table.headers} & {*reread.table.headers}
        columns = {h: c for h, c in reread.part["columns"].items() if h not in both}
        columns |= {h: c for h, c in part["columns"].items() if h in both}
        guessed = source.part.get("constants", {})
        chosen = {r: v for r, v in part["constants"].items() if guessed.get(r) != v}
        if both == {*source.table.headers}:
            chosen = part["constants"]
        new_part = {n: v for n, v in part.items() if n not in (*READING_SETTINGS, "fill_down")}
        new_part["fill_down"] = [h for h in part.get("fill_down", ()) if h in reread.table.headers]
        new_part |= {
            "columns": {h: columns[h] for h in reread.table.headers if h in columns},
            "constants": reread.part["constants"] | chosen,
        }
        self.rubrics = rubrics | self.rubrics
        self.sources = [*self.sources[:index], reread, *self.sources[index + 1 :]]
        self.parts[index] = dict(reread.part) | {n: v for n, v in new_part.items() if v}
        self.parts[index] |= {"columns": new_part["columns"], "constants": new_part["constants"]}
        self.has_new_columns = True

    def _bound_column(
        self, index: int, number: int, header: str, data: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        key = f"t{index}-c{number}"
        before = column_of(self.parts[index].get("columns", {}).get(header))
        role = str(data.get(f"{key}-role", before.get("role", "")))
        if role in ("", Role.IGNORE):
            return None
        column = dict(before) if before.get("role") == role else {"role": role}
        for name in {**dict(COLUMN_FIELDS.get(role, ())), **column}:
            if name != "role" and f"{key}-{name}" in data:
                column[name] = str(data[f"{key}-{name}"]).strip()
        for name in (CUT, SCALE):
            if isinstance(column.get(name), str) and column[name]:
                column[name] = self._numbers(f"{key}-{name}", header, name, column[name])
        return {name: value for name, value in column.items() if value != ""}

    def _numbers(self, key: str, header: str, name: str, text: str) -> Any:
        """Return the numbers of a field, one alone for a scale; "" and an error if it has none."""
        try:
            numbers = [float(part) for part in text.split(",")]
            if not all(map(math.isfinite, numbers)) or len(numbers) > _MAX_CUTS:
                raise ValueError(text)
            if name == SCALE:
                (number,) = numbers
                return number
        except ValueError:
            self.errors[key] = f"“{header}”: write a number, such as 0.5."
            return ""
        return sorted(numbers)

    def check(self) -> None:
        """Note what is missing or wrong for a preview."""
        for index, source in enumerate(self.sources):
            if self.reads[index]:
                self._check_table(index, source, self.parts[index])
                if source.needed:
                    key = f"t{index}-{source.needed.setting}"
                    self.errors.setdefault(key, f"{source.file.name} {source.needed}.")
        if not any(self._read_parts()):
            self.general_errors.append("No column is read. Choose what the columns are.")

    def add_problems(self, problems: Sequence[Mapping[str, Any]]) -> None:
        """Put the errors of a preview beside the columns whose headers they name."""
        for problem in problems:
            location = (
                f"{problem['file']}:{problem['line']}" if problem["line"] else problem["file"]
            )
            name, label = "", str(problem["field"])
            for index, source in enumerate(self.sources):
                for number, header in enumerate(source.table.headers):
                    of_table = str(problem["file"]).startswith(source.table.file)
                    if of_table and (label == header or label.startswith(f"{header} (")):
                        name = name or f"t{index}-c{number}-role"
            text = f"{location}: {label}{': ' if label else ''}{problem['message']}"
            if name:
                self.errors.setdefault(name, text)
            else:
                self.general_errors.append(text)

    def _make_rubrics(self, source: SourceTable, part: dict[str, Any]) -> None:
        """Make a rubric from the values where a person chose a new one."""
        grades = [h for h, column in part["columns"].items() if column["role"] == Role.GRADE]
        if part["constants"].get(Role.RUBRIC) == NEW_RUBRIC:
            shared = [h for h in grades if Role.RUBRIC not in part["columns"][h]]
            part["constants"][Role.RUBRIC] = self._new_rubric(source, shared or grades)
        for header in grades:
            if part["columns"][header].get(Role.RUBRIC) == NEW_RUBRIC:
                part["columns"][header][Role.RUBRIC] = self._new_rubric(source, [header])
        part["constants"] = {role: value for role, value in part["constants"].items() if value}

    def _new_rubric(self, source: SourceTable, headers: Sequence[str]) -> str:
        if not headers:
            return ""
        proposal = rubric_for(
            headers, source.file.stem, source.shapes, self.site_rubrics, self.rubrics
        )
        if proposal.rubric is not None:
            self.rubrics[proposal.slug] = proposal.rubric
            self.has_new_questions = True
        return proposal.slug

    def _check_table(self, index: int, source: SourceTable, part: Mapping[str, Any]) -> None:
        """Note the errors that belong beside a field; parse_mapping knows the others."""
        roles: dict[str, str] = {}
        columns = part["columns"]
        for number, header in enumerate(source.table.headers):
            name, role = f"t{index}-c{number}-role", columns.get(header, {}).get("role", "")
            if role == ASK:
                self.errors[name] = f"Choose what “{header}” is."
            elif role and role not in LABELS:
                self.errors[name] = f"“{header}”: there is no such role. Choose another."
            elif role in roles and role not in REPEATABLE:
                label = LABELS[Role(role)]
                message = (
                    f"“{roles[role]}” is “{label}” already. Choose another role for “{header}”."
                )
                self.errors[name] = message
            elif role:
                roles[role] = header
        constants = part["constants"]
        for role, kinds in ((Role.KIND, TEXT_KINDS), (Role.RATER_KIND, RATER_KINDS)):
            if constants.get(role, kinds[0]) not in kinds:
                self.errors[f"t{index}-constant-{role}"] = f"Choose one of {', '.join(kinds)}."
        for role, message in (
            (Role.RATER, "Write who gave the grades, or choose the column with the rater."),
            (Role.RUBRIC, "Choose the rubric of the grades, or the column with the rubric."),
        ):
            grades = [column for column in columns.values() if column["role"] == Role.GRADE]
            if role not in roles and role not in constants and any(role not in c for c in grades):
                self.errors[f"t{index}-constant-{role}"] = message
        if (
            len(self.sources) == 1
            and roles
            and not {Role.TOPIC, Role.REQUEST} & {*roles, *constants}
        ):
            self.errors[f"t{index}-constant-{Role.REQUEST}"] = (
                "No column is a topic. Choose one, or write the question that all rows are about."
            )

    # The mapping

    def _read_parts(self) -> Iterator[dict[str, Any]]:
        for index, part in enumerate(self.parts):
            if self.reads[index] and part.get("columns"):
                yield self._part_of(index, part)

    def _part_of(self, index: int, part: Mapping[str, Any]) -> dict[str, Any]:
        table = self.sources[index].table
        columns = {}
        for header, value in part["columns"].items():
            column = column_of(value)
            if column["role"] == Role.VALUE and Role.MEASURE not in column:
                roles = [column_of(item).get("role") for item in part["columns"].values()]
                if Role.MEASURE not in roles and Role.MEASURE not in part.get("constants", {}):
                    column[Role.MEASURE] = header
            plain = {str(name): item for name, item in column.items()}
            columns[header] = plain["role"] if len(plain) == 1 else plain
        location = {"file": table.file} if len({s.table.file for s in self.sources}) > 1 else {}
        if table.worksheet:
            location["sheet"] = table.worksheet
        settings = {
            name: item for name, item in part.items() if name not in ("file", "sheet") and item
        }
        constants = {str(role): value for role, value in part.get("constants", {}).items()}
        return location | settings | {"columns": columns, "constants": constants}

    def mapping(self) -> dict[str, Any]:
        """Return the mapping as JSON: the tables that are read, and the rubrics that they use."""
        return self._mapping_of(list(self._read_parts()))

    def draft(self) -> dict[str, Any]:
        """Return all that the page shows: also tables that are not read, and open columns."""
        indexes = [index for index, source in enumerate(self.sources) if not source.needed]
        parts = [self._part_of(index, self._readable_part(index)) for index in indexes]
        return {
            "mapping": self._mapping_of(parts),
            "unread": [n for n, index in enumerate(indexes) if not self.reads[index]],
        }

    def _readable_part(self, index: int) -> dict[str, Any]:
        """Return the part of a table, without settings by which it cannot be read."""
        part, before = self.parts[index], self.sources[index].part
        if any(f"t{index}-{name}" in self.errors for name in READING_SETTINGS):
            part = {name: value for name, value in part.items() if name not in READING_SETTINGS}
            part |= reading_settings(before)
        return part

    def _mapping_of(self, tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
        used = {slug for part in tables for slug in _rubrics_of(part)}
        has_column = any(
            column_of(column).get("role") == Role.RUBRIC
            for part in tables
            for column in part["columns"].values()
        )
        rubrics = {slug: r for slug, r in self.rubrics.items() if has_column or slug in used}
        value: dict[str, Any] = {"version": 1, "tables": [*tables]}
        if rubrics:
            value["rubrics"] = rubrics
        if self.duplicates != "refuse":
            value["duplicates"] = self.duplicates
        return value

    def checked_mapping(self) -> TableImport | None:
        """Return the mapping; None if it has errors, which stand beside the fields then."""
        if not self.general_errors:
            self.check()
        if self.errors or self.general_errors:
            return None
        try:
            return parse_mapping(self.mapping())
        except MappingError as error:
            self.general_errors.append(str(error))
            return None

    # Fields of the page

    @property
    def tables(self) -> list[TableFields]:
        builder = FieldBuilder(self.errors, [*self.rubrics], self.site_rubrics)
        room = MAX_COLUMNS
        tables = []
        for index, source in enumerate(self.sources):
            bound = replace(source, part=self.parts[index])
            columns = builder.column_rows(index, bound)[:room]
            room -= len(columns)
            read = None
            if len(self.sources) > 1:
                value = "on" if self.reads[index] else ""
                read = FormField(f"t{index}-read", "Read this table", value)
            n_more = len(source.table.headers) - len(columns)
            tables.append(
                TableFields(
                    source,
                    read,
                    columns,
                    n_more,
                    setting_fields(index, source, self.parts[index], self.data or {}, self.errors),
                    builder.constants(index, bound),
                    builder.more_constants(index, bound),
                )
            )
        return tables

    @property
    def rubric_fields(self) -> list[RubricFields]:
        """Questions on the new rubrics that the tables use."""
        return [
            rubric_fields(
                slug, self.rubrics[slug], self._observed_ranges(slug), self.data or {}, self.errors
            )
            for slug in self.mapping().get("rubrics", {})
        ]

    def _observed_ranges(self, slug: str) -> list[str]:
        """Return the scales that the values of the rubric's columns propose."""
        for source, part in zip(self.sources, self.parts, strict=True):
            headers = [
                header
                for header, value in part.get("columns", {}).items()
                if (column := column_of(value)).get("role") == Role.GRADE
                and column.get(Role.RUBRIC, part.get("constants", {}).get(Role.RUBRIC)) == slug
            ]
            if headers:
                proposal = rubric_for(headers, source.file.stem, source.shapes, {}, {})
                if not proposal.asks_scale:
                    return []
                return [f"{low}-{high}" for low, high in scales_of(proposal.numbers)]
        return []

    @property
    def duplicates_field(self) -> FormField:
        return FormField("duplicates", DUPLICATES_LABEL, self.duplicates, DUPLICATES_CHOICES)


def _rubrics_of(part: Mapping[str, Any]) -> set[str]:
    slugs = {column_of(column).get("rubric") for column in part["columns"].values()}
    return {slug for slug in {*slugs, part["constants"].get("rubric")} if slug}
