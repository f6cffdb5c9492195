"""What makes a writer: everything that shapes its texts, and the hash of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from judging.grading.pairs import Sampling
from judging.grading.spec import STAND_IN

EXTRACTIVE = "extractive"
_CAME_LATER = (
    "template_hash",
    "adapter",
    "adapter_hash",
)  # writers were made before there were these


@dataclass(frozen=True)
class WriterSpec:
    """A writer without a database. Two specs with one fingerprint are one writer.

    `template_hash` pins the chat template, "" where it is not known. `adapter` is the folder of what was
    trained on top of the model, "" for the model alone, and `adapter_hash` pins its files.
    """

    task: str
    backend: str
    model: str
    revision: str = ""
    system: str = ""
    prompt: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    template_hash: str = ""
    adapter: str = ""
    adapter_hash: str = ""

    @property
    def reply_model(self) -> str:
        """Empty: a writer whose replies name its model otherwise has that name as its revision."""
        return ""

    @property
    def is_extractive(self) -> bool:
        return self.backend == EXTRACTIVE

    @property
    def is_baseline(self) -> bool:
        """Whether no model writes: sentences are picked, here or by the stand-in for one."""
        return self.is_extractive or self.model == STAND_IN

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the canonical JSON of all fields, in hex: one changed word, another writer."""
        told = asdict(self)
        told = {name: value for name, value in told.items() if value or name not in _CAME_LATER}
        canonical = json.dumps(told, sort_keys=True)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()
