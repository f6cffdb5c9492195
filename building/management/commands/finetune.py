"""`manage.py finetune LINES --model MODEL --out FOLDER`: train a LoRA adapter."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError
from tqdm import tqdm

from annotation.management.base import SiteCommand
from annotation.plurals import n_of
from building.tuning.adapter import adapter_hash, record_of
from building.tuning.errors import TuningError
from building.tuning.lines import Lines, read
from building.tuning.options import Options

if TYPE_CHECKING:
    from building.tuning.training import Progress, Training

CHECKPOINT_EVERY = 100
_HELP = {
    "rank": "of the adapter's matrices",
    "epochs": "how often each line is seen",
    "batch": "lines of a step",
    "learning_rate": "at the first step; it falls to 0 in a straight line",
    "seed": "of all that is left to chance",
    "max_input": "tokens that are read; longer lines are left out, and told",
    "max_output": "tokens that are written; longer lines are left out, and told",
    "held_out": "the share of contexts that is not trained on",
}


class Command(SiteCommand):
    help = (
        "Train a small encoder-decoder by LoRA on lines of contexts, questions and answers. Again, it goes "
        "on from its last checkpoint, and does nothing where the training has ended."
    )
    expected_errors = (OSError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("lines", type=Path, help="a file of JSON lines with input and output")
        parser.add_argument("--model", required=True, help="a folder, or a name of Hugging Face's")
        parser.add_argument("--revision", default="", help="which weights of it")
        parser.add_argument("--out", type=Path, required=True, help="where the adapter goes")
        for field in fields(Options):
            usual: Any = field.default
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                type=type(usual),
                default=usual,
                help=f"{_HELP[field.name]}; default: {usual}",
            )
        parser.add_argument(
            "--checkpoint-every",
            type=int,
            default=CHECKPOINT_EVERY,
            help=f"steps; default: {CHECKPOINT_EVERY}",
        )
        parser.add_argument("--json", action="store_true", help="print its record as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        tuning_options = Options(**{field.name: options[field.name] for field in fields(Options)})
        try:
            tuning_options.check()
            if options["checkpoint_every"] < 1:
                raise TuningError("checkpoint_every is 1 at least.")
            self._train(read(options["lines"]), tuning_options, options)
            self._tell(options["out"], as_json=options["json"])
        except KeyboardInterrupt:
            raise CommandError("Stopped; the same command goes on.") from None

    def _train(self, lines: Lines, tuning_options: Options, options: dict[str, Any]) -> None:
        # Here, not above: torch comes with an extra, and a file is read without it.
        from building.tuning import base, checkpoint, training  # noqa: PLC0415

        model_id = options["model"], options["revision"]
        job = training.Training(
            lines, base.load(*model_id), model_id, options["out"], tuning_options
        )
        if job.is_done:
            checkpoint.remove(options["out"])  # of one that was killed when it had just ended
            self.stderr.write("This training has ended; nothing is to be done.")
        else:
            self._run(job, options)

    def _run(self, job: Training, options: dict[str, Any]) -> None:
        with tqdm(total=job.steps, unit=" steps", disable=options["json"] or None) as bar:

            def on_step(progress: Progress) -> None:
                bar.n = progress.step
                bar.refresh()

            def on_epoch(progress: Progress) -> None:
                held_out = progress.held_out[-1:]
                held_out_text = "".join(f", {loss:.4f} held out" for loss in held_out)
                n, last = len(progress.trained), progress.trained[-1]
                bar.clear()
                (self.stderr if options["json"] else self.stdout).write(
                    f"Epoch {n}: loss {last:.4f}{held_out_text}."
                )

            job.run(options["checkpoint_every"], on_step, on_epoch)

    def _tell(self, folder: Path, *, as_json: bool) -> None:
        record, name = record_of(folder), adapter_hash(folder)
        if as_json:
            self.stdout.write(json.dumps({"adapter": name, **record}, ensure_ascii=False))
            return
        lines, held_out_losses = record["lines"], record["losses"]["held_out"]
        self.stdout.write(
            f"{folder}: the adapter {name[:12]}, after "
            f"{n_of(record['steps'], 'step', ',')} on {n_of(lines['trained_on'], 'line', ',')}; "
            f"{n_of(lines['held_out'], 'line', ',')} of "
            f"{n_of(lines['contexts_held_out'], 'context', ',')} held out."
        )
        if isinstance(held_out_losses, list):
            self.stdout.write(
                f"Their loss: {held_out_losses[0]:.4f} before, {held_out_losses[-1]:.4f} after."
            )
        if left_out := lines["left_out_as_too_long"]:
            numbers = ", ".join(map(str, left_out[:10]))
            self.stdout.write(
                f"Left out as too long: {n_of(len(left_out), 'line', ',')} ({numbers} ...)."
            )
