"""The options of steps, read from their words."""

import math
from collections.abc import Mapping

from building.retrieval.bm25 import K1, B
from building.retrieval.recipe import RecipeError


def number(what: str, words: str, most: float) -> float:
    try:
        value = float(words)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        raise RecipeError(f"{what} is a number from 0 to {most:g}, not “{words}”.")
    return value


def weights(step: str, options: Mapping[str, str]) -> tuple[float, float]:
    """k1 and b of BM25."""
    k1, b = options.get("k1", str(K1)), options.get("b", str(B))
    return number(f"{step}: k1", k1, 1_000.0), number(f"{step}: b", b, 1.0)


def whole(what: str, words: str) -> int:
    if not words.isascii() or not words.isdecimal() or len(words) > 6:
        raise RecipeError(f"{what} is a whole number, not “{words}”.")
    return int(words)


def one_word(what: str, word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise RecipeError(f"{what} is {' or '.join(known)}, not “{word}”.")
    return word
