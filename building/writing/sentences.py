"""Sentence splitting and word counting of generated texts."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import regex

from annotation.text.spans import sentences

# A line end parts sentences (items of a list, headings), unless the next line goes on in small letters.
_BREAK = regex.compile(r"\n\s*\n|\n(?![^\S\n]*\p{Ll})")
_LINE_END = regex.compile(r"\r\n?")
_LETTER = regex.compile(r"\p{L}")
_SIGN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_TOKEN = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*+")


def with_line_ends(text: str) -> str:
    r"""The text with \n where a line ends, and nothing around it."""
    return _LINE_END.sub("\n", text).strip()


def on_one_line(text: str) -> str:
    """The text with one space for each run of white space, and none around it."""
    return " ".join(text.split())


def n_words(text: str) -> int:
    """Count words by white space after NFKC, as TREC does.

    Of scripts without white space between words each sign is one, as lengths in Chinese are told.
    """
    plain = unicodedata.normalize("NFKC", text)
    rest_of_text, n_signs = _SIGN.subn(" ", plain)
    return n_signs + len(_TOKEN.findall(rest_of_text)) if n_signs else len(plain.split())


def has_token(text: str) -> bool:
    return _TOKEN.search(text) is not None


def plain_words(text: str) -> list[str]:
    """Return case-folded NFKC words of letters and digits, for comparing texts."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def spans(body: str) -> list[tuple[int, int]]:
    """Return [start, end) of each sentence in code points, in order.

    Parts without a letter join their neighbour.

    `body` ends its lines by a line feed alone. A number before an item of a list belongs to the item.
    """
    edges = [0, *(edge for gap in _BREAK.finditer(body) for edge in gap.span()), len(body)]
    result: list[tuple[int, int]] = []
    for start, end in list(pairwise(edges))[::2]:
        result += _joined(body, sentences(body, start, end))
    return result


def texts(body: str) -> list[str]:
    return [body[start:end] for start, end in spans(body)]


def _joined(body: str, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in pieces:
        has_letter = _LETTER.search(body, start, end) is not None
        if joined and not (has_letter and _LETTER.search(body, *joined[-1])):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
