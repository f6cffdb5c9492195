"""Command judge_export DATASET --judge SLUG --out DIR: export pairs to a cluster.

The cluster needs no database.
"""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import SiteCommand
from annotation.plurals import n_of
from judging.engine.judges import find_judge
from judging.management.options import add_selection, dataset_of, selection_of
from judging.models import Judge
from judging.offline import batch, exchange
from judging.offline.parquet import MOST_ROWS


class Command(SiteCommand):
    help = (
        "Write the pairs that a judge lacks as Parquet files, for judging.offline.cluster. They belong to a "
        "judge run that waits for judge_import; cancelling it gives the pairs back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--judge", required=True, help="a judge's name")
        parser.add_argument("--out", required=True, type=Path, help="a new or empty folder")
        parser.add_argument("--rows", type=int, default=exchange.ROWS, help="pairs of a file")
        parser.add_argument(
            "--batch",
            choices=list(batch.SERVICES),
            help="also write the requests as JSON lines for this batch service",
        )
        add_selection(parser)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = dataset_of(options)
        judge = find_judge(options["judge"], dataset)
        if judge is None:
            names = ", ".join(Judge.objects.values_list("rater__name", flat=True)) or "none"
            raise CommandError(f"There is no judge {options['judge']!r}; there are: {names}.")
        if not 1 <= options["rows"] <= MOST_ROWS:
            raise CommandError(f"--rows is a number from 1 to {MOST_ROWS:,}.")
        selection = selection_of(options)
        try:
            run, job = exchange.export_run(
                judge, dataset, selection, options["out"], options["rows"]
            )
            if job and options["batch"]:
                batch.write_requests(options["out"], options["batch"])
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error}.") from None
        files, pairs = (job.files, job.pairs) if job else (0, 0)
        if options["json"]:
            counts = {"run": run.pk, "fingerprint": judge.fingerprint, "state": run.state}
            self.stdout.write(json.dumps({**counts, "files": files, "pairs": pairs}))
        elif job is None:
            self.stdout.write(f"Nothing to export: {run.note}")
        elif options["verbosity"]:
            self.stdout.write(
                f"judge run {run.pk} of {judge}: {n_of(pairs, 'pair', ',')} in {n_of(files, 'file', ',')} in "
                f"{options['out']}. They wait for judge_import; cancel the run to have them back."
            )
            if options["batch"]:
                self.stdout.write(
                    f"Send requests-*.jsonl to the service ({options['batch']}), put the files that it "
                    f"answers with into {options['out']}, and import that folder."
                )
