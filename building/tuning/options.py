"""Training options."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from building.tuning.errors import TuningError

ALPHA = 2  # times the rank: how much the adapter weighs
DROPOUT = 0.05  # of the adapter's input
CLIP = 1.0  # the largest norm of a gradient


@dataclass(frozen=True)
class Options:
    """Training options; `max_input`, `max_output` in tokens, `held_out` a share of contexts."""

    rank: int = 8
    epochs: int = 3
    batch: int = 8
    learning_rate: float = 1e-3
    seed: int = 0
    max_input: int = 512
    max_output: int = 128
    held_out: float = 0.1

    def check(self) -> None:
        """Validate the options. Raises TuningError."""
        for name in ("rank", "epochs", "batch", "max_input", "max_output"):
            if getattr(self, name) < 1:
                raise TuningError(f"{name} is {getattr(self, name)}: it is 1 at least.")
        if not 0 < self.learning_rate <= 1:
            raise TuningError(f"learning_rate is {self.learning_rate}: it is above 0, up to 1.")
        if not 0 <= self.held_out < 1:
            raise TuningError(f"held_out is {self.held_out}: it is a share from 0 to below 1.")
        if self.seed < 0:
            raise TuningError(f"seed is {self.seed}: it is 0 at least.")

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "alpha": ALPHA * self.rank, "dropout": DROPOUT, "clip": CLIP}


def differences(stored: dict[str, Any], requested: dict[str, Any], prefix: str = "") -> list[str]:
    """Compare two recipes; return lines like "options.rank: 8 there, 16 asked for"."""
    lines = []
    for name in sorted({*stored, *requested}):
        old, new = stored.get(name), requested.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            lines += differences(old, new, f"{prefix}{name}.")
        elif old != new:
            lines.append(f"{prefix}{name}: {old} there, {new} asked for")
    return lines
