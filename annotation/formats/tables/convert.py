"""Conversion of mapped tables to sources of rows, as the importer of a dataset reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.formats.layout import Kind, Source
from annotation.formats.records import (
    CitedRow,
    DocumentRow,
    NoteRow,
    PassageRow,
    RatingRow,
    Row,
    RubricRow,
    RunRow,
    SubQuestionsRow,
    TopicRow,
    ValueRow,
)
from annotation.formats.summary import DatasetImportError, Problem
from annotation.formats.tables.cells import TableError
from annotation.formats.tables.duplicates import TextKey
from annotation.formats.tables.files import TableFile, files_of, tables_of
from annotation.formats.tables.mapped_table import MappedTable
from annotation.formats.tables.mapping import MappingError, NewRubric, TableImport
from annotation.formats.tables.reader import read_table
from annotation.formats.tables.source import Table
from annotation.formats.tables.stored_contents import StoredContents
from annotation.formats.tables.study import Study
from annotation.formats.tables.values import Scale
from annotation.formats.translation import Translation

_KINDS: Mapping[str, tuple[Kind, type[Row]]] = {
    "topics": (Kind.TOPICS, TopicRow),
    "questions": (Kind.SUBQUESTIONS, SubQuestionsRow),
    "references": (Kind.REFERENCES, DocumentRow),
    "passages": (Kind.PASSAGES, PassageRow),
    "reports": (Kind.CITED, CitedRow),
    "values": (Kind.VALUES, ValueRow),
    "runs": (Kind.RUN, RunRow),
    "ratings": (Kind.RATINGS, RatingRow),
    "notes": (Kind.NOTES, NoteRow),
}
RUBRICS = "rubrics of the mapping"


@dataclass
class ConvertedTables:
    """Sources of an import, and facts about the tables for its summary."""

    sources: list[Source]
    n_rows: dict[str, int]
    """Rows read, by table."""
    counts: dict[str, int]
    """Rows and cells without an effect, by label."""
    notes: list[tuple[str, str]]
    """Assumptions of readers: table, sentence."""
    unread: dict[str, list[str]]
    """Columns without a role, by table."""
    missing_texts: dict[TextKey, str]
    """Texts that rows name and no row tells, with the location of a row that names them."""
    used_rubrics: set[str] = field(default_factory=set)


def mapped_tables(files: Sequence[TableFile], mapping: TableImport) -> list[MappedTable]:
    """Return the tables of the files that the mapping names. Raises DatasetImportError."""
    opened_tables: list[MappedTable] = []
    for part in mapping.tables:
        for file in _files(files, part):
            try:
                opened_tables += [MappedTable.of(table, part) for table in tables_of(file, part)]
            except TableError as error:
                raise _failed(f"{file.name}{error.location}", str(error)) from error
            except MappingError as error:
                raise _failed("mapping", str(error)) from error
            except OSError as error:
                raise _failed(file.name, f"cannot be read: {error.strerror or error}") from error
    return opened_tables


def _files(files: Sequence[TableFile], part: Any) -> list[TableFile]:
    try:
        return files_of(files, part)
    except MappingError as error:
        raise _failed("mapping", str(error)) from error


def _failed(location: str, message: str) -> DatasetImportError:
    return DatasetImportError([Problem(location, 0, "", message)])


def convert(
    tables: Sequence[MappedTable], mapping: TableImport, stored: StoredContents
) -> ConvertedTables:
    """Return sources of the rows that mapped tables become.

    Raises DatasetImportError with the location of each error.
    """
    if opened := [name for mapped in tables for name in mapped.mapping.open_columns]:
        raise _failed("mapping", f"the role of the column {opened[0]!r} is open: choose one")
    rubrics = {slug: scale_of(slug, rubric) for slug, rubric in mapping.rubrics.items()}
    study = Study([mapped.table for mapped in tables], stored, rubrics, mapping.duplicates)
    n_rows: dict[str, int] = {}
    unread: dict[str, list[str]] = {}
    for index, mapped in enumerate(tables):
        name = mapped.table.name  # a preset may make several tables of one file
        n_rows[name] = n_rows.get(name, 0) + read_table(study, index, mapped)
        unread[name] = [
            header for header in unread.get(name, mapped.unread) if header in mapped.unread
        ]
    study.finish()
    return ConvertedTables(
        [*_rubric_sources(mapping, study), *_sources(study, [mapped.table for mapped in tables])],
        n_rows,
        dict(study.counts),
        list(
            dict.fromkeys(
                (mapped.table.name, note) for mapped in tables for note in mapped.table.notes
            )
        ),
        {name: headers for name, headers in unread.items() if headers},
        {key: study.location(origin) for key, origin in study.missing_texts().items()},
        study.used_rubrics,
    )


def scale_of(slug: str, rubric: NewRubric) -> Scale:
    """Return the scale of a rubric of the mapping."""
    levels = rubric.levels
    if isinstance(levels, list):
        return Scale.of(slug, [(grade, [str(grade)]) for grade in levels])
    return Scale.of(slug, [(grade, [label]) for label, grade in levels.items()])


def rubric_row(slug: str, rubric: NewRubric, file: str) -> dict[str, Any]:
    """Return a rubric of the mapping as a row of rubrics.jsonl."""
    levels = rubric.levels
    labels = (
        {grade: str(grade) for grade in levels}
        if isinstance(levels, list)
        else {grade: label for label, grade in levels.items()}
    )
    return {
        "slug": slug,
        "title": rubric.title or slug,
        "question": rubric.question,
        "scale": rubric.scale,
        "eta": rubric.eta,
        "span_from": rubric.span_from,
        "guideline": rubric.guideline or f"Imported from {file}; write what the levels mean.",
        "levels": [{"grade": grade, "label": label} for grade, label in labels.items()],
    }


def _rubric_sources(mapping: TableImport, study: Study) -> Iterator[Source]:
    file = study.tables[0].name if study.tables else ""
    rows = [
        (0, rubric_row(slug, rubric, file))
        for slug, rubric in mapping.rubrics.items()
        if slug in study.used_rubrics
    ]
    if rows:
        yield _source(RUBRICS, Kind.RUBRICS, RubricRow, lambda: iter(rows))


def _sources(study: Study, tables: Sequence[Table]) -> Iterator[Source]:
    for (kind, index, run), spool in study.spools.items():
        if spool.n:
            of_kind, shape = _KINDS[kind]
            yield _source(tables[index].name, of_kind, shape, spool.__iter__, run)


def _source(
    name: str,
    kind: Kind,
    shape: type[Row],
    rows: Callable[[], Iterator[tuple[int, dict[str, Any]]]],
    system: str = "",
) -> Source:
    translation = Translation(shape, _itself, values=lambda path: rows())
    return Source(Path(name), name, kind, system=system, translation=translation, again=True)


def _itself(row: Row) -> Iterable[Row]:
    return (row,)
