"""What makes a judge: everything that shapes its replies, and the hash of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from judging.grading.pairs import Sampling
from judging.grading.parse import words_of

# The model of `judging.stand_in`, which counts words in common and is none.
STAND_IN = "stand-in"


class Asked(Protocol):
    """What a server is asked as, whoever asks: a model of one revision and template, and how it writes."""

    @property
    def model(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def template_hash(self) -> str: ...
    @property
    def reply_model(self) -> str: ...
    @property
    def sampling(self) -> Sampling: ...


@dataclass(frozen=True)
class Spec:
    """A judge without a database: what a grader needs, and what a cluster's job carries with it.

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

    @property
    def grades(self) -> tuple[int, ...]:
        return tuple(grade for grade, _ in self.levels)

    @property
    def words(self) -> dict[str, int]:
        """The words of the levels that a reply may use instead of a grade, with their grades."""
        return words_of(self.levels)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the canonical JSON of `as_json`, in hex: one changed word, another judge."""
        # Escaped to ASCII: half a surrogate pair in a prompt has a hash too.
        canonical = json.dumps(self.as_json(), sort_keys=True)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON; without `reply_model` where it is empty, as judges were made before it."""
        values = asdict(self)
        if not self.reply_model:
            del values["reply_model"]
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Spec:
        """The spec that `as_json` wrote, with the same fingerprint. Raises TypeError, KeyError."""
        values = dict(values)
        values["levels"] = tuple((int(grade), str(label)) for grade, label in values["levels"])
        values["label_ids"] = tuple(int(label) for label in values["label_ids"])
        values["sampling"] = Sampling(**values["sampling"])
        return cls(**values)
