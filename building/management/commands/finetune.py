"""`manage.py finetune LINES --model MODEL --out FOLDER`: a LoRA adapter of a small encoder-decoder."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from building.tuning.adapter import adapter_hash, record_of
from building.tuning.lines import Lines, read
from building.tuning.options import Options
from building.tuning.refusals import TuningRefused

if TYPE_CHECKING:
    from building.tuning.training import Progress, Training

EVERY = 100
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


class Command(BaseCommand):
    help = (
        "Train a small encoder-decoder by LoRA on lines of contexts, questions and answers. Again, it goes "
        "on from its last checkpoint, and does nothing where the training has ended."
    )

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
            "--checkpoint-every", type=int, default=EVERY, help=f"steps; default: {EVERY}"
        )
        parser.add_argument("--json", action="store_true", help="print its record as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        asked = Options(**{field.name: options[field.name] for field in fields(Options)})
        try:
            asked.check()
            if options["checkpoint_every"] < 1:
                raise TuningRefused("checkpoint_every is 1 at least.")
            self._train(read(options["lines"]), asked, options)
            self._tell(options["out"], as_json=options["json"])
        except KeyboardInterrupt:
            raise CommandError("Stopped; the same command goes on.") from None
        except (TuningRefused, OSError) as error:
            raise CommandError(str(error)) from error

    def _train(self, lines: Lines, asked: Options, options: dict[str, Any]) -> None:
        # Here, not above: torch comes with an extra, and a file is read without it.
        from building.tuning import base, checkpoint, training  # noqa: PLC0415

        named = options["model"], options["revision"]
        work = training.Training(lines, base.load(*named), named, options["out"], asked)
        if work.is_done:
            checkpoint.remove(options["out"])  # of one that was killed when it had just ended
            self.stderr.write("This training has ended; nothing is to be done.")
        else:
            self._run(work, options)

    def _run(self, work: Training, options: dict[str, Any]) -> None:
        with tqdm(total=work.steps, unit=" steps", disable=options["json"] or None) as bar:

            def on_step(progress: Progress) -> None:
                bar.n = progress.step
                bar.refresh()

            def on_epoch(progress: Progress) -> None:
                held_out = progress.held_out[-1:]
                said = "".join(f", {loss:.4f} held out" for loss in held_out)
                n, last = len(progress.trained), progress.trained[-1]
                bar.clear()
                (self.stderr if options["json"] else self.stdout).write(
                    f"Epoch {n}: loss {last:.4f}{said}."
                )

            work.run(options["checkpoint_every"], on_step, on_epoch)

    def _tell(self, folder: Path, *, as_json: bool) -> None:
        record, name = record_of(folder), adapter_hash(folder)
        if as_json:
            self.stdout.write(json.dumps({"adapter": name, **record}, ensure_ascii=False))
            return
        lines, held = record["lines"], record["losses"]["held_out"]
        self.stdout.write(
            f"{folder}: the adapter {name[:12]}, after {record['steps']:,} steps on "
            f"{lines['trained_on']:,} lines; {lines['held_out']:,} lines of "
            f"{lines['contexts_held_out']:,} contexts held out."
        )
        if isinstance(held, list):
            self.stdout.write(f"Their loss: {held[0]:.4f} before, {held[-1]:.4f} after.")
        if left_out := lines["left_out_as_too_long"]:
            shown = ", ".join(map(str, left_out[:10]))
            self.stdout.write(f"Left out as too long: {len(left_out):,} lines ({shown} ...).")
