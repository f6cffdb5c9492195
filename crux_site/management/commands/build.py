"""manage.py build DATASET --from DOCUMENTS --plan PLAN.toml: build a scored collection."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from building.pipeline import PipelineError, ReviewPendingError, run_plan
from building.pipeline_plan import read
from crux_site.imports.importing import import_dataset


class Command(SiteCommand):
    help = (
        "Build a collection as a plan says: passages, requests, sub-questions, grades, runs, reports. "
        "Each step does what is missing, so the same command goes on where it was stopped."
    )
    expected_errors = (OSError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="its slug; made if it is new")
        parser.add_argument(
            "--from", dest="documents", type=Path, help="documents*.jsonl, or their folder"
        )
        parser.add_argument("--plan", type=Path, required=True, help="a TOML file")
        parser.add_argument("--title", default="", help="of a new dataset")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            plan = read(options["plan"])
            if options["documents"]:
                self._import(options)
            dataset = Dataset.objects.filter(slug=options["dataset"]).first()
            if dataset is None:
                raise PipelineError(
                    f"There is no dataset {options['dataset']}: say --from which documents."
                )
            for message in run_plan(dataset, plan, options["plan"].parent):
                self.stdout.write(f"  {message}")
        except ReviewPendingError as waits:
            self.stdout.write(f"  {waits}")

    def _import(self, options: dict[str, Any]) -> None:
        slug, title = options["dataset"], options["title"]
        totals = import_dataset(options["documents"], slug, title=title).totals
        self.stdout.write(
            f"  documents: {totals['documents']:,}, of {n_of(totals['topics'], 'topic', ',')}"
        )
