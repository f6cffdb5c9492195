"""How a text is cut into the words that BLEU, ROUGE-L and token F1 count, by the cutter's name."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec

Cut = Callable[[str], list[str]]

WORDS, CHARACTERS, JIEBA = "words", "characters", "jieba"
NAMES = {
    WORDS: "words: lower case, without ASCII punctuation and a, an, the, cut at white space",
    CHARACTERS: "characters: every one that is no white space",
    JIEBA: "jieba: Chinese words; punctuation, white space and case count",
}

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A way to cut texts. `version` is that of the library, where another one may cut otherwise."""

    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()

    def cutter(self) -> Cut:
        return {WORDS: english_words, CHARACTERS: characters, JIEBA: _cut_by_jieba}[self.name]


def tokens_called(name: str) -> Tokens:
    """The cutter of a name of NAMES.

    Raises ValueError for another name, ModuleNotFoundError where its library is not installed.
    """
    if name not in NAMES:
        raise ValueError(f"there are no tokens {name!r}, but {', '.join(NAMES)}")
    return Tokens(name, _jieba().version if name == JIEBA else "")


def usual_tokens(texts: Iterable[str]) -> str:
    """The name of the cutter that suits these texts: jieba where most of their signs are Chinese.

    Where jieba is not installed, characters then. No texts: words.
    """
    chinese = total = 0
    for text in texts:
        chinese += len(_CHINESE.findall(text))
        total += sum(map(str.isalnum, text))
    if 2 * chinese <= total:
        return WORDS
    return JIEBA if has_jieba() else CHARACTERS


def has_jieba() -> bool:
    return find_spec(JIEBA) is not None


def english_words(text: str) -> list[str]:
    """What white space separates, in lower case, without ASCII punctuation and the articles a, an, the.

    Source: the evaluation script of SQuAD 2.0 (Rajpurkar et al., 2016, EMNLP, 2383-2392).
    """
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def characters(text: str) -> list[str]:
    """Each character that is no white space."""
    return [sign for sign in text if not sign.isspace()]


def _cut_by_jieba(text: str) -> list[str]:
    """As `list(jieba.cut(text))`, as CRUD-RAG's code cuts: white space and punctuation are tokens."""
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
