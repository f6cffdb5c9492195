"""Training checkpoint in one file, written atomically. Needs torch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from building.tuning.errors import TuningError

NAME = "checkpoint.pt"


def save(folder: Path, values: dict[str, Any]) -> None:
    """Save tensors, numbers and strings by name, replacing the last checkpoint."""
    path = folder / NAME
    half = path.with_suffix(".half")
    with half.open("wb") as file:
        torch.save(values, file)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)


def load(folder: Path) -> dict[str, Any] | None:
    """Load the checkpoint; None if there is none. Raises TuningError."""
    path = folder / NAME
    if not path.exists():
        return None
    try:
        values: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises various exceptions for a foreign file
        message = " ".join(str(error).split())[:200]
        raise TuningError(
            f"{path} cannot be read; without it the training begins again: {message}"
        ) from error
    return values


def remove(folder: Path) -> None:
    for name in (NAME, Path(NAME).with_suffix(".half").name):
        (folder / name).unlink(missing_ok=True)
