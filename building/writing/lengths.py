"""Text lengths: parsing, truncation at sentences, and context size.

    words:300         the instruction says 300 words, the cap leaves room for half as many again
    tokens:512        the cap is 512 tokens, the instruction says the words that these make
    match:required    as long as other texts are together: the required passages of the topic,
    match:reference   or its reference. The instruction says their words, the cap is their tokens.

Source of `match`: CRUX, section 4.2 and footnote 7 (generation is capped at the tokens of Z*).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.errors import UserError
from building.writing import sentences
from building.writing.sentences import n_words

TOKENS_OF_A_WORD = 1.3
ROOM = 1.5  # a model that is told 300 words and writes 400 is not cut
MAX_LENGTH = 100_000
_WHOLE = re.compile(r"[.!?…。！？][\"'”’»」』)\]]*\Z")
CONTEXT_TOKENS = 2_500  # as in CRUX
_WRITTEN = re.compile(r"(words|tokens):([1-9][0-9]{0,5})|match:(required|reference)")


@dataclass(frozen=True)
class Tokenizer:
    """Token counter. Its name is reported wherever a number of tokens is."""

    name: str
    count: Callable[[str], int]


ESTIMATE = Tokenizer("words*1.3 estimate", lambda text: math.ceil(n_words(text) * TOKENS_OF_A_WORD))


@dataclass(frozen=True)
class Length:
    """`words` is the length in the instruction, `max_tokens` the server's limit."""

    words: int
    max_tokens: int


class LengthError(UserError):
    """A length that cannot be read or made; a sentence for people."""


def matches(written: str) -> str:
    """Return the texts that a length matches: "required", "reference", or "" for a number.

    Raises LengthError for what is no length.
    """
    return _read(written)[3] or ""


def length_of(written: str, texts: Sequence[str] = (), tokenizer: Tokenizer = ESTIMATE) -> Length:
    """Parse a length; `texts` are those that it shall match.

    Raises LengthError for what is no length, and where there is nothing to match.
    """
    match = _read(written)
    if match[1]:
        number = int(match[2])
        if match[1] == "words":
            return Length(number, math.ceil(number * TOKENS_OF_A_WORD * ROOM))
        return Length(max(1, int(number / TOKENS_OF_A_WORD)), number)
    n_total = sum(map(n_words, texts))
    if not n_total:
        raise LengthError(
            f"{written} takes the length of the topic's {match[3]} texts, and there is no word of them."
        )
    return Length(n_total, sum(map(tokenizer.count, texts)))


def _read(written: str) -> re.Match[str]:
    match = _WRITTEN.fullmatch(written.strip())
    if not match or (match[2] and int(match[2]) > MAX_LENGTH):
        raise LengthError(
            f'"{written}" is no length. Write words:300, tokens:512, match:required or match:reference, '
            f"with a number of at most {MAX_LENGTH:,}."
        )
    return match


def cut_at_sentence(body: str) -> str:
    """Truncate the body after its last complete sentence; "" if none is.

    For what was stopped by its length. Abbreviations end no sentence, and neither does a line.
    """
    # What follows decides whether a point ends a sentence: "Dr." at the very end does not.
    ends = [end for _, end in sentences.spans(f"{body} X")[:-1]]
    while ends and not _WHOLE.search(body, max(0, ends[-1] - 20), ends[-1]):
        ends.pop()
    return body[: ends[-1]] if ends else ""


def cut_at_words(body: str, max_words: int) -> str:
    """Truncate the body after the last sentence within `max_words`; "" if none is."""
    fits = total = 0
    for start, end in sentences.spans(body):
        total += n_words(body[start:end])
        if total > max_words:
            break
        fits = end
    return body[:fits]


def fill_context(
    passages: Sequence[str],
    *,
    tokens: int | None = CONTEXT_TOKENS,
    k: int | None = None,
    tokenizer: Tokenizer = ESTIMATE,
) -> int:
    """Return how many leading passages fit: at most `k`, within a token limit.

    `passages` are as the prompt shows them (`tasks.shown_passages`), in the order of their ranks. The
    first that does not fit ends it, so a context is always the top of its ranking; 0 if already the
    first one is too long.
    """
    used = 0
    for index, passage in enumerate(passages[:k]):
        used += tokenizer.count(passage)
        if tokens is not None and used > tokens:
            return index
    return len(passages[:k])
