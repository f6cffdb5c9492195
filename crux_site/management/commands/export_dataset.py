"""manage.py export_dataset SLUG --format crux --out DIR"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.formats import long_table, qlabels, qrels
from annotation.formats.writing import ExportError
from annotation.models import Dataset
from annotation.models.rating import raters_of
from crux_site.datasets.export import export_folder, write
from evaluation.formats.trec_run import ForTrecTools
from evaluation.models import RetrievalRun


class Command(BaseCommand):
    help = "Write a dataset as a folder that import_dataset reads, or as a single file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset", metavar="SLUG")
        parser.add_argument(
            "--format",
            choices=["crux", "long", "qlabels", "qrels", "run"],
            default="crux",
            help="crux: the whole dataset, a folder. long: one row a rating, .csv or .jsonl. "
            "qlabels, qrels: the T1 or T2 labels of --rater. run: the ranking of --run, for tools "
            "that sort by score",
        )
        parser.add_argument("--out", required=True, help="a new folder, a file, or - for stdout")
        parser.add_argument("--rater", metavar="NAME", help="for qlabels and qrels")
        parser.add_argument("--run", metavar="NAME", help="for run")
        parser.add_argument(
            "--system",
            default="",
            help="for qlabels and qrels: labels of the reports of this system, or of the "
            "reference summaries ('reference'), and not the usual ones",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = Dataset.objects.filter(slug=options["dataset"]).first()
        if dataset is None:
            raise CommandError(f"There is no dataset {options['dataset']}.")
        try:
            if options["format"] == "crux":
                if options["out"] == "-":
                    raise CommandError("A whole dataset is a folder: --out needs its name.")
                self.stdout.write(str(export_folder(dataset, Path(options["out"]))))
            elif options["format"] == "run":
                run = ForTrecTools(self._run(dataset, options["run"]))
                self._write(run.lines(), options["out"])
                if run.note:
                    self.stderr.write(run.note)
            else:
                self._write(self._lines(dataset, options), options["out"])
        except (ExportError, OSError) as error:
            raise CommandError(str(error)) from error

    def _write(self, lines: Iterator[str], out: str) -> None:
        if out == "-":
            sys.stdout.writelines(lines)
        else:
            n = write(Path(out), lines)
            self.stdout.write(f"{n}  {out}" if n else "There is nothing to write.")

    def _run(self, dataset: Dataset, name: str | None) -> RetrievalRun:
        run = RetrievalRun.objects.filter(dataset=dataset, name=name or "").first()
        if run is None:
            names = ", ".join(dataset.runs.values_list("name", flat=True))
            raise CommandError(f"--run must be one of: {names or 'there is none'}.")
        return run

    def _lines(self, dataset: Dataset, options: dict[str, Any]) -> Iterator[str]:
        if options["format"] == "long":
            return self._table(dataset, options["out"])
        raters = raters_of(dataset)
        if options["rater"] not in raters:
            raise CommandError(f"--rater must be one of: {', '.join(sorted(raters)) or 'nobody'}.")
        format_ = qlabels if options["format"] == "qlabels" else qrels
        return format_.lines(dataset, raters[options["rater"]], options["system"])

    def _table(self, dataset: Dataset, out: str) -> Iterator[str]:
        if out == "-" or out.endswith(".csv"):
            return long_table.csv_lines(dataset)
        if out.endswith(".jsonl"):
            return long_table.jsonl_lines(dataset)
        raise CommandError("--out of the long table ends with .csv or .jsonl.")
