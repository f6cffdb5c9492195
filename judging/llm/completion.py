"""Completion of a model: its text, and the log-probabilities of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

RAW_LIMIT = 64_000  # characters of a reply that are kept: a runaway reply must not fill the table

TOKEN_ID = "token_id:"  # noqa: S105 -- how vLLM writes a token where it was asked for its id


@dataclass(frozen=True, slots=True)
class Completion:
    """Completion of a model: its text, its reasoning, and why it ended."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    refusal: str | None = None


class TokenLogprobs(Protocol):
    """Log-probabilities of the generated tokens of one sample, in their order."""

    def tokens(self) -> Sequence[str | bytes]:
        """Return each generated token: its text, its UTF-8 bytes, or TOKEN_ID with its id."""

    def alternatives(self, position: int) -> Sequence[tuple[str, float]]:
        """Return the likeliest tokens at a position, with their natural log-probabilities.

        The generated token is among them.
        """


def storable(text: str) -> str:
    """Return text that a database can store.

    It has no NUL, no lone surrogates, and at most RAW_LIMIT characters.
    """
    text = text[:RAW_LIMIT].replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-8", "replace").decode("utf-8")
