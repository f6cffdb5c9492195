"""Lengths of texts in the tokens of a named tokenizer."""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.db.models import QuerySet

from annotation.models import Dataset, Text
from evaluation.data.cache import until_content_changes
from evaluation.data.corpus import PASSAGE, Corpus
from evaluation.data.process_cache import TOKEN_COUNTS
from evaluation.data.selection import SelectionError

READ_AT_ONCE = 2_000  # texts a query: their words are read, counted and let go


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Tokenizer by name, which is printed with densities; without a file it counts words.

    `file` is a `tokenizers` JSON file, `digest` the start of its SHA-256, so that a changed file is
    another tokenizer.
    """

    name: str
    file: str = ""
    digest: str = ""

    def counter(self) -> Callable[[str], int]:
        return _from_file(self.file, self.digest) if self.file else _count_words


WHITESPACE_WORDS = Tokenizer("whitespace words")


def tokenizer(value: str) -> Tokenizer:
    """Return the tokenizer `words`, or one from a JSON file of the package `tokenizers`.

    Raises SelectionError if there is no such file, it holds no tokenizer, or the package is not
    installed. The file is opened: give it no names that come from a page.
    """
    if value in ("", "words"):
        return WHITESPACE_WORDS
    path = Path(value)
    if not path.is_file():
        raise SelectionError(f"There is no tokenizer “{value}”. There are: words, or a JSON file.")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    _from_file(str(path), digest)
    return Tokenizer(f"{path.name} (sha256 {digest})", str(path), digest)


@lru_cache(maxsize=4)
def _from_file(file: str, digest: str) -> Callable[[str], int]:
    try:
        tokenizers = importlib.import_module("tokenizers")
    except ImportError:
        raise SelectionError(
            "A tokenizer file takes the package tokenizers, which is not installed here: "
            "pip install tokenizers, or choose words."
        ) from None
    try:
        model = tokenizers.Tokenizer.from_file(file)
    except Exception as error:  # the package raises Exception itself
        raise SelectionError(f"“{file}” holds no tokenizer: {error}") from error
    # As the paper counts: the text's own tokens, without those that a model puts around it.
    return lambda body: len(model.encode(body, add_special_tokens=False).ids)


def _count_words(body: str) -> int:
    return len(body.split())


class TokenCounts:
    """Tokens of texts by their key, None for a text without words. Every text is counted once.

    With `mean_stands_in` a text without words counts as many as the dataset's passages have on
    average, rounded; it stays None where no passage has words.
    """

    def __init__(self, corpus: Corpus, tokenizer: Tokenizer, mean_stands_in: bool = False) -> None:
        self._dataset = corpus.dataset
        self._count = tokenizer.counter()
        self._counts: dict[int, int] = {}
        self._has_body = frozenset(corpus.pk[corpus.has_body].tolist())
        self._stand_in: int | None = None
        if mean_stands_in:
            self._stand_in = self._mean(corpus)

    def of(self, texts: Iterable[int]) -> dict[int, int | None]:
        """Return the tokens of these texts; those not counted before are read."""
        keys = list(dict.fromkeys(texts))
        new = [pk for pk in keys if pk in self._has_body and pk not in self._counts]
        if len(new) > len(self._has_body) // 2:
            # Nearly all of them: one query reads faster than many that name each text.
            all_texts = Text.objects.filter(dataset=self._dataset, body__isnull=False)
            self._read(all_texts, new)
        else:
            for start in range(0, len(new), READ_AT_ONCE):
                chunk = new[start : start + READ_AT_ONCE]
                self._read(Text.objects.filter(pk__in=chunk), chunk)
        return {pk: self._counts.get(pk, self._stand_in) for pk in keys}

    def total(self, texts: Iterable[int]) -> int | None:
        """The tokens of these texts together, None if one of them has none to count."""
        counts = self.of(texts).values()
        return None if None in counts else sum(n for n in counts if n is not None)

    def count_of(self, text: int) -> float:
        """Return the tokens of a text that was read before, NaN where it has none to count."""
        n = self._counts.get(text, self._stand_in)
        return math.nan if n is None else n

    def lacks_body(self, text: int) -> bool:
        """Return True if the text has no body, with or without a stand-in length."""
        return text not in self._has_body

    def _read(self, texts: QuerySet[Text], keys: Iterable[int]) -> None:
        bodies = texts.order_by().values_list("pk", "body").iterator(chunk_size=READ_AT_ONCE)
        requested = frozenset(keys)
        self._counts.update((pk, self._count(body or "")) for pk, body in bodies if pk in requested)

    def _mean(self, corpus: Corpus) -> int | None:
        passages = corpus.pk[corpus.has_body & (corpus.kind == PASSAGE)].tolist()
        lengths = [n for n in self.of(passages).values() if n is not None]
        return round(sum(lengths) / len(lengths)) if lengths else None


def token_counts(
    dataset: Dataset, corpus: Corpus, tokenizer: Tokenizer, mean_stands_in: bool
) -> TokenCounts:
    """Return the token counts of a dataset, cached until its texts change."""
    return until_content_changes(
        TOKEN_COUNTS,
        dataset,
        (tokenizer, mean_stands_in),
        lambda: TokenCounts(corpus, tokenizer, mean_stands_in),
    )
