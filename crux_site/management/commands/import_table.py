"""manage.py import_table FILE... --dataset SLUG [--map mapping.json | --preset NAME]"""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.formats.summary import DatasetImportError
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.guess import guess_mapping
from annotation.formats.tables.mapping import (
    SETTINGS,
    MappingError,
    Role,
    TableImport,
    read_mapping,
    unknown_role,
)
from annotation.formats.tables.presets import PRESETS
from annotation.formats.tables.presets.recognition import recognise
from annotation.formats.text_edits import TextEditPolicy
from crux_site.imports.tables import import_tables, stored_contents
from crux_site.management.options import ImportCommand, project_of


class Command(ImportCommand):
    help = (
        "Import tables: CSV, TSV, XLSX, JSON, JSON lines or Parquet, by a mapping of columns to roles, a "
        "preset of a tool, or a guess. All of them or nothing; importing them again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
        parser.add_argument("--dataset", required=True, metavar="SLUG", help="made if it is new")
        parser.add_argument("--title", default="", help="of a new dataset; its slug if left out")
        parser.add_argument(
            "--project", metavar="SLUG", help="whose members see a new dataset; made if it is new"
        )
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--map", type=Path, metavar="MAPPING.json", help="roles of the columns")
        how.add_argument("--preset", choices=sorted(PRESETS), help="the tool that wrote the files")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="ROLE=VALUE",
            help="a constant for all rows, such as system=bm25, rater=anna, rubric=graded or levels=1-5; "
            "duplicates=first or last decides about rows that contradict each other",
        )
        parser.add_argument(
            "--write-map",
            type=Path,
            metavar="FILE",
            help='write the guessed mapping, with "?" where a person must choose',
        )
        parser.add_argument(
            "--new-words",
            choices=[*TextEditPolicy],
            default=TextEditPolicy.REFUSE,
            help="another wording of an existing text or sub-question: as in import_dataset",
        )
        parser.add_argument("--dry-run", action="store_true", help="tell what would change")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        constants = dict(_constant(text) for text in options["set"])
        mapping = _mapping(options["map"])
        try:
            if mapping is None and not options["preset"]:
                mapping = self._guessed(options["files"], constants, options["write_map"])
            summary = import_tables(
                options["files"],
                options["dataset"],
                mapping=mapping,
                preset=options["preset"] or "",
                constants=constants,
                title=options["title"],
                project=project_of(options["project"]),
                new_words=options["new_words"],
                dry_run=options["dry_run"],
            )
        except DatasetImportError as failed:
            self.refuse(failed, as_json=options["json"])
        self.print_summary(summary, as_json=options["json"])

    def _guessed(
        self, files: list[Path], constants: dict[str, str], write_to: Path | None
    ) -> TableImport:
        """Return the guessed mapping; exit with 2 and the open questions where it is not clear."""
        try:
            guess = guess_mapping(files, stored_contents(None).rubrics, constants)
        except DatasetImportError:
            self._name_preset(files)
            raise
        if write_to:
            _write(write_to, json.dumps(guess.mapping, ensure_ascii=False, indent=1) + "\n")
        if guess.questions:
            for question in guess.questions:
                self.stderr.write(str(question))
            if write_to:
                remedy = f"Complete {write_to}, and import with --map {write_to}."
            else:
                remedy = (
                    "Answer with --set, such as --set rubric=graded, or write a mapping with "
                    "--write-map FILE, complete it, and import with --map FILE."
                )
            self.stderr.write(f"Nothing was imported. {remedy}")
            self._name_preset(files)
            sys.exit(2)
        try:
            return guess.as_import()
        except MappingError as error:
            raise CommandError(f"--map: {error}") from error

    def _name_preset(self, files: list[Path]) -> None:
        """Write the preset of the tool that wrote the files, if it is recognised."""
        if name := recognise([TableFile.of(path) for path in files]):
            self.stderr.write(f"This looks like {name}: use --preset {name}.")


def _mapping(path: Path | None) -> TableImport | None:
    if path is None:
        return None
    try:
        return read_mapping(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as error:
        raise CommandError(f"--map: {path} cannot be read: {error}") from error
    except MappingError as error:
        raise CommandError(f"--map: {path.name}: {error}") from error


def _constant(text: str) -> tuple[str, str]:
    role, sign, value = text.partition("=")
    if not sign or not role:
        raise CommandError(f"--set {text}: write ROLE=VALUE, such as system=bm25.")
    if role not in [*Role, *SETTINGS]:
        raise CommandError(f"--set {text}: {unknown_role(role)}")
    return role, value


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"--write-map: {error}") from error
