"""`manage.py write DATASET --task TASK`: passages, requests, questions or reports, proposed to people."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.models import Dataset
from building.engine import writings
from building.engine.choosing import WriterRefused, stored, writer_called
from building.engine.deciding import accept_rest
from building.engine.fill import fill
from building.engine.wanted import NothingToWrite, Wanted, WantedError
from building.models import Writer, Writing
from building.writing.lengths import CONTEXT_TOKENS
from building.writing.pairs import KINDS
from building.writing.tasks import TASKS
from building.writing.wording import PromptBroken
from evaluation.data.selection import SelectionError, one_of
from judging.engine import states
from judging.graders.base import GraderError

REFUSALS = (
    *(SelectionError, WantedError, WriterRefused, PromptBroken, OSError),
    *(states.RunRefused, GraderError, UnicodeDecodeError),
)


def names_of(words: str) -> tuple[str, ...]:
    """Names that are parted by commas."""
    return tuple(filter(None, words.split(",")))


class Command(BaseCommand):
    help = "Let a writer write what a dataset lacks. What it writes is proposed; a person decides about it."

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
        parser.add_argument("--endpoint", default="", help="a name from JUDGE_ENDPOINTS, or a URL")
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
            "--types", type=names_of, default=tuple(KINDS), help="of questions, parted by commas"
        )
        parser.add_argument(
            "--statements", default="", help="the writer whose statements questions are made from"
        )
        parser.add_argument("--max-messages", type=int)
        parser.add_argument("--max-tokens", type=int, help="of the whole writing, read and written")
        parser.add_argument("--max-money", type=float)
        parser.add_argument("--price-in", type=float, default=0, help="of a million prompt tokens")
        parser.add_argument("--price-out", type=float, default=0, help="of a million written ones")
        parser.add_argument("--concurrency", type=int, default=64)
        parser.add_argument(
            "--join", type=int, metavar="N", help="work at this writing, or resume it"
        )
        parser.add_argument(
            "--accept-all", action="store_true", help="accept it unseen, which is kept"
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
        except NothingToWrite as nothing:
            self.stdout.write("null" if options["json"] else str(nothing))
            return
        except REFUSALS as error:
            raise CommandError(str(error)) from error
        self._tell(run, as_json=options["json"])

    def _new(self, dataset: Dataset, options: dict[str, Any]) -> Writing | None:
        if not options["task"]:
            raise WantedError(f"Say what is to be written: --task {', '.join(TASKS)}.")
        wanted = Wanted(
            topics=tuple(options["topics"]),
            **{name: options[name] for name in _WANTED},
        )
        wanted.check(options["task"], dataset)
        named = (options[name] for name in _NAMED)
        writer = writer_called(options["task"], *named)
        if options["dry_run"]:
            plan = writings.plan(writer, dataset, wanted)
            self.stdout.write(plan.in_words())
            for message in plan.first:
                self.stdout.write(f"--- {message['role']} ---\n{message['content']}")
            return None
        if writer.backend == Writer.Backend.OPENAI and not options["endpoint"]:
            raise WantedError("A model is asked at a server: --endpoint says which.")
        told = {name: options[name] for name in _OPTIONS}
        return writings.begin(stored(writer), dataset, wanted, **told)

    def _joined(self, dataset: Dataset, options: dict[str, Any]) -> Writing:
        run = Writing.objects.filter(pk=options["join"], dataset=dataset).first()
        if run is None:
            raise WantedError(f"{dataset} has no writing {options['join']}.")
        if run.is_resumable:
            given = {name: options[name] for name in _OPTIONS if name != "concurrency"}
            writings.resume(run, **{name: value for name, value in given.items() if value})
        return run

    def _write(self, run: Writing, *, quiet: bool) -> bool:
        """Work at it; returns whether it was not stopped by hand."""
        with tqdm(total=run.n_planned, unit=" orders", disable=quiet or None) as bar:

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
        (self.stderr if quiet else self.stdout).write(f"Accepted unseen: {n:,}.")
        for why in refused:
            self.stderr.write(f"Not accepted: {why}")

    def _tell(self, run: Writing, *, as_json: bool) -> None:
        told = writings.told(run)
        if as_json:
            self.stdout.write(json.dumps(told, indent=2, ensure_ascii=False))
            return
        self.stdout.write(
            f"{run.called}, {run.get_state_display()}: {told['done']:,} of {told['planned']:,} orders; "
            f"{told['products']:,} products, {told['open']:,} of them not yet decided about; "
            f"{told['failed']:,} orders failed."
        )


_NAMED = ("writer", "model", "prompt", "backend", "revision", "adapter")
_WANTED = (
    *("n", "length", "run", "k", "context_tokens", "required", "samples", "system"),
    *("types", "statements"),
)
_OPTIONS = (
    *("endpoint", "concurrency", "max_messages", "max_tokens", "max_money"),
    *("price_in", "price_out"),
)
