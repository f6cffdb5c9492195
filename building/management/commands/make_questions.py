"""`manage.py make_questions DATASET --types fact_single,summary`: typed questions on passages, with answers."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Dataset
from building.engine import writings
from building.engine.choosing import stored, writer_called
from building.engine.deciding import accept_rest, open_products
from building.engine.fill import fill
from building.engine.sources import of_no_topic
from building.engine.wanted import NothingToWrite, Wanted, WantedError
from building.formats import pairs
from building.management.commands.write import REFUSALS, names_of
from building.models import Writer, Writing
from building.writing.pairs import KINDS
from evaluation.data.selection import one_of

STATEMENTS = "{}-statements"  # what the writer is called that notes them


class Command(BaseCommand):
    help = (
        "Let a writer ask a question of each type on each passage, and answer it. What it writes is proposed; "
        "a person decides about it. --out has what is accepted, as `import_dataset --format qac` reads it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument(
            "--types",
            type=names_of,
            default=tuple(KINDS),
            help=f"parted by commas; default: {','.join(KINDS)}",
        )
        parser.add_argument(
            "--how",
            choices=["prompts", "statements"],
            default="prompts",
            help="from the passage, or from one of the statements that are noted of it first",
        )
        parser.add_argument(
            "--writer",
            default="",
            help=f"its name, and {STATEMENTS.format('NAME')} of who notes; default: the extractive baseline",
        )
        parser.add_argument("--model", default="", help="new writers of these names ask this model")
        parser.add_argument("--prompt", type=Path, help="the new writer's prompt, in a file")
        parser.add_argument("--backend", choices=["openai", "vllm", "transformers"], default="")
        parser.add_argument("--revision", default="", help="which weights the new writers' has")
        parser.add_argument(
            "--adapter",
            type=Path,
            help="what finetune made: the folder, with --backend transformers",
        )
        parser.add_argument("--endpoint", default="", help="a name from JUDGE_ENDPOINTS, or a URL")
        parser.add_argument("--topics", nargs="+", default=[], help="their names; default: all")
        parser.add_argument("--concurrency", type=int, default=64)
        parser.add_argument(
            "--accept-all", action="store_true", help="accept it unseen, which is kept"
        )
        parser.add_argument("--out", type=Path, help="a file for the accepted pairs of this writer")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            topics, noted = tuple(options["topics"]), ""
            if options["how"] == "statements":
                named = options["writer"] and STATEMENTS.format(options["writer"])
                wanted = Wanted(topics=topics)
                noted = self._written("statements", named, dataset, wanted, options).slug
            wanted = Wanted(topics=topics, types=options["types"], statements=noted)
            writer = self._written("pairs", options["writer"], dataset, wanted, options)
            if options["accept_all"]:
                self._accept(dataset, writer)
            if options["out"]:
                self._export(dataset, writer, options["out"])
        except REFUSALS as error:
            raise CommandError(str(error)) from error

    def _written(
        self, task: str, slug: str, dataset: Dataset, wanted: Wanted, options: dict[str, Any]
    ) -> Writer:
        """Who wrote it, when all that was to be written is."""
        wanted.check(task, dataset)
        prompt = options["prompt"] if task == "pairs" else None
        named = options["backend"], options["revision"], options["adapter"]
        writer = writer_called(task, slug, options["model"], prompt, *named)
        if writer.backend == Writer.Backend.OPENAI and not options["endpoint"]:
            raise WantedError("A model is asked at a server: --endpoint says which.")
        told = {name: options[name] for name in ("endpoint", "concurrency")}
        try:
            run = writings.begin(stored(writer), dataset, wanted, **told)
        except NothingToWrite as nothing:
            self.stdout.write(f"{task}: {nothing}")
            return writer
        if (n := of_no_topic(dataset)) and not wanted.topics:
            self.stdout.write(f"{task}: passages of no topic, which are left out: {n:,}")
        fill(run)
        waiting = open_products(run).count()
        self.stdout.write(
            f"{task}: {run.called}, {run.get_state_display()}: {run.n_planned:,} orders; {waiting:,} products "
            f"wait for a decision, at {run.get_absolute_url()}review/"
        )
        if run.state != Writing.State.FINISHED:
            raise WantedError(f"{run.called} is {run.get_state_display()}: {run.note}")
        return writer

    def _accept(self, dataset: Dataset, writer: Writer) -> None:
        for run in Writing.objects.filter(dataset=dataset, writer=writer).order_by("pk"):
            n, refused = accept_rest(run, None)
            self.stdout.write(f"Accepted unseen: {n:,}.")
            for why in refused:
                self.stderr.write(f"Not accepted: {why}")

    def _export(self, dataset: Dataset, writer: Writer, out: Path) -> None:
        with out.open("w", encoding="utf-8", newline="") as file:
            n = sum(bool(file.write(line)) for line in pairs.lines(dataset, writer.slug))
        self.stdout.write(f"{n}  {out}")
