"""Embeddings from a server that speaks OpenAI's /v1/embeddings.

`truncate_prompt_tokens` is sent each time, so that it is known where a text is cut; a server that cuts without
being told would make vectors of beginnings, and nobody could tell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from annotation.plurals import n_of
from building.asking.client import Client, RejectedRequestError
from building.retrieval.vectors import CUT, UNKNOWN, WHOLE, Embedded, Rows
from judging.llm.errors import ModelMismatchError

BATCH = 32  # texts of one question
TOKENS = 512  # truncation length where the server does not report its model's limit
LONGEST_VECTOR = 400_000  # bytes of JSON
SPECIAL = 8  # tokens that a model adds to a text, at most


class ServerEmbedder:
    """Embedding model behind a server.

    `tokens` are those of a text that it reads; None: as many as it tells. 0 leaves that to a server which
    does not take the parameter, and then nobody knows what is cut.
    """

    def __init__(self, client: Client, tokens: int | None = None) -> None:
        """Check the server and embed one text. Raises BackendError if that fails."""
        longest = client.check()
        self.client = client
        self.name = client.model
        self.tokens = (longest or TOKENS) if tokens is None else tokens
        identity = f"embeddings\n{client.model}\n{self.tokens}"
        self.fingerprint = hashlib.sha256(identity.encode()).hexdigest()[:16]
        self.dimension = 0
        self.dimension = len(self.query("How long is a vector?"))

    def passages(self, texts: Sequence[str]) -> Embedded:
        """Embed texts; a text without words gets a zero vector and is not sent.

        Raises BackendError.
        """
        indices = [index for index, text in enumerate(texts) if text.strip()]
        batches = [indices[start : start + BATCH] for start in range(0, len(indices), BATCH)]
        questions = [self._question([texts[index] for index in batch]) for batch in batches]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        limit = BATCH * LONGEST_VECTOR
        for batch, answer in zip(
            batches, self.client.answers("embeddings", questions, limit), strict=True
        ):
            vectors[batch] = self._vectors(answer, len(batch))
        return Embedded(vectors, self._cut(texts))

    def query(self, text: str) -> Rows:
        if not text.strip():
            return np.zeros(self.dimension, dtype=np.float32)
        [answer] = self.client.answers("embeddings", [self._question([text])], LONGEST_VECTOR)
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
        """Parse the vectors of an answer, in index order.

        Raises RejectedRequestError, and ModelMismatchError for another dimension.
        """
        try:
            by_index = {item["index"]: item["embedding"] for item in answer["data"]}
            is_whole = len(answer["data"]) == n
            rows = np.array([by_index[i] for i in range(n if is_whole else 0)], dtype=np.float32)
        except (KeyError, TypeError, ValueError, OverflowError):
            rows = np.zeros(0, dtype=np.float32)
        if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
            raise RejectedRequestError(
                f"{self.name} was asked for vectors of {n_of(n, 'text')}, and its answer has not one "
                "of equal length, of numbers, for each."
            )
        if self.dimension and rows.shape[1] != self.dimension:
            raise ModelMismatchError(
                f"{self.name} gave vectors of {self.dimension:,} numbers, and now one of {rows.shape[1]:,}: "
                "there are several models under this name."
            )
        return rows

    def _cut(self, texts: Sequence[str]) -> np.ndarray:
        # No tokenizer makes more tokens than there are bytes: only longer texts are counted.
        long = [
            index
            for index, text in enumerate(texts)
            if len(text.encode("utf-8", "replace")) + SPECIAL > self.tokens
        ]
        cut = np.full(len(texts), WHOLE, dtype=np.uint8)
        if not self.tokens:
            cut[:] = UNKNOWN
            return cut
        for index, n in zip(
            long, self.client.n_tokens([texts[index] for index in long]), strict=True
        ):
            if n is None:
                cut[index] = UNKNOWN
            elif n > self.tokens:
                cut[index] = CUT
        return cut
