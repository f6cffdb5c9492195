"""`manage.py retrieve DATASET --name NAME --recipe LINE`: a retrieval run, with how it was made."""

import json
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.formats.writing import ExportError
from annotation.models import Dataset
from building.anserini.jar import AnseriniError
from building.indexes import NoIndex
from building.making import Made, RunRefused, make_run
from building.retrieval.index import IndexBroken
from building.retrieval.recipe import RecipeError
from building.steps import KINDS, Kitchen
from evaluation.data.selection import SelectionError, one_of
from evaluation.formats.trec_run import lines
from evaluation.models import RetrievalRun

REFUSALS = (
    *(SelectionError, RecipeError, RunRefused, NoIndex),
    *(IndexBroken, AnseriniError, ExportError, OSError),
)


class Command(BaseCommand):
    help = "Make a retrieval run from a recipe. Steps: " + "; ".join(
        kind.says for kind in KINDS.values()
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument("--name", required=True, help="what the run is called")
        parser.add_argument("--recipe", required=True, help='such as "bm25 %% 100"')
        parser.add_argument("--topics", nargs="+", default=[], help="their names; default: all")
        parser.add_argument("--out", type=Path, help="write it as a TREC run, too")
        parser.add_argument("--json", action="store_true", help="print its origin as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            kitchen = Kitchen(dataset, opens_files=True, asks_servers=True)
            asked = options["name"], options["recipe"], kitchen, options["topics"]
            made = make_run(dataset, *asked, then=partial(_write, options["out"]))
        except REFUSALS as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped: no run is made.") from None
        self.stdout.write(self._as_json(made) if options["json"] else self._in_words(made))

    def _as_json(self, made: Made) -> str:
        run = made.run
        told = {"run": run.name, "is_new": made.is_new, "recipe": run.recipe, "origin": run.origin}
        return json.dumps(told, indent=2, ensure_ascii=False)

    def _in_words(self, made: Made) -> str:
        run, origin = made.run, made.run.origin
        if not made.is_new:
            return f"This is the run {run.name}, which is there: the same recipe of the same data."
        words = [f"{run.name}: {run.recipe}, for {origin['topics']:,} topics."]
        if without := origin["without_results"]:
            words.append(f"Nothing was found for {len(without):,}: {', '.join(without[:10])}.")
        if unknown := origin["unknown_terms"]:
            words.append(
                f"The scores of {len(unknown):,} topics are approximate: the background has no number "
                "for some of their terms."
            )
        for model, n in origin["cut_passages"].items():
            words.append(
                f"It is not known of how many passages {model} read only the beginning."
                if n == "unknown"
                else f"Passages of which {model} read only the beginning: {n:,}."
            )
        if left_out := origin["left_out"]:
            told = ", ".join(f"{topic} {n:,}" for topic, n in list(left_out.items())[:10])
            words.append(
                f"Answers left out texts of {len(left_out):,}, which follow in the order that they had: {told}."
            )
        return " ".join(words)


def _write(file: Path | None, run: RetrievalRun) -> None:
    """A run as a file, where one is named: a file that cannot be written leaves no run."""
    if file:
        file.write_text("".join(lines(run)), encoding="utf-8")
