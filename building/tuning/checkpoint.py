"""Where a training is, in one file that is there whole or not at all. Needs torch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from building.tuning.refusals import TuningRefused

NAME = "checkpoint.pt"


def save(folder: Path, values: dict[str, Any]) -> None:
    """Tensors, numbers and words under names, in the place of those that were there."""
    path = folder / NAME
    half = path.with_suffix(".half")
    with half.open("wb") as file:
        torch.save(values, file)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)


def load(folder: Path) -> dict[str, Any] | None:
    """None where there is none. Raises TuningRefused."""
    path = folder / NAME
    if not path.exists():
        return None
    try:
        values: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what it likes about a file that is none of its own
        said = " ".join(str(error).split())[:200]
        raise TuningRefused(
            f"{path} cannot be read; without it the training begins anew: {said}"
        ) from error
    return values


def remove(folder: Path) -> None:
    for name in (NAME, Path(NAME).with_suffix(".half").name):
        (folder / name).unlink(missing_ok=True)
