"""Supplement of a paper: further tables of results as files, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from annotation.models import Dataset
from evaluation.data.selection import SelectionError
from evaluation.latex import MAX_ROWS
from evaluation.result_tables import ResultTable, latex_text, with_certificates


class SupplementTable(NamedTuple):
    """Table with its title, and the columns that its LaTeX prints: all, if none is named.

    `make` raises SelectionError, with the reason, where the data do not allow the table.
    """

    title: str
    make: Callable[[], ResultTable]
    columns: tuple[str, ...] = ()
    certificates: str = ""
    """Judges of the table, each with the state of its certificate."""


class SupplementFiles(NamedTuple):
    """Files by name, and the reason of each table or file that was not made."""

    files: dict[str, str]
    left_out: dict[str, str]


@dataclass(frozen=True)
class Supplement:
    """Tables by name, none of them computed; and the reasons of those that are left out.

    `methods` returns the methods section and its bibliography by file name, from the names of all
    other files and the hash of the data.
    """

    dataset: Dataset
    tables: Mapping[str, SupplementTable]
    left_out: Mapping[str, str]
    methods: Callable[[Collection[str], str], dict[str, str]]

    def table_files(self) -> SupplementFiles:
        """Return the CSV and LaTeX files of all tables."""
        result = SupplementFiles({}, dict(self.left_out))
        for name in self.tables:
            try:
                files, left_out = self.files_of(name)
            except SelectionError as error:
                result.left_out[name] = reason_of(error)
            else:
                result.files.update(files)
                result.left_out.update(left_out)
        return result

    def files_of(self, name: str) -> SupplementFiles:
        """Return the files of one table. Raises SelectionError where the data do not allow it."""
        title, make, columns, certificates = self.tables[name]
        header, lazy_rows = make()
        rows = list(lazy_rows)
        table = ResultTable(header, rows)
        if not rows:
            raise SelectionError("there is nothing to compare")
        files = {f"{name}.csv": with_certificates(table, certificates).csv()}
        if len(rows) > MAX_ROWS:
            reason = f"the table has over {MAX_ROWS} rows: LaTeX has no page for it"
            return SupplementFiles(files, {f"{name}.tex": reason})
        files[f"{name}.tex"] = latex_text(
            table.restricted_to(columns) if columns else table,
            label=name,
            caption=". ".join(filter(None, [title, certificates, f"Dataset: {self.dataset.slug}"])),
            origin=f"{name} of {self.dataset.slug}",
        )
        return SupplementFiles(files, {})


def reason_of(error: SelectionError) -> str:
    """Return the message of an error as a clause that can follow "because"."""
    return str(error).removesuffix(".").removeprefix("undefined, because ")
