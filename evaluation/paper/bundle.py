"""All tables and figures of a dataset as files of one folder, with their provenance."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.models import Dataset
from evaluation.paper.chosen import Systems, as_words, system_names
from evaluation.paper.latex import latex
from evaluation.paper.painting import drawn
from evaluation.paper.parts import KINDS, Figure, Files, Made, make_parts, texts
from evaluation.paper.provenance import (
    command_line,
    content_hashes,
    earlier_grades,
    provenance,
    sha256,
)
from evaluation.paper.reported import LABEL, read_reported, reported_csv, reported_sheet
from evaluation.scoring.options import SIZE, Options


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into `folder`, which is made if it is not there; others in it stay.

    All are written beside their places first, so that a full disk leaves the old ones as they
    were; each then takes its place in one step. Raises OSError where that cannot be done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tables-", dir=folder) as waiting:
        for name, content in files.items():
            Path(waiting, name).write_bytes(content)
        for name in files:
            os.replace(Path(waiting, name), folder / name)


TABLES = ("table1", "table2", "table3", LABEL)
FIGURES = ("figure4", "figure5")
PROVENANCE = "provenance.json"
POSSIBLE = (
    *(f"{table}.{kind}" for table in TABLES for kind in ("csv", "tex")),
    *(f"{figure}.{kind}" for figure in FIGURES for kind in ("csv", "tex", *KINDS)),
    "figure4_correlations.csv",
    PROVENANCE,
)
"""The files that may be written: which of them are depends on the dataset."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written, with its SHA-256; or a table that was not, with the reason."""

    name: str
    sha256: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Bundle:
    """Files by name, and why each table that was not made was not."""

    files: Files = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def make_all(
    dataset: Dataset | None,
    options: Options | None,
    *,
    intervals: bool = False,
    reported: Path | None = None,
    systems: Systems = (),
    made: Made | None = None,
) -> Bundle:
    """The files that `write_all` writes, by name. The same data and options give the same bytes.

    `made` are the tables and figures where they are there already. Raises as `write_all`, but for
    what writing raises.
    """
    bundle = Bundle()
    about: dict[str, Any] = {"command": _command(dataset, options, intervals, reported, systems)}
    # First, so that a fault in it is told before anything is drawn.
    results = (read_reported(reported), reported.read_bytes()) if reported else None
    if dataset is not None and options is not None:
        made = made or make_parts(dataset, options, systems)
        for part in made.parts.values():
            if isinstance(part, Figure):
                for name, kind in part.drawings.items():
                    bundle.files[name] = drawn(part.data, kind)
            for name, text in texts(part, intervals=intervals).items():
                bundle.files[name] = text().encode()
        bundle.left_out.update(made.left_out)
        about |= _about(dataset, options, systems)
    if reported and results:
        rows, content = results
        sheet = reported_sheet(rows, reported.name)
        bundle.files[f"{LABEL}.csv"] = reported_csv(rows).encode()
        bundle.files[f"{LABEL}.tex"] = latex(sheet).encode()
        about["reported"] = {"file": reported.name, "sha256": sha256(content)}
    bundle.files[PROVENANCE] = provenance(bundle.files, bundle.left_out, about)
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
    """Tables 1 to 3 and Figures 4 and 5 of a dataset, and Table 1 of a file of reported results.

    Writes into the folder `out`, which is made if it is not there; other files in it stay. Returns
    what was written, the provenance last, and what was left out and why. Everything is made before
    anything is written. `intervals` prints them in Table 1; the CSV files always have them. They
    are made of `systems`, or of all where none is named. Raises ReportedError for a file of results
    that cannot be read, OSError where writing fails.
    """
    bundle = make_all(dataset, options, intervals=intervals, reported=reported, systems=systems)
    write_files(out, bundle.files)
    written = [Written(name, sha256(content)) for name, content in bundle.files.items()]
    return written + [Written(name, reason=why) for name, why in bundle.left_out.items()]


def archive(files: Files, folder: str) -> bytes:
    """The files as one .zip, in a folder of this name. The same files give the same bytes."""
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
    """As it would be given with nothing left to a default. Of paths the names alone are kept."""
    words: dict[str, Any] = {"reported": reported.name if reported else None}
    if options is not None:
        tokenizer = Path(options.tokenizer.file).name if options.tokenizer.file else "words"
        words |= options.params() | {"intervals": intervals, "tokenizer": tokenizer}
        words["systems"] = as_words(systems) if systems else None
    return command_line(dataset.slug if dataset else None, words)


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
