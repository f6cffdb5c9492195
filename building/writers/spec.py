"""Specification of a writer, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from judging.grading.spec import STAND_IN
from judging.llm.sampling import Sampling

EXTRACTIVE = "extractive"
_CAME_LATER = (
    "template_hash",
    "adapter",
    "adapter_hash",
)  # writers were made before there were these


@dataclass(frozen=True)
class WriterSpec:
    """Definition of a writer without the database; equal fingerprints are one writer.

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
        """Return "": a writer pins the model name of replies in its revision."""
        return ""

    @property
    def is_extractive(self) -> bool:
        return self.backend == EXTRACTIVE

    @property
    def is_baseline(self) -> bool:
        """Return whether the writer has no model: the baseline, or its mock server."""
        return self.is_extractive or self.model == STAND_IN

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hex, over the canonical JSON of all fields."""
        values = asdict(self)
        values = {name: value for name, value in values.items() if value or name not in _CAME_LATER}
        canonical = json.dumps(values, sort_keys=True)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()
