"""manage.py import_dataset PATH --dataset SLUG"""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.formats.layout import NAMES
from annotation.formats.left_out_rows import Repeated, as_csv, as_json, rows_of
from annotation.formats.run_order import RunOrder
from annotation.formats.text_edits import TextEditPolicy
from annotation.plurals import n_of
from crux_site.imports.importing import CRUX, FORMATS, DatasetImportError, import_dataset
from crux_site.management.options import ImportCommand, project_of


class Command(ImportCommand):
    help = (
        "Read a study: a folder, or one file, in CRUX's formats or in another. Of CRUX's files all or "
        "nothing; of others what is sound. Reading it again changes nothing. CRUX's files are known by "
        f"their names, or else by the keys of their lines: {NAMES}"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="a folder or a file")
        parser.add_argument("--format", choices=FORMATS, default=CRUX)
        parser.add_argument("--dataset", required=True, metavar="SLUG", help="made if it is new")
        parser.add_argument("--title", default="", help="of a new dataset; its slug if left out")
        parser.add_argument(
            "--project", metavar="SLUG", help="whose members see a new dataset; made if it is new"
        )
        parser.add_argument("--dry-run", action="store_true", help="tell what would change")
        parser.add_argument(
            "--with-history",
            action="store_true",
            help="read annotations/history too; conflicts with what is stored are reported",
        )
        parser.add_argument(
            "--lenient",
            action="store_true",
            help="of crud: keep and count items whose answers are more or fewer than their questions",
        )
        parser.add_argument(
            "--new-words",
            choices=[*TextEditPolicy],
            default=TextEditPolicy.REFUSE,
            help="another wording of an existing text or sub-question: refuse the import, or replace the "
            "wording and let existing grades count for the new one, or supersede them",
        )
        parser.add_argument(
            "--replace",
            default="",
            metavar="KIND:NAME",
            help="remove this first, and bring what is in the files: run:NAME, rater:NAME, system:NAME",
        )
        parser.add_argument(
            "--order",
            choices=[*RunOrder],
            default=RunOrder.AUTO,
            help="of a run whose lines are not in the order of their scores: lines, score, or auto "
            "(the default): score, as trec_eval reads it, where the ranks do not say otherwise, else lines",
        )
        parser.add_argument(
            "--repeated",
            choices=[*Repeated],
            default=Repeated.LEAVE_OUT,
            help="of annotation tools: a pair that one person graded twice, with different answers: "
            "leave both out, take the newest, or refuse the import",
        )
        parser.add_argument(
            "--left-out",
            type=Path,
            metavar="FILE",
            help="write the rows of another tool's files that were left out, as .csv or .json",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        left_out = options["left_out"]
        if left_out and left_out.suffix not in (".csv", ".json"):
            raise CommandError("--left-out: the name of the file must end in .csv or .json.")
        progress = _ProgressLine() if self.stderr.isatty() and not options["json"] else None
        try:
            summary = import_dataset(
                options["path"],
                options["dataset"],
                title=options["title"],
                project=project_of(options["project"]),
                dry_run=options["dry_run"],
                with_history=options["with_history"],
                form=options["format"],
                lenient=options["lenient"],
                new_words=options["new_words"],
                replaces=options["replace"],
                run_order=options["order"],
                repeated=options["repeated"],
                progress=progress,
            )
        except DatasetImportError as failed:
            self.refuse(failed, as_json=options["json"])
        if left_out:
            write = as_csv if left_out.suffix == ".csv" else as_json
            try:
                left_out.write_text(write(rows_of(summary.left_out_rows)), encoding="utf-8")
            except OSError as error:
                raise CommandError(f"--left-out: {error}. The import itself is done.") from error
        self.print_summary(summary, as_json=options["json"])


class _ProgressLine:
    """Progress callback that overwrites one line of the terminal."""

    def __call__(self, file: str, lines: int) -> None:
        sys.stderr.write(f"\r\x1b[K{file}: {n_of(lines, 'line')}\r")
        sys.stderr.flush()
