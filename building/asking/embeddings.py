"""Vectors of texts by a server that speaks OpenAI's /v1/embeddings.

`truncate_prompt_tokens` is sent each time, so that it is known where a text is cut; a server that cuts without
being told would make vectors of beginnings, and nobody could tell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from building.asking.client import Client, Refused
from building.retrieval.vectors import CUT, UNKNOWN, WHOLE, Embedded, Rows
from judging.graders.base import AnotherJudge

BATCH = 32  # texts of one question
TOKENS = 512  # to which texts are cut where a server does not tell what its model reads
LONGEST_VECTOR = 400_000  # bytes of JSON
SPECIAL = 8  # tokens that a model adds to a text, at most


class ServerEmbedder:
    """A model behind a server.

    `tokens` are those of a text that it reads; None: as many as it tells. 0 leaves that to a server which
    does not take the parameter, and then nobody knows what is cut.
    """

    def __init__(self, client: Client, tokens: int | None = None) -> None:
        """Raises GraderError where the server cannot be asked, or serves another model."""
        longest = client.check()
        self.client = client
        self.name = client.model
        self.tokens = (longest or TOKENS) if tokens is None else tokens
        told = f"embeddings\n{client.model}\n{self.tokens}"
        self.fingerprint = hashlib.sha256(told.encode()).hexdigest()[:16]
        self.dimension = 0
        self.dimension = len(self.query("How long is a vector?"))

    def passages(self, texts: Sequence[str]) -> Embedded:
        """Vectors of texts; one without words has no direction, and is not sent. Raises GraderError."""
        places = [place for place, text in enumerate(texts) if text.strip()]
        batches = [places[start : start + BATCH] for start in range(0, len(places), BATCH)]
        questions = [self._question([texts[place] for place in batch]) for batch in batches]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        limit = BATCH * LONGEST_VECTOR
        for batch, answer in zip(
            batches, self.client.answers("embeddings", questions, limit), strict=True
        ):
            vectors[batch] = self._vectors(answer, len(batch))
        return Embedded(vectors, self._cut(texts))

    def query(self, words: str) -> Rows:
        if not words.strip():
            return np.zeros(self.dimension, dtype=np.float32)
        [answer] = self.client.answers("embeddings", [self._question([words])], LONGEST_VECTOR)
        return self._vectors(answer, 1)[0]

    def _question(self, texts: Sequence[str]) -> dict[str, Any]:
        limit = {"truncate_prompt_tokens": self.tokens} if self.tokens else {}
        return {
            "model": self.client.model,
            "input": list(texts),
            "encoding_format": "float",
            **limit,
        }

    def _vectors(self, answer: dict[str, Any], n: int) -> Rows:
        """The vectors of an answer by index. Raises Refused, and AnotherJudge for another dimension."""
        try:
            by_index = {item["index"]: item["embedding"] for item in answer["data"]}
            is_whole = len(answer["data"]) == n
            rows = np.array([by_index[i] for i in range(n if is_whole else 0)], dtype=np.float32)
        except (KeyError, TypeError, ValueError, OverflowError):
            rows = np.zeros(0, dtype=np.float32)
        if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
            raise Refused(
                f"{self.name} was asked for vectors of {n} texts, and its answer has not one of equal length, "
                "of numbers, for each."
            )
        if self.dimension and rows.shape[1] != self.dimension:
            raise AnotherJudge(
                f"{self.name} gave vectors of {self.dimension:,} numbers, and now one of {rows.shape[1]:,}: "
                "there are several models under this name."
            )
        return rows

    def _cut(self, texts: Sequence[str]) -> np.ndarray:
        # No tokenizer makes more tokens than there are bytes: only longer texts are counted.
        long = [
            place
            for place, text in enumerate(texts)
            if len(text.encode("utf-8", "replace")) + SPECIAL > self.tokens
        ]
        cut = np.full(len(texts), WHOLE, dtype=np.uint8)
        if not self.tokens:
            cut[:] = UNKNOWN
            return cut
        for place, n in zip(
            long, self.client.n_tokens([texts[place] for place in long]), strict=True
        ):
            if n is None:
                cut[place] = UNKNOWN
            elif n > self.tokens:
                cut[place] = CUT
        return cut
