"""Presets: mappings of the files that evaluation tools write, by the tool's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from annotation.formats.tables.cells import TableError
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.mapped_table import MappedTable
from annotation.formats.tables.mapping import SETTINGS, MappingError, TableImport, parse_mapping
from annotation.formats.tables.presets import (
    annotation_tools,
    deepeval,
    experiments,
    forms,
    inspect_logs,
    open_rag_eval,
    rag_tools,
    this_site,
    traces,
)
from annotation.formats.tables.presets.base import PresetError, PresetFileError, PresetTables

Preset = Callable[[Sequence[TableFile], Mapping[str, str]], PresetTables]
PRESETS: dict[str, Preset] = {
    "crux-long": this_site.crux_long,
    "deepeval": deepeval.deepeval,
    "doccano": annotation_tools.doccano,
    "google-forms": forms.google_forms,
    "inspect": inspect_logs.inspect,
    "langfuse": traces.langfuse,
    "langsmith": experiments.langsmith,
    "open-rag-eval": open_rag_eval.open_rag_eval,
    "phoenix": traces.phoenix,
    "prodigy": annotation_tools.prodigy,
    "promptfoo": experiments.promptfoo,
    "ragas": rag_tools.ragas,
    "ragchecker": rag_tools.ragchecker,
    "trulens": rag_tools.trulens,
    "umbrela": rag_tools.umbrela,
}


def tables_and_mapping(
    name: str, files: Sequence[TableFile], constants: Mapping[str, str]
) -> tuple[list[MappedTable], TableImport, Counter[str]]:
    """Return the tables of a tool's files, the whole mapping, and what is left out, by label.

    Raises PresetError, MappingError.
    """
    if name not in PRESETS:
        raise MappingError(f"there is no preset {name!r}. There are: {', '.join(sorted(PRESETS))}.")
    roles = {role: value for role, value in constants.items() if role not in SETTINGS}
    try:
        preset = PRESETS[name](files, roles)
    except PresetFileError as error:
        raise PresetError(f"{error.file}{error.location}", str(error)) from error
    except TableError as error:
        raise PresetError(f"{files[0].name}{error.location}", str(error)) from error
    mapping = parse_mapping(
        {"tables": [part for _, part in preset.tables], "rubrics": preset.rubrics}
    )
    mapping = mapping.with_constants(constants)
    tables = [
        MappedTable.of(table, part)
        for (table, _), part in zip(preset.tables, mapping.tables, strict=True)
    ]
    return tables, mapping, +preset.counts
