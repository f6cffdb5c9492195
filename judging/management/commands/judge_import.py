"""Command judge_import DATASET DIR: import replies of judging.offline.cluster."""

import json
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from judging.management.options import dataset_of
from judging.models import JudgeRun, Shard
from judging.offline import batch, exchange
from judging.offline.job import ExchangeError, Job

MAX_MESSAGES = 20  # complaints; the others are counted


class Command(SiteCommand):
    help = (
        "Store the replies of an exported judge run, each file whole or not at all. It may be given "
        "again at any time, also while the cluster still works: what is there already stays as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("folder", type=Path, help="with results-*.parquet or replies as .jsonl")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = dataset_of(options)
        if not options["folder"].is_dir():
            raise CommandError(f"There is no folder {options['folder']}.")
        refused: list[str] = []
        replies = batch.reply_files(options["folder"])
        for path in replies:
            try:
                batch.read_replies(options["folder"], path)
            except ExchangeError as error:
                refused.append(str(error))
        paths = sorted(options["folder"].glob("results-*.parquet"))
        if not paths and not replies:
            raise CommandError(
                f"{options['folder']} holds no results-*.parquet: name the folder that "
                "judging.offline.cluster wrote with --out, or the one of judge_export with the files "
                "of replies of a batch service."
            )
        counts = {"files": 0, "new": 0, "graded": 0, "there_before": 0}
        run_ids: set[int] = set()
        if replies:  # also where none of them is a reply, as all requests have expired
            with suppress(ExchangeError):
                run_ids.add(Job.read(options["folder"]).about.run)
        for path in paths:
            try:
                done = exchange.import_file(dataset, path)
            except ExchangeError as error:
                refused.append(str(error))
                continue
            run_ids.add(done.run.pk)
            counts["files"] += 1
            counts["new"] += done.new
            counts["graded"] += done.graded
            counts["there_before"] += done.there_before
            if options["verbosity"] > 1:
                self.stdout.write(f"{path.name}: {done.new:,} new")
        self._tell(dataset, counts, run_ids, options)
        if replies and not refused and not options["json"] and options["verbosity"]:
            self._tell_open(run_ids)
        if refused:
            more = (
                [f"and {len(refused) - MAX_MESSAGES} more files"]
                if len(refused) > MAX_MESSAGES
                else []
            )
            raise CommandError(
                "\n".join(["Of these files nothing was imported:", *refused[:MAX_MESSAGES], *more])
            )

    def _tell_open(self, run_ids: set[int]) -> None:
        """Write what can be done about requests without a reply, if there are any."""
        if JudgeRun.objects.filter(pk__in=run_ids, state=JudgeRun.State.RUNNING).exists():
            self.stdout.write(
                "Requests without a reply, such as those that expired, are open: import the folder again "
                "with their replies, or cancel the run and export again."
            )

    def _tell(
        self, dataset: Dataset, counts: dict[str, int], run_ids: set[int], options: dict[str, Any]
    ) -> None:
        runs = JudgeRun.objects.filter(dataset=dataset, pk__in=run_ids).order_by("pk")
        states = []
        for run in runs:
            shards = run.shards.count()
            n_left = run.shards.exclude(state=Shard.State.DONE).count()
            states.append({"run": run.pk, "state": run.state, "shards": shards, "left": n_left})
        if options["json"]:
            self.stdout.write(json.dumps({**counts, "runs": states}))
        elif options["verbosity"]:
            self.stdout.write(
                f"{n_of(counts['files'], 'file', ',')}: {counts['new']:,} new ({counts['graded']:,} graded), "
                f"{counts['there_before']:,} were there before"
            )
            for run, state in zip(runs, states, strict=True):
                self.stdout.write(
                    f"judge run {run.pk} of {run.judge} is {run.get_state_display()}; "
                    f"{state['left']:,} of {state['shards']:,} shards are not whole yet"
                )
