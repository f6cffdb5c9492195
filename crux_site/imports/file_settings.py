"""Fields of how a table is read: header rows, delimiter, encoding, missing values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.formats.tables.encodings import NAMES
from annotation.formats.tables.mapping import MappingError, column_header, parse_mapping
from annotation.formats.tables.text_files import DELIMITERS
from crux_site.imports.form_fields import FormField
from crux_site.imports.source_tables import READING_SETTINGS, SourceTable

TAB = "tab"  # in a form: browsers and spreadsheets treat the sign itself as white space
_SIGN_NAMES = {",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |"}
_DETECTED = ("", "detected")
_LABELS = {
    "header": ("Header row", "its number, from 1; several as 1, 2. Empty: detected"),
    "until": ("Stop before the row that begins with", "such as Mean"),
    "records": ("Path of the records", "such as results.rows"),
    "delimiter": ("Delimiter", ""),
    "encoding": ("Encoding", ""),
    "quote": ("Quotation mark", ""),
    "decimal": ("Decimal sign", ""),
    "missing": ("Values that mean missing", "one a line, beside empty, NA, NaN, null, None and -"),
    "fill_down": ("Columns where an empty cell means “as above”", "one a line"),
    "passages_of": ("Ids of passages", ""),
}
_CHOICES = {
    "encoding": (_DETECTED, *NAMES.items()),
    "quote": (("", 'double "'), ("'", "single '")),
    "decimal": (("", "point: 0.5"), (",", "comma: 0,5")),
    "passages_of": (("", "are used as they are"), ("topic", "get the topic before them")),
}
_OF_ALL_TABLES = ("decimal", "missing", "fill_down", "passages_of")
_MAX_HEADER_ROWS = 10
_LISTS = ("missing", "fill_down")


def setting_fields(
    index: int,
    source: SourceTable,
    part: Mapping[str, Any],
    data: Mapping[str, Any],
    errors: Mapping[str, str],
) -> list[FormField]:
    """Return the fields of the settings that concern a table; a wrong one as it was typed."""
    names = source.settings if source.needed else (*source.settings, *_OF_ALL_TABLES)
    fields = []
    for name in names:
        label, note = _LABELS[name]
        key, value = f"t{index}-{name}", _text_of(name, part.get(name))
        if key in errors:
            value = str(data.get(key, value))
        needed = source.needed if source.needed and source.needed.setting == name else None
        choices = _choices(name, value, needed.choices if needed else ())
        field = FormField(key, label, value, choices, note, errors.get(key, ""))
        if needed and not field.error:
            field.error = f"{source.file.name}{needed.location} {needed}."
        field.is_long = name in _LISTS
        fields.append(field)
    return fields


def _choices(name: str, value: str, offered: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    if name == "delimiter":
        signs = ((TAB if sign == "\t" else sign, _SIGN_NAMES[sign]) for sign in DELIMITERS)
        choices: tuple[tuple[str, str], ...] = (_DETECTED, *signs)
    elif name == "records" and offered:
        choices = (("", "choose"), *((path, path) for path in offered))
    else:
        choices = _CHOICES.get(name, ())
    if choices and value not in dict(choices):
        choices += ((value, value),)
    return choices


def _text_of(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name in _LISTS:
        return "\n".join(map(str, value))
    if name == "header":
        return ", ".join(map(str, value if isinstance(value, list) else [value]))
    if name == "decimal" and value == ".":
        return ""
    return TAB if name == "delimiter" and value == "\t" else str(value)


def bind_settings(
    index: int,
    source: SourceTable,
    part: Mapping[str, Any],
    data: Mapping[str, Any],
    errors: dict[str, str],
) -> dict[str, Any]:
    """Return the part of a table with the settings of a POST; add errors by the field's name."""
    part = dict(part)
    for name in (*source.settings, *_OF_ALL_TABLES):
        key = f"t{index}-{name}"
        if key not in data or str(data[key]) == _text_of(name, part.get(name)):
            continue
        try:
            value = _value_of(name, str(data[key]))
            if name == "fill_down" and not _reads_again(part, source.part):
                value = [
                    column_header(line, source.table.headers, source.table.name) for line in value
                ]
            if value:
                parse_mapping({"tables": [{"columns": {}, name: value}]})
        except MappingError as error:
            message = str(error).rpartition(": ")[2] if name != "fill_down" else str(error)
            errors[key] = f"{message}{'' if message.endswith('.') else '.'}"
            continue
        part.pop(name, None)
        if value:
            part[name] = value
    return part


def _reads_again(part: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    return any(part.get(name) != before.get(name) for name in READING_SETTINGS)


def _value_of(name: str, text: str) -> Any:
    """Return the value of a setting as a mapping has it. Raises MappingError."""
    if name in _LISTS:
        return [line.strip() for line in text.splitlines() if line.strip()]
    if name == "header":
        numbers = [part.strip() for part in text.split(",") if part.strip()]
        is_number = all(part.isascii() and part.isdecimal() and len(part) < 8 for part in numbers)
        rows = [int(part) for part in numbers] if is_number else [0]
        if not all(rows) or len(rows) > _MAX_HEADER_ROWS:
            raise MappingError("write the number of a row, such as 3, or several as 1, 2")
        return rows[0] if len(rows) == 1 else rows
    if name == "delimiter":
        return "\t" if text == TAB else text
    return text.strip()


def reading_settings(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a part on which the headers and rows depend."""
    return {name: part[name] for name in READING_SETTINGS if part.get(name)}
