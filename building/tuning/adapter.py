"""A trained adapter as a folder of files: what it is known by, and what its training wrote about it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from building.tuning.refusals import TuningRefused

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
RECORD = "training.json"
_BLOCK = 2**20


def adapter_hash(folder: Path) -> str:
    """SHA-256, in hex, over the files that decide what an adapter writes; wherever the folder lies.

    training.json counts too where it is there: it has the marks and the lengths. Raises TuningRefused.
    """
    digest = hashlib.sha256()
    for name in (CONFIG, WEIGHTS, RECORD):
        try:
            digest.update(f"{name} {_hash_of(folder / name)}\n".encode())
        except FileNotFoundError:
            if name != RECORD:
                raise TuningRefused(f"{folder} holds no adapter: there is no {name}.") from None
        except OSError as error:
            raise TuningRefused(f"{folder / name} cannot be read: {error.strerror}.") from None
    return digest.hexdigest()


def _hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def record_of(folder: Path) -> dict[str, Any]:
    """What training.json says; nothing for an adapter that was trained elsewhere. Raises TuningRefused."""
    path = folder / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TuningRefused(f"{path} cannot be read: {error}") from None
    if not isinstance(record, dict):
        raise TuningRefused(f"{path} is no record of a training.")
    return record
