"""Files of tools for the tests of presets, and the rows that presets read from them."""

import json

from annotation.formats.tables.convert import convert
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.presets import tables_and_mapping
from annotation.formats.tables.stored_contents import StoredContents


def write_file(folder, name, value):
    """Write a text, or rows as JSON lines or JSON, and return the file."""
    path = folder / name
    if isinstance(value, str):
        path.write_text(value, encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in value), encoding="utf-8")
    else:
        path.write_text(json.dumps(value), encoding="utf-8")
    return TableFile.of(path)


def read_preset(preset, files, *, stored=None, **constants):
    """Return rows by kind of source, and the counts of what is left out."""
    names = {name.replace("__", "."): value for name, value in constants.items()}
    tables, mapping, counts = tables_and_mapping(preset, files, names)
    converted = convert(tables, mapping, stored or StoredContents())
    rows = {}
    for source in converted.sources:
        source_rows = [values for _, values in source.translation.values(None)]
        rows.setdefault(source.kind.name.lower(), []).extend(source_rows)
    return rows, counts


def grades_of(rows):
    """Return rater, rubric and grade of each rating."""
    return [(row["rater"], row["rubric"], row["grade"]) for row in rows.get("ratings", [])]
