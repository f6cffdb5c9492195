"""What every writer is: asks in, outcomes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from building.writing.tasks import Message, Source, Task


@dataclass(frozen=True, slots=True)
class Ask:
    """One message to a writer. `order` and `number` are whose, and its how-manieth; from 1."""

    order: int
    number: int
    task: Task
    source: Source
    messages: list[Message]
    max_tokens: int
    """Where the server stops; 0 where the writer says so itself."""
    seed: int
    """So that the same is asked alike; no server promises to answer alike."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an ask. `failure` is why there is nothing to read, "" where there is; see Draft."""

    ask: Ask
    raw: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    failure: str = ""
    detail: str = ""
    prompt_hash: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class WriterAtWork(Protocol):
    """One writer in this process."""

    def outcomes(self, asks: Iterator[Ask]) -> Iterator[Outcome | None]:
        """Write what the iterator gives, and yield each outcome once, in any order.

        It takes from `asks` only what it can work at, and yields None about once a second while nothing
        comes. Raises GraderError only when nothing can be written any more.
        """
        ...
