"""`manage.py write DATASET --task TASK`: generate texts or questions for review."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from tqdm import tqdm

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from building.engine import writings
from building.engine.choosing import resolve_writer, stored
from building.engine.fill import fill
from building.engine.generation_spec import GenerationSpec, NothingToWriteError, SpecError
from building.engine.review import accept_rest
from building.models import Writer, Writing
from building.writing.lengths import CONTEXT_TOKENS
from building.writing.pairs import KINDS
from building.writing.tasks import TASKS
from evaluation.data.selection import one_of
from judging.execution import states


def names_of(text: str) -> tuple[str, ...]:
    """Split names at commas."""
    return tuple(filter(None, text.split(",")))


class Command(SiteCommand):
    help = "Let a writer write what a dataset lacks. What it writes is proposed; a person decides about it."
    expected_errors = (OSError, UnicodeDecodeError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="the dataset's slug")
        parser.add_argument("--task", choices=list(TASKS), help="what is written")
        parser.add_argument(
            "--writer", default="", help="its name; default: the extractive baseline"
        )
        parser.add_argument("--model", default="", help="a new writer of this name asks this model")
        parser.add_argument("--prompt", type=Path, help="the new writer's prompt, in a file")
        parser.add_argument(
            "--backend",
            choices=["openai", "vllm", "transformers"],
            default="",
            help="where the new writer's model runs: at a server (openai), or in this process with vLLM, or "
            "with transformers: a small encoder-decoder",
        )
        parser.add_argument("--revision", default="", help="which weights the new writer's has")
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
        parser.add_argument(
            "--n", type=int, default=0, help="how many questions or passages of each"
        )
        parser.add_argument(
            "--length", default="", help="words:300, tokens:512, match:required ..."
        )
        parser.add_argument(
            "--run", default="", help="the run whose passages reports are written from"
        )
        parser.add_argument("--k", default="", help="how many of them, or: required")
        parser.add_argument("--context-tokens", type=int, default=CONTEXT_TOKENS)
        parser.add_argument(
            "--required", default="", help="the run that holds the required subsets"
        )
        parser.add_argument(
            "--system",
            default="",
            help="what reports are called; default: by the writer and the run",
        )
        parser.add_argument("--samples", type=int, default=1, help="texts of each")
        parser.add_argument(
            "--types", type=names_of, default=tuple(KINDS), help="of questions, separated by commas"
        )
        parser.add_argument(
            "--statements", default="", help="the writer whose statements questions are made from"
        )
        parser.add_argument("--max-messages", type=int)
        parser.add_argument("--max-tokens", type=int, help="of the whole writing, read and written")
        parser.add_argument("--max-money", type=float)
        parser.add_argument(
            "--price-in", type=float, default=0, help="price of a million prompt tokens"
        )
        parser.add_argument(
            "--price-out", type=float, default=0, help="price of a million completion tokens"
        )
        parser.add_argument("--concurrency", type=int, default=64)
        parser.add_argument(
            "--join", type=int, metavar="N", help="join or resume this generation run"
        )
        parser.add_argument(
            "--accept-all",
            action="store_true",
            help="accept all outputs without review; they stay marked as such",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be written, and stop"
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            slugs = Dataset.objects.values_list("slug", flat=True)
            dataset = Dataset.objects.get(slug=one_of("dataset", options["dataset"], slugs))
            run = self._joined(dataset, options) if options["join"] else self._new(dataset, options)
            if run is None:
                return
            is_whole = self._write(run, quiet=options["json"])
            if options["accept_all"] and is_whole:
                self._accept(run, quiet=options["json"])
        except NothingToWriteError as nothing:
            self.stdout.write("null" if options["json"] else str(nothing))
            return
        self._tell(run, as_json=options["json"])

    def _new(self, dataset: Dataset, options: dict[str, Any]) -> Writing | None:
        if not options["task"]:
            raise SpecError(f"Say what is to be written: --task {', '.join(TASKS)}.")
        spec = GenerationSpec(
            topics=tuple(options["topics"]),
            **{name: options[name] for name in _SPEC_FIELDS},
        )
        spec.check(options["task"], dataset)
        writer_options = (options[name] for name in _WRITER_OPTIONS)
        writer = resolve_writer(options["task"], *writer_options)
        if options["dry_run"]:
            plan = writings.plan(writer, dataset, spec)
            self.stdout.write(plan.in_words())
            for message in plan.first:
                self.stdout.write(f"--- {message['role']} ---\n{message['content']}")
            return None
        if writer.backend == Writer.Backend.OPENAI and not options["endpoint"]:
            raise SpecError("A model is asked at a server: --endpoint says which.")
        run_options = {name: options[name] for name in _RUN_OPTIONS}
        return writings.begin(stored(writer), dataset, spec, **run_options)

    def _joined(self, dataset: Dataset, options: dict[str, Any]) -> Writing:
        run = Writing.objects.filter(pk=options["join"], dataset=dataset).first()
        if run is None:
            raise SpecError(f"{dataset} has no writing {options['join']}.")
        if run.is_resumable:
            changes = {name: options[name] for name in _RUN_OPTIONS if name != "concurrency"}
            writings.resume(run, **{name: value for name, value in changes.items() if value})
        return run

    def _write(self, run: Writing, *, quiet: bool) -> bool:
        """Work on the run; return False if it was interrupted by hand."""
        with tqdm(total=run.n_planned, unit=" tasks", disable=quiet or None) as bar:

            def on_draft(draft: Any) -> None:
                bar.n = run.orders.filter(state="done").count()
                bar.refresh()

            try:
                fill(run, on_draft)
            except KeyboardInterrupt:
                if run.is_running:
                    states.pause(run, "stopped by hand")
                self.stderr.write("Stopped; the same command goes on.")
                return False
        return True

    def _accept(self, run: Writing, *, quiet: bool) -> None:
        n, refused = accept_rest(run, None)
        (self.stderr if quiet else self.stdout).write(f"Accepted without review: {n:,}.")
        for reason in refused:
            self.stderr.write(f"Not accepted: {reason}")

    def _tell(self, run: Writing, *, as_json: bool) -> None:
        progress = writings.progress_of(run)
        if as_json:
            self.stdout.write(json.dumps(progress, indent=2, ensure_ascii=False))
            return
        self.stdout.write(
            f"{run.display_name}, {run.get_state_display()}: "
            f"{progress['done']:,} of {n_of(progress['planned'], 'task', ',')}; "
            f"{n_of(progress['products'], 'output', ',')}, {progress['open']:,} of them to review; "
            f"failed tasks: {progress['failed']:,}."
        )


_WRITER_OPTIONS = ("writer", "model", "prompt", "backend", "revision", "adapter")
_SPEC_FIELDS = (
    *("n", "length", "run", "k", "context_tokens", "required", "samples", "system"),
    *("types", "statements"),
)
_RUN_OPTIONS = (
    *("endpoint", "concurrency", "max_messages", "max_tokens", "max_money"),
    *("price_in", "price_out"),
)
