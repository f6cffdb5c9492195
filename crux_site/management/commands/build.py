"""`manage.py build DATASET --from DOCUMENTS --plan PLAN.toml`: from documents to scored reports."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from building.engine.choosing import WriterRefused
from building.engine.filtering import FilterRefused
from building.engine.wanted import WantedError
from building.indexes import NoIndex
from building.making import RunRefused
from building.path import PathBlocked, Waits, walk
from building.plan import PlanBroken, read
from building.retrieval.index import IndexBroken
from building.retrieval.recipe import RecipeError
from building.writing.lengths import LengthError
from building.writing.wording import PromptBroken
from crux_site.imports.importing import ImportFailed, import_dataset
from evaluation.data.selection import SelectionError
from judging.engine import states
from judging.graders.base import GraderError

REFUSALS = (
    *(PlanBroken, PathBlocked, WriterRefused, FilterRefused, WantedError, LengthError),
    *(PromptBroken, SelectionError, RecipeError, RunRefused, NoIndex, IndexBroken),
    *(states.RunRefused, GraderError, OSError),
)


class Command(BaseCommand):
    help = (
        "Build a collection as a plan says: passages, requests, sub-questions, grades, runs, reports. "
        "Each step does what is missing, so the same command goes on where it was stopped."
    )

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
                raise PathBlocked(
                    f"There is no dataset {options['dataset']}: say --from which documents."
                )
            for words in walk(dataset, plan, options["plan"].parent):
                self.stdout.write(f"  {words}")
        except Waits as waits:
            self.stdout.write(f"  {waits}")
        except ImportFailed as failed:
            raise CommandError("\n".join(map(str, failed.problems))) from None
        except REFUSALS as error:
            raise CommandError(str(error)) from error

    def _import(self, options: dict[str, Any]) -> None:
        slug, title = options["dataset"], options["title"]
        totals = import_dataset(options["documents"], slug, title=title).totals
        self.stdout.write(f"  documents: {totals['documents']:,}, of {totals['topics']:,} topics")
