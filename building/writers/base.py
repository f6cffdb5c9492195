"""Interface of writer backends: asks in, outcomes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from building.writing.tasks import Message, Source, Task


@dataclass(frozen=True, slots=True)
class Ask:
    """A message to a writer: the `number`-th (from 1) for an `order`."""

    order: int
    number: int
    task: Task
    source: Source
    messages: list[Message]
    max_tokens: int
    """Token limit of the reply; 0 for the writer's own."""
    seed: int
    """Sampling seed; servers do not guarantee equal replies for equal seeds."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an ask. `failure` is the reason if there is no reply, else ""; see Draft."""

    ask: Ask
    raw: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    failure: str = ""
    detail: str = ""
    prompt_hash: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class WriterBackend(Protocol):
    """Writer backend in this process."""

    def outcomes(self, asks: Iterator[Ask]) -> Iterator[Outcome | None]:
        """Write what the iterator gives, and yield each outcome once, in any order.

        It takes from `asks` only what it can work at, and yields None about once a second while nothing
        comes. Raises BackendError only when nothing can be written any more.
        """
        ...
