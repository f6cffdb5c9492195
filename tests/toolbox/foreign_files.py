"""Folders of other formats, written by the tests: files by their names, as lines."""

import gzip
import json
from pathlib import Path

import pytest

from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.import_study import fingerprint


def write(folder: Path, files: dict[str, list]) -> Path:
    """Lines are dicts, written as JSON, or strings; a name that ends in .gz is packed."""
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [
            line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
            for line in lines
        ]
        data = "".join(f"{text}\n" for text in texts).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


def read(path: Path, form: str, **options):
    """The import, which changes nothing when it is done again."""
    summary = import_dataset(path, "other", form=form, **options)
    before = fingerprint()
    assert not import_dataset(path, "other", form=form).changed
    assert fingerprint() == before
    return summary


def refused(path: Path, form: str) -> list[str]:
    """The problems of an import that changes nothing, as people read them."""
    before = fingerprint()
    for dry_run in (True, False):
        with pytest.raises(DatasetImportError) as raised:
            import_dataset(path, "other", form=form, dry_run=dry_run)
        assert fingerprint() == before
    return [str(problem) for problem in raised.value.problems]


def left_out(path: Path, form: str, **options) -> list[str]:
    """The rows that an import leaves out, as people read them."""
    summary = read(path, form, **options)
    assert summary.left_out_rows == import_dataset(path, "other", form=form).left_out_rows
    return [str(row).partition(", ")[2] for row in summary.left_out_rows]


def with_line(files: dict[str, list], name: str, number: int, line: object) -> dict[str, list]:
    """The files, with another line at this place, counted from 1."""
    lines = list(files[name])
    lines[number - 1 : number] = [line]
    return {**files, name: lines}
