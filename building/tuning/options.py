"""What a training is asked for, and the record of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from building.tuning.refusals import TuningRefused

ALPHA = 2  # times the rank: how much the adapter weighs
DROPOUT = 0.05  # of the adapter's input
CLIP = 1.0  # the largest norm of a gradient


@dataclass(frozen=True)
class Options:
    """`max_input` and `max_output` are in tokens, `held_out` is a share of contexts."""

    rank: int = 8
    epochs: int = 3
    batch: int = 8
    learning_rate: float = 1e-3
    seed: int = 0
    max_input: int = 512
    max_output: int = 128
    held_out: float = 0.1

    def check(self) -> None:
        """Raises TuningRefused."""
        for name in ("rank", "epochs", "batch", "max_input", "max_output"):
            if getattr(self, name) < 1:
                raise TuningRefused(f"{name} is {getattr(self, name)}: it is 1 at least.")
        if not 0 < self.learning_rate <= 1:
            raise TuningRefused(f"learning_rate is {self.learning_rate}: it is above 0, up to 1.")
        if not 0 <= self.held_out < 1:
            raise TuningRefused(f"held_out is {self.held_out}: it is a share from 0 to below 1.")
        if self.seed < 0:
            raise TuningRefused(f"seed is {self.seed}: it is 0 at least.")

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "alpha": ALPHA * self.rank, "dropout": DROPOUT, "clip": CLIP}


def differences(there: dict[str, Any], wanted: dict[str, Any], before: str = "") -> list[str]:
    """Where two recipes are not the same, each as "options.rank: 8 there, 16 asked for"."""
    found = []
    for name in sorted({*there, *wanted}):
        old, new = there.get(name), wanted.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += differences(old, new, f"{before}{name}.")
        elif old != new:
            found.append(f"{before}{name}: {old} there, {new} asked for")
    return found
