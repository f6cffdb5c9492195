"""`manage.py make_questions DATASET --types TYPES`: typed questions with answers."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from building.engine import writings
from building.engine.choosing import resolve_writer, stored
from building.engine.fill import fill
from building.engine.generation_spec import GenerationSpec, NothingToWriteError, SpecError
from building.engine.review import accept_rest, open_products
from building.engine.sources import of_no_topic
from building.formats import pairs
from building.management.commands.write import names_of
from building.models import Writer, Writing
from building.writing.pairs import KINDS
from evaluation.data.selection import one_of

STATEMENTS = "{}-statements"  # name of the writer of statements


class Command(SiteCommand):
    help = (
        "Let a writer ask a question of each type on each passage, and answer it. What it writes is proposed; "
        "a person decides about it. --out has what is accepted, as `import_dataset --format qac` reads it."
    )
    expected_errors = (OSError, UnicodeDecodeError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument(
            "--types",
            type=names_of,
            default=tuple(KINDS),
            help=f"separated by commas; default: {','.join(KINDS)}",
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
        parser.add_argument(
            "--endpoint",
            default="",
            help="a name from JUDGE_ENDPOINTS, project:SLUG/NAME, or a URL",
        )
        parser.add_argument("--topics", nargs="+", default=[], help="their names; default: all")
        parser.add_argument("--concurrency", type=int, default=64)
        parser.add_argument(
            "--accept-all",
            action="store_true",
            help="accept all outputs without review; they stay marked as such",
        )
        parser.add_argument("--out", type=Path, help="a file for the accepted pairs of this writer")

    def handle(self, *args: Any, **options: Any) -> None:
        slugs = Dataset.objects.values_list("slug", flat=True)
        dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
        topics, statement_writer = tuple(options["topics"]), ""
        if options["how"] == "statements":
            writer_name = options["writer"] and STATEMENTS.format(options["writer"])
            spec = GenerationSpec(topics=topics)
            statement_writer = self._run_writer(
                "statements", writer_name, dataset, spec, options
            ).slug
        spec = GenerationSpec(topics=topics, types=options["types"], statements=statement_writer)
        writer = self._run_writer("pairs", options["writer"], dataset, spec, options)
        if options["accept_all"]:
            self._accept(dataset, writer)
        if options["out"]:
            self._export(dataset, writer, options["out"])

    def _run_writer(
        self, task: str, slug: str, dataset: Dataset, spec: GenerationSpec, options: dict[str, Any]
    ) -> Writer:
        """Run the writer to the end of its generation run and return it."""
        spec.check(task, dataset)
        prompt = options["prompt"] if task == "pairs" else None
        writer_options = options["backend"], options["revision"], options["adapter"]
        writer = resolve_writer(task, slug, options["model"], prompt, *writer_options)
        if writer.backend == Writer.Backend.OPENAI and not options["endpoint"]:
            raise SpecError("A model is asked at a server: --endpoint says which.")
        run_options = {name: options[name] for name in ("endpoint", "concurrency")}
        try:
            run = writings.begin(stored(writer), dataset, spec, **run_options)
        except NothingToWriteError as nothing:
            self.stdout.write(f"{task}: {nothing}")
            return writer
        if (n := of_no_topic(dataset)) and not spec.topics:
            self.stdout.write(f"{task}: passages of no topic, which are left out: {n:,}")
        fill(run)
        waiting = open_products(run).count()
        self.stdout.write(
            f"{task}: {run.display_name}, {run.get_state_display()}: "
            f"{n_of(run.n_planned, 'task', ',')}; {n_of(waiting, 'output', ',')} to review, at "
            f"{run.get_absolute_url()}review/"
        )
        if run.state != Writing.State.FINISHED:
            raise SpecError(f"{run.display_name} is {run.get_state_display()}: {run.note}")
        return writer

    def _accept(self, dataset: Dataset, writer: Writer) -> None:
        for run in Writing.objects.filter(dataset=dataset, writer=writer).order_by("pk"):
            n, refused = accept_rest(run, None)
            self.stdout.write(f"Accepted without review: {n:,}.")
            for reason in refused:
                self.stderr.write(f"Not accepted: {reason}")

    def _export(self, dataset: Dataset, writer: Writer, out: Path) -> None:
        with out.open("w", encoding="utf-8", newline="") as file:
            n = sum(bool(file.write(line)) for line in pairs.lines(dataset, writer.slug))
        self.stdout.write(f"{n}  {out}")
