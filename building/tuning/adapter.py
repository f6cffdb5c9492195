"""Trained LoRA adapter on disk: its hash, and the record of its training."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from building.tuning.errors import TuningError

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
RECORD = "training.json"
_BLOCK = 2**20


def adapter_hash(folder: Path) -> str:
    """SHA-256, in hex, over the files that decide an adapter's output, in any folder.

    training.json counts too where it is there: it has the marks and the lengths. Raises TuningError.
    """
    digest = hashlib.sha256()
    for name in (CONFIG, WEIGHTS, RECORD):
        try:
            digest.update(f"{name} {_hash_of(folder / name)}\n".encode())
        except FileNotFoundError:
            if name != RECORD:
                raise TuningError(f"{folder} holds no adapter: there is no {name}.") from None
        except OSError as error:
            raise TuningError(f"{folder / name} cannot be read: {error.strerror}.") from None
    return digest.hexdigest()


def _hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def record_of(folder: Path) -> dict[str, Any]:
    """Read training.json; {} for an adapter that was trained elsewhere.

    Raises TuningError.
    """
    path = folder / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TuningError(f"{path} cannot be read: {error}") from None
    if not isinstance(record, dict):
        raise TuningError(f"{path} is no record of a training.")
    return record
