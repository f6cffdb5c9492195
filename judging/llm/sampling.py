"""Sampling parameters of a model, and the model that a task requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Sampling:
    """Sampling parameters of a model. Part of a judge's identity."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1
    seed: int | None = 0
    logprobs: bool = True
    extra: Mapping[str, object] = field(default_factory=dict)  # sent as they are; null leaves out

    @property
    def sent(self) -> dict[str, object]:
        """Return the request parameters without log-probabilities; `extra` overrides."""
        usual = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
        }
        return without_nulls({**usual, **self.extra})

    @property
    def samples(self) -> int:
        """Return the number of samples of each message, the request's `n`."""
        n = self.extra.get("n")
        return n if isinstance(n, int) and n > 1 else 1


def without_nulls(parameters: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in parameters.items() if value is not None}


class RequestedModel(Protocol):
    """Model as a server is asked for it: revision, template and sampling included."""

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
