"""`manage.py retrieve DATASET --name NAME --recipe LINE`: create a retrieval run."""

import json
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from building.run_creation import CreatedRun, make_run
from building.steps import KINDS, RecipeContext
from evaluation.data.selection import one_of
from evaluation.formats.trec_run import lines
from evaluation.models import RetrievalRun


class Command(SiteCommand):
    help = "Make a retrieval run from a recipe. Steps: " + "; ".join(
        kind.says for kind in KINDS.values()
    )
    expected_errors = (OSError,)

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
            kitchen = RecipeContext(dataset, opens_files=True, asks_servers=True)
            arguments = options["name"], options["recipe"], kitchen, options["topics"]
            result = make_run(dataset, *arguments, on_run=partial(_write, options["out"]))
        except KeyboardInterrupt:
            raise CommandError("Stopped: no run is made.") from None
        self.stdout.write(self._as_json(result) if options["json"] else self._as_text(result))

    def _as_json(self, result: CreatedRun) -> str:
        run = result.run
        payload = {
            "run": run.name,
            "is_new": result.is_new,
            "recipe": run.recipe,
            "origin": run.origin,
        }
        return json.dumps(payload, indent=2, ensure_ascii=False)

    def _as_text(self, result: CreatedRun) -> str:
        run, origin = result.run, result.run.origin
        if not result.is_new:
            return f"This is the run {run.name}, which is there: the same recipe of the same data."
        sentences = [f"{run.name}: {run.recipe}, for {n_of(origin['topics'], 'topic', ',')}."]
        if empty := origin["without_results"]:
            sentences.append(f"Nothing was found for {len(empty):,}: {', '.join(empty[:10])}.")
        if unknown := origin["unknown_terms"]:
            sentences.append(
                f"Approximate scores for {n_of(len(unknown), 'topic', ',')}: the background has no number "
                "for some of the terms."
            )
        for model, n in origin["cut_passages"].items():
            sentences.append(
                f"It is not known of how many passages {model} read only the beginning."
                if n == "unknown"
                else f"Passages of which {model} read only the beginning: {n:,}."
            )
        if left_out := origin["left_out"]:
            counts = ", ".join(f"{topic} {n:,}" for topic, n in list(left_out.items())[:10])
            sentences.append(
                f"Answers left out texts of {len(left_out):,}, which follow in the order that they "
                f"had: {counts}."
            )
        return " ".join(sentences)


def _write(file: Path | None, run: RetrievalRun) -> None:
    """Write the run to a file, if named; if that fails, no run is stored."""
    if file:
        file.write_text("".join(lines(run)), encoding="utf-8")
