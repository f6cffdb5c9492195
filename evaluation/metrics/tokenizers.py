"""Tokenizers for BLEU, ROUGE-L and token F1: whitespace words, characters, jieba."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec

Cut = Callable[[str], list[str]]

WHITESPACE, CHARACTERS, JIEBA = "words", "characters", "jieba"
NAMES = {
    WHITESPACE: "words: lower case, without ASCII punctuation and a, an, the, cut at white space",
    CHARACTERS: "characters: every one that is no white space",
    JIEBA: "jieba: Chinese words; punctuation, white space and case count",
}

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokenizer by name, with the `version` of its library.

    Another version may cut otherwise; it is empty for tokenizers without a library.
    """

    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()

    def cutter(self) -> Cut:
        return {WHITESPACE: english_words, CHARACTERS: characters, JIEBA: _cut_by_jieba}[self.name]


def tokens_by_name(name: str) -> Tokens:
    """Return the tokenizer of a name of NAMES.

    Raises ValueError for another name, ModuleNotFoundError where its library is not installed.
    """
    if name not in NAMES:
        raise ValueError(f"there are no tokens {name!r}, but {', '.join(NAMES)}")
    return Tokens(name, _jieba().version if name == JIEBA else "")


def default_tokens(texts: Iterable[str]) -> str:
    """Return the default tokenizer for these texts: jieba if most characters are Chinese.

    Where jieba is not installed, characters then. No texts: words.
    """
    chinese = total = 0
    for text in texts:
        chinese += len(_CHINESE.findall(text))
        total += sum(map(str.isalnum, text))
    if 2 * chinese <= total:
        return WHITESPACE
    return JIEBA if has_jieba() else CHARACTERS


def has_jieba() -> bool:
    return find_spec(JIEBA) is not None


def english_words(text: str) -> list[str]:
    """Split at white space, in lower case, without ASCII punctuation and a, an, the.

    Source: the evaluation script of SQuAD 2.0 (Rajpurkar et al., 2016, EMNLP, 2383-2392).
    """
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def characters(text: str) -> list[str]:
    """Each character that is no white space."""
    return [sign for sign in text if not sign.isspace()]


def _cut_by_jieba(text: str) -> list[str]:
    """Cut as `list(jieba.cut(text))`: white space and punctuation are tokens (CRUD-RAG)."""
    return _jieba().cut(text)


@dataclass(frozen=True, slots=True)
class _Jieba:
    cut: Cut
    version: str


@lru_cache(maxsize=1)
def _jieba() -> _Jieba:
    import jieba  # noqa: PLC0415 - of the extra zh, and a second to load

    jieba.setLogLevel("WARNING")
    return _Jieba(jieba.Tokenizer().lcut, metadata.version(JIEBA))
