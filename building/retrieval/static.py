"""Static embeddings: a text's vector is the mean of its tokens' vectors.

A model is a folder as model2vec writes it. None is downloaded. Source: Tulkens and van Dongen 2024.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from annotation.errors import UserError
from building.retrieval.vectors import WHOLE, Embedded, Rows

FILES = ("tokenizer.json", "model.safetensors", "config.json")


class StaticModelError(UserError):
    """A folder that holds no model; the message names it and what is wrong."""


class StaticEmbedder:
    """Static embedding model in a folder; texts are never truncated."""

    def __init__(self, folder: Path) -> None:
        """Load the model. Raises StaticModelError, and ModuleNotFoundError without model2vec."""
        from model2vec import StaticModel  # noqa: PLC0415 -- an extra

        digest = hashlib.sha256()
        for name in FILES:
            try:
                digest.update(hashlib.sha256((folder / name).read_bytes()).digest())
            except OSError as error:
                raise StaticModelError(
                    f"{folder} holds no static model: {name} cannot be read ({error.strerror}). It is a folder "
                    f"with {', '.join(FILES)}, as model2vec writes it."
                ) from None
        self.name = folder.resolve().name
        self.fingerprint = digest.hexdigest()[:16]
        try:
            self._model = StaticModel.from_pretrained(folder, force_download=False)
        except Exception as error:  # noqa: BLE001 -- safetensors and tokenizers have no better class
            raise StaticModelError(f"{folder} holds no static model: {error}.") from None
        # In the 16 bits or fewer of the file a mean would be a rough one.
        self._model.embedding = self._model.embedding.astype(np.float32)
        self.dimension = int(self._model.dim)

    def passages(self, texts: Sequence[str]) -> Embedded:
        # Half a surrogate pair, which no tokenizer takes, becomes a question mark.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        vectors = self._model.encode(clean, max_length=None, use_multiprocessing=False)
        return Embedded(vectors.astype(np.float32), np.full(len(clean), WHOLE, dtype=np.uint8))

    def query(self, text: str) -> Rows:
        return self.passages([text]).vectors[0]
