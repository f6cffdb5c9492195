"""Files of all tables and figures of a dataset in one folder, with their provenance."""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.models import Dataset
from evaluation.replications.crux_paper.latex import latex
from evaluation.replications.crux_paper.painting import draw_figure
from evaluation.replications.crux_paper.parts import (
    KINDS,
    Figure,
    Files,
    PaperParts,
    make_parts,
    text_files,
)
from evaluation.replications.crux_paper.provenance import (
    command_line,
    content_hashes,
    earlier_grades,
    provenance,
    sha256,
)
from evaluation.replications.crux_paper.reported import (
    LABEL,
    read_reported,
    reported_csv,
    reported_table,
)
from evaluation.replications.crux_paper.supplement import (
    DOCUMENTS,
    supplement_files,
    supplement_of,
)
from evaluation.replications.crux_paper.system_choice import Systems, join_names, system_names
from evaluation.scoring.options import SIZE, Options


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into `folder`, which is created if missing; other files in it stay.

    All are written beside their places first, so that a full disk leaves the old ones as they
    were; each then takes its place in one step. Raises OSError where that cannot be done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tables-", dir=folder) as staging:
        for name, content in files.items():
            Path(staging, name).write_bytes(content)
        for name in files:
            os.replace(Path(staging, name), folder / name)


TABLES = ("table1", "table2", "table3", LABEL)
FIGURES = ("figure4", "figure5")
PROVENANCE = "provenance.json"
POSSIBLE = (
    *(f"{table}.{kind}" for table in TABLES for kind in ("csv", "tex")),
    *(f"{figure}.{kind}" for figure in FIGURES for kind in ("csv", "tex", *KINDS)),
    "figure4_correlations.csv",
    *DOCUMENTS,
    PROVENANCE,
)
"""Names of all possible files but those of the supplement's tables; the dataset decides which are written."""


def earlier_files(folder: Path) -> set[str]:
    """Return the names of files in a folder that an earlier call wrote, or may have written."""
    names = {*POSSIBLE}
    # There may be no provenance, or one of somebody else.
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        names |= json.loads((folder / PROVENANCE).read_bytes())["files"].keys()
    return {name for name in names if (folder / name).is_file()}


@dataclass(frozen=True, slots=True)
class Written:
    """Written file with its SHA-256; or a table that was not made, with the reason."""

    name: str
    sha256: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Bundle:
    """Files by name, and the reason of each table that was not made."""

    files: Files = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def make_all(
    dataset: Dataset | None,
    options: Options | None,
    *,
    intervals: bool = False,
    reported: Path | None = None,
    systems: Systems = (),
    result: PaperParts | None = None,
) -> Bundle:
    """Return the files that `write_all` writes, by name, byte for byte reproducible.

    `result` has the tables and figures where they are computed already. Raises as `write_all`, but for
    what writing raises.
    """
    bundle = Bundle()
    metadata: dict[str, Any] = {"command": _command(dataset, options, intervals, reported, systems)}
    # Read first, so that faults are reported before anything is drawn.
    results = (read_reported(reported), reported.read_bytes()) if reported else None
    if dataset is not None and options is not None:
        result = result or make_parts(dataset, options, systems)
        for part in result.parts.values():
            if isinstance(part, Figure):
                for name, kind in part.drawings.items():
                    bundle.files[name] = draw_figure(part.data, kind)
            for name, text in text_files(part, intervals=intervals).items():
                bundle.files[name] = text().encode()
        metadata |= _about(dataset, options, systems)
        data_hash = metadata["data"]["sha256"]
        more = supplement_files(supplement_of(dataset, options, systems), result, data_hash)
        bundle.files.update((name, text.encode()) for name, text in more.files.items())
        bundle.left_out.update(result.left_out | more.left_out)
    if reported and results:
        rows, content = results
        table = reported_table(rows, reported.name)
        bundle.files[f"{LABEL}.csv"] = reported_csv(rows).encode()
        bundle.files[f"{LABEL}.tex"] = latex(table).encode()
        metadata["reported"] = {"file": reported.name, "sha256": sha256(content)}
    bundle.files[PROVENANCE] = provenance(bundle.files, bundle.left_out, metadata)
    return bundle


def write_all(
    dataset: Dataset | None,
    options: Options | None,
    out: Path,
    *,
    intervals: bool = False,
    reported: Path | None = None,
    systems: Systems = (),
) -> list[Written]:
    """Write Tables 1 to 3, Figures 4 and 5, further files, and Table 1 of reported results.

    Writes into the folder `out`, which is created if missing; other files in it stay. Returns
    the written files, the provenance last, and what was left out and why. Everything is made before
    anything is written. `intervals` prints them in Table 1; the CSV files always have them. They
    are made of `systems`, or of all where none is named. Raises ReportedError for a file of results
    that cannot be read, OSError where writing fails.
    """
    bundle = make_all(dataset, options, intervals=intervals, reported=reported, systems=systems)
    write_files(out, bundle.files)
    written = [Written(name, sha256(content)) for name, content in bundle.files.items()]
    return written + [Written(name, reason=reason) for name, reason in bundle.left_out.items()]


def archive(files: Files, folder: str) -> bytes:
    """Return the files as one .zip with a folder of this name, byte for byte reproducible."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as zipped:
        for name, content in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}")  # dated 1980, like every export
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            zipped.writestr(entry, content)
    return sink.getvalue()


def _command(
    dataset: Dataset | None,
    options: Options | None,
    intervals: bool,
    reported: Path | None,
    systems: Systems,
) -> str:
    """Return the command line with all options explicit, and of paths the file names alone."""
    arguments: dict[str, Any] = {"reported": reported.name if reported else None}
    if options is not None:
        tokenizer = Path(options.tokenizer.file).name if options.tokenizer.file else "words"
        arguments |= options.params() | {"intervals": intervals, "tokenizer": tokenizer}
        arguments["systems"] = join_names(systems) if systems else None
    return command_line(dataset.slug if dataset else None, arguments)


def _about(dataset: Dataset, options: Options, systems: Systems) -> dict[str, Any]:
    source = options.source
    return {
        "dataset": dataset.slug,
        "data": content_hashes(dataset) | earlier_grades(dataset),
        "systems": list(systems or system_names(dataset)),
        "judge": {
            "name": source.name,
            "title": source.title,
            "kind": source.kind if source.rater is None or source.people else source.rater.kind,
            "people": [person.name for person in source.people],
        },
        "options": {
            "alpha": options.alpha,
            "cutoff": SIZE if options.cutoff is None else options.cutoff,
            "eta": options.eta,
            "ideal": options.ideal,
            "questions": options.params()["questions"],
            "rules": options.rules.name,
            "tokenizer": options.tokenizer.name,
        },
    }
