"""Import of tables into a dataset.

What is stored already, and the texts that rows only name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.formats import grades
from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.layout import RecognisedFiles
from annotation.formats.summary import DatasetImportError, ImportSummary, Problem
from annotation.formats.tables import presets
from annotation.formats.tables.convert import ConvertedTables, convert, mapped_tables
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.mapped_table import MappedTable
from annotation.formats.tables.mapping import MappingError, NewRubric, TableImport
from annotation.formats.tables.reader import QRELS
from annotation.formats.tables.stored_contents import StoredContents, StoredTopic
from annotation.formats.tables.values import Scale, word_key
from annotation.formats.target import topics_of
from annotation.models import Dataset, Project, Rubric, Text
from annotation.models.standard import STANDARD, ensure_standard_rubrics
from crux_site.imports.importing import import_dataset

MAX_PLACES = 20


def import_tables(
    paths: Sequence[Path | TableFile],
    dataset_slug: str,
    *,
    mapping: TableImport | None = None,
    preset: str = "",
    constants: Mapping[str, str] | None = None,
    **options: Any,
) -> ImportSummary:
    """Import tables into a dataset by a mapping or a preset: all of them or nothing.

    `constants` hold for all rows, and win over those of the mapping. `options` are those of `import_dataset`.
    Raises DatasetImportError, whose problems name the file, the sheet and the cell.
    """
    files = [path if isinstance(path, TableFile) else TableFile.of(path) for path in paths]
    left_out: Mapping[str, int] = {}
    try:
        if mapping is None:
            tables, mapping, left_out = presets.tables_and_mapping(preset, files, constants or {})
        else:
            mapping = mapping.with_constants(constants or {})
            tables = mapped_tables(files, mapping)
    except MappingError as error:
        raise DatasetImportError([Problem("mapping", 0, "", str(error))]) from error
    except presets.PresetError as error:
        raise DatasetImportError([Problem(error.location, 0, "", str(error))]) from error
    return import_dataset(
        files[0].path,
        dataset_slug,
        convert=partial(
            _converted,
            tables=tables,
            mapping=mapping,
            left_out=left_out,
            is_preset=bool(preset),
        ),
        mapping=mapping.as_json(),
        **options,
    )


def _converted(
    dataset: Dataset,
    summary: ImportSummary,
    tables: Sequence[MappedTable],
    mapping: TableImport,
    left_out: Mapping[str, int],
    *,
    is_preset: bool,
) -> RecognisedFiles:
    stored = stored_contents(dataset, dataset.project)
    if is_preset:
        mapping = _with_stored_rubrics(mapping, stored.rubrics)
    converted = convert(tables, mapping, stored)
    if not converted.sources:
        raise DatasetImportError([_nothing_read(tables, converted.counts, left_out)])
    _check_texts(dataset, converted)
    if QRELS in converted.used_rubrics:
        grades.ensure_qrels_rubric(QRELS, summary)
    for name, n in converted.n_rows.items():
        summary.file(name).read = n
    for label, n in [*converted.counts.items(), *left_out.items()]:
        summary.mapped[label] += n
    for name, note in converted.notes:
        summary.mapped[f"{name}: {note}"] += 1
    for name, columns in converted.unread.items():
        listed = ", ".join(columns[:MAX_PLACES])
        more = f" and {len(columns) - MAX_PLACES} more" if len(columns) > MAX_PLACES else ""
        summary.mapped[f"columns of {name} that are not read: {listed}{more}"] += len(columns)
    return RecognisedFiles(converted.sources)


def _with_stored_rubrics(mapping: TableImport, stored: Mapping[str, Scale]) -> TableImport:
    """Return the mapping of a preset without rubrics whose labels are stored.

    Their levels may differ: an earlier file had other labels of the scale, or its order was not known.
    """
    rubrics = {
        slug: rubric
        for slug, rubric in mapping.rubrics.items()
        if not (slug in stored and _shares_labels(rubric, stored[slug]))
    }
    return mapping.model_copy(update={"rubrics": rubrics})


def _shares_labels(rubric: NewRubric, scale: Scale) -> bool:
    """Return whether one of a new rubric and a stored scale has all labels of the other."""
    if not isinstance(rubric.levels, dict):
        return False
    new = {word_key(label) for label in rubric.levels}
    stored = {key for key in scale.names if not key.isdecimal()}
    return new <= stored or (bool(stored) and stored <= new)


def _nothing_read(tables: Sequence[MappedTable], *left_out: Mapping[str, int]) -> Problem:
    """Return the error of tables without a row that becomes one of the dataset."""
    reasons = [f"{label} ({n})" for counts in left_out for label, n in counts.items() if n]
    message = f"no row has a topic or a text to import{': ' if reasons else ''}{'; '.join(reasons)}"
    return Problem(tables[0].table.name if tables else "mapping", 0, "", message)


def stored_contents(dataset: Dataset | None, project: Project | None = None) -> StoredContents:
    """Return the topics of a dataset, and the rubrics of a project; without one, all."""
    ensure_standard_rubrics()
    available = Rubric.objects.available_in(project) if project else Rubric.objects.all()
    rubrics = {rubric.slug: _scale(rubric) for rubric in available.prefetch_related("levels")}
    for slug, standard in STANDARD.items():
        levels = [
            (level.grade, [level.name, level.label, str(level.grade)]) for level in standard.levels
        ]
        rubrics.setdefault(slug, Scale.of(slug, levels))
    rubrics.setdefault(QRELS, Scale.of(QRELS, [(0, ["0"]), (1, ["1"])]))
    topics = {
        name: StoredTopic(topic.request, [question.body for question in topic.questions])
        for name, topic in (topics_of(dataset).items() if dataset else ())
    }
    return StoredContents(topics, rubrics, pseudonym_key=settings.SECRET_KEY.encode())


def _scale(rubric: Rubric) -> Scale:
    scale = Scale.of(rubric.slug, rubric.grade_words())
    if not rubric.is_multi_label:
        return scale
    labels = {
        label: rubric.grade_of(level)
        for level in sorted(rubric.levels.all(), key=lambda level: level.grade)
        for label in (level.name, level.label)
        if label
    }
    return replace(scale, labels=labels)


def _check_texts(dataset: Dataset, converted: ConvertedTables) -> None:
    """Raise DatasetImportError for graded texts that no row tells and the dataset lacks.

    Passages that a ranking alone names may be without words.
    """
    by_kind: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for (kind, system, name), location in converted.missing_texts.items():
        by_kind[kind, system][name] = location
    problems = []
    for (kind, system), location_by_name in by_kind.items():
        stored = Text.objects.filter(dataset=dataset, kind=kind, system=system)
        stored_names: set[str] = set()
        for batch in batches(location_by_name, LOOK_UP):
            stored_names.update(stored.filter(name__in=batch).values_list("name", flat=True))
        of_system = f" of {system}" if system else ""
        problems += [
            Problem(
                location, 0, "text.id", f"no row tells the words of the {kind} {name}{of_system}"
            )
            for name, location in location_by_name.items()
            if name not in stored_names
        ]
    if problems:
        raise DatasetImportError(problems[:MAX_PLACES])
