"""LoRA training of an encoder-decoder. Needs torch, transformers and peft.

Each step draws what it needs of chance (dropout) from the seed and its own number, and each epoch its
order: a training that was killed and goes on from a checkpoint takes the same steps as one that was not.
On a CPU with the same number of threads the adapters are the same bit for bit; on a GPU sums may be
taken in another order.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import peft
import torch
import transformers

from building.tuning import checkpoint
from building.tuning.adapter import CONFIG, RECORD, record_of
from building.tuning.base import Base
from building.tuning.encoding import IGNORED, Encoded, batch_of, encode_lines
from building.tuning.errors import TuningError
from building.tuning.lines import Lines, split_lines
from building.tuning.marks import marks_for
from building.tuning.options import ALPHA, CLIP, DROPOUT, Options, differences

NO_CONTEXT = "no context is held out"


@dataclass
class Progress:
    """Training progress. Losses are means over the tokens of the outputs, in nats.

    `held_out` has one before the first epoch, then one an epoch, as `trained` has; `total` and `tokens`
    are the sums of the epoch under way.
    """

    step: int = 0
    trained: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)
    total: float = 0.0
    tokens: int = 0

    def end_epoch(self) -> None:
        self.trained.append(self.total / self.tokens)
        self.total, self.tokens = 0.0, 0


class Training:
    """A training into `folder`, new or resumed. See `run`."""

    def __init__(
        self, lines: Lines, base: Base, name: tuple[str, str], folder: Path, options: Options
    ) -> None:
        """`name` is (name, revision) of the base. Raises TuningError."""
        self.base, self.folder, self.options = base, folder, options
        self.marks = marks_for(base.tokenizer)
        longest = options.max_input, options.max_output
        train, test = split_lines(lines.all, options.held_out, options.seed)
        self.train, left_out = encode_lines(train, base.tokenizer, self.marks, longest)
        self.test, more = encode_lines(test, base.tokenizer, self.marks, longest)
        if not self.train:
            raise TuningError(
                f"No line is left to train on: each has more than {longest[0]} tokens to read or "
                f"{longest[1]} to write."
            )
        self.recipe = {
            "lines": {
                "sha256": lines.sha256,
                "n": len(lines.all),
                "contexts": len(lines.contexts),
                "trained_on": len(self.train),
                "held_out": len(self.test),
                "contexts_held_out": len({line.context for line in test}),
                "left_out_as_too_long": sorted(left_out + more),
            },
            "base": {"name": name[0], "revision": name[1], "sha256": base.sha256},
            "marks": self.marks,
            "options": options.as_json(),
            "versions": _versions(),
            "device": base.device,
        }
        self.steps_of_epoch = math.ceil(len(self.train) / options.batch)
        self.steps = self.steps_of_epoch * options.epochs
        self.is_done = self._is_done()

    def _is_done(self) -> bool:
        """Return whether this training is complete. Raises TuningError for another one."""
        record = record_of(self.folder)
        stored = {name: record.get(name) for name in self.recipe}
        if record and (wrong := differences(stored, self.recipe)):
            raise TuningError(f"{self.folder} holds another training: {'; '.join(wrong)}.")
        return bool(record)

    def run(
        self,
        checkpoint_every: int,
        on_step: Callable[[Progress], None],
        on_epoch: Callable[[Progress], None],
    ) -> Progress:
        """Train from the last checkpoint or the start; write the adapter and its record.

        A checkpoint is kept every `checkpoint_every` steps and at the end of an epoch. Raises TuningError,
        OSError.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        model = self._with_adapter()
        weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(weights, lr=self.options.learning_rate, weight_decay=0.0)
        progress = self._resumed(model, optimizer)
        if not progress.held_out:
            progress.held_out += self._held_out_loss(model)
        on_step(progress)
        while progress.step < self.steps:
            self._step(model, weights, optimizer, progress)
            if ends_epoch := progress.step % self.steps_of_epoch == 0:
                progress.end_epoch()
                progress.held_out += self._held_out_loss(model)
                on_epoch(progress)
            if ends_epoch or progress.step % checkpoint_every == 0:
                self._keep(model, optimizer, progress)
            on_step(progress)
        self._write(model, progress)
        return progress

    def _with_adapter(self) -> Any:
        torch.manual_seed(_seed(self.options.seed, "adapter", 0))
        rank = self.options.rank
        config = peft.LoraConfig(
            task_type=peft.TaskType.SEQ_2_SEQ_LM,
            r=rank,
            lora_alpha=ALPHA * rank,
            lora_dropout=DROPOUT,
        )
        try:
            return peft.get_peft_model(self.base.model, config)
        except ValueError as error:  # which layers of a model it adapts, peft knows by the kind
            raise TuningError(f"peft has no LoRA for this model: {error}") from error

    def _resumed(self, model: Any, optimizer: Any) -> Progress:
        saved = checkpoint.load(self.folder)
        if saved is None:
            return Progress()
        if wrong := differences(json.loads(saved["recipe"]), self.recipe):
            raise TuningError(
                f"{self.folder} holds a training that has not ended, and another: {'; '.join(wrong)}."
            )
        peft.set_peft_model_state_dict(model, saved["adapter"])
        optimizer.load_state_dict(saved["optimizer"])
        return Progress(**saved["progress"])

    def _keep(self, model: Any, optimizer: Any, progress: Progress) -> None:
        state = {
            "recipe": json.dumps(self.recipe),
            "adapter": peft.get_peft_model_state_dict(model),
            "optimizer": optimizer.state_dict(),
            "progress": dict(vars(progress)),
        }
        checkpoint.save(self.folder, state)

    def _step(self, model: Any, weights: Sequence[Any], optimizer: Any, progress: Progress) -> None:
        options, step = self.options, progress.step
        torch.manual_seed(_seed(options.seed, "step", step))
        epoch, position = divmod(step, self.steps_of_epoch)
        order = self._order(epoch)[position * options.batch : (position + 1) * options.batch]
        model.train()
        loss, tokens = self._loss(model, [self.train[row] for row in order])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, CLIP)
        for group in optimizer.param_groups:  # down to 0 in a straight line
            group["lr"] = options.learning_rate * (1 - step / self.steps)
        optimizer.step()
        progress.step += 1
        progress.total += float(loss.detach()) * tokens
        progress.tokens += tokens
        if not math.isfinite(progress.total):
            raise TuningError(
                f"The loss of step {progress.step} is no number: try a lower learning rate."
            )

    def _order(self, epoch: int) -> list[int]:
        chance = torch.Generator().manual_seed(_seed(self.options.seed, "epoch", epoch))
        order: list[int] = torch.randperm(len(self.train), generator=chance).tolist()
        return order

    def _loss(self, model: Any, rows: Sequence[Encoded]) -> tuple[Any, int]:
        """Return (mean loss per token, number of tokens) of a batch."""
        batch = batch_of(rows, self.base.tokenizer.pad_token_id, self.base.device)
        return model(**batch).loss, int((batch["labels"] != IGNORED).sum())

    def _held_out_loss(self, model: Any) -> list[float]:
        """Return the held-out loss as a list of one; empty if nothing is held out."""
        if not self.test:
            return []
        total, n = 0.0, 0
        model.eval()
        with torch.no_grad():
            for rows in _chunks(self.test, self.options.batch):
                loss, tokens = self._loss(model, rows)
                total, n = total + float(loss) * tokens, n + tokens
        return [total / n]

    def _write(self, model: Any, progress: Progress) -> None:
        """Write the adapter, then its record, which marks the folder as complete."""
        model.save_pretrained(self.folder)
        (self.folder / "README.md").unlink(
            missing_ok=True
        )  # a form that peft leaves to be filled in
        _sort_lists(self.folder / CONFIG)
        held_out_losses: Any = progress.held_out or {"value": None, "reason": NO_CONTEXT}
        losses = {
            "unit": "nats per token",
            "trained": progress.trained,
            "held_out": held_out_losses,
        }
        record = {**self.recipe, "steps": progress.step, "losses": losses}
        half = self.folder / f"{RECORD}.half"
        half.write_text(f"{json.dumps(record, indent=2, ensure_ascii=False)}\n", encoding="utf-8")
        half.replace(self.folder / RECORD)
        checkpoint.remove(self.folder)


def _chunks(rows: Sequence[Encoded], n: int) -> Iterator[Sequence[Encoded]]:
    for start in range(0, len(rows), n):
        yield rows[start : start + n]


def _seed(seed: int, purpose: str, number: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {purpose} {number}".encode()).digest()[:6])


def _versions() -> dict[str, str]:
    packages = {"torch": torch, "transformers": transformers, "peft": peft}
    versions = {name: str(package.__version__) for name, package in packages.items()}
    return {"python": platform.python_version(), **versions}


def _sort_lists(path: Path) -> None:
    """Sort the lists in peft's config; their order differs between processes."""
    config = json.loads(path.read_text(encoding="utf-8"))
    for name, value in config.items():
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            config[name] = sorted(value)
    path.write_text(f"{json.dumps(config, indent=2, sort_keys=True)}\n", encoding="utf-8")
