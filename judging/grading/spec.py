"""Specification of a judge: all that shapes its replies, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from judging.grading.parse import labels_of
from judging.llm.sampling import Sampling

# The model of `judging.mock_model`, which counts words in common and is none.
STAND_IN = "stand-in"


@dataclass(frozen=True)
class Spec:
    """Judge without a database: the input of a grader and of a cluster's job.

    `levels` are the rubric's grades and their words, ascending. `wording` is the rubric as the prompt
    shows it. `label_ids` are the token ids of the grades in that order, empty where unknown.
    `template_hash` pins the chat template, empty where the server cannot tell. `reply_model` is how replies
    name the model where that is not its name, empty elsewhere. Two specs with one fingerprint are one judge.
    """

    rubric: str
    levels: tuple[tuple[int, str], ...]
    backend: str
    model: str
    revision: str = ""
    system: str = ""
    prompt: str = ""
    wording: str = ""
    template_hash: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    label_ids: tuple[int, ...] = ()
    parser: str = ""
    failure_policy: str = "missing"
    reply_model: str = ""

    @cached_property
    def grades(self) -> tuple[int, ...]:
        return tuple(grade for grade, _ in self.levels)

    @cached_property
    def words(self) -> dict[str, int]:
        """Return the one-word labels that a reply may use instead of a grade, with grades."""
        return labels_of(self.levels)

    @property
    def fingerprint(self) -> str:
        """Return SHA-256 over the canonical JSON of `as_json`, in hex."""
        # Escaped to ASCII: half a surrogate pair in a prompt has a hash too.
        canonical = json.dumps(self.as_json(), sort_keys=True)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON.

        An empty `reply_model` is left out, so that judges stored before the field keep their fingerprint.
        """
        values = asdict(self)
        if not self.reply_model:
            del values["reply_model"]
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Spec:
        """Return the spec that `as_json` wrote, with the same fingerprint.

        Raises TypeError, KeyError.
        """
        values = dict(values)
        values["levels"] = tuple((int(grade), str(label)) for grade, label in values["levels"])
        values["label_ids"] = tuple(int(label) for label in values["label_ids"])
        values["sampling"] = Sampling(**values["sampling"])
        return cls(**values)
