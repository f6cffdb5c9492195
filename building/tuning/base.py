"""Base model and tokenizer for training and generation. Needs torch and transformers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils import logging

from building.tuning.errors import TuningError


@dataclass(frozen=True)
class Base:
    """A base model on its device; `sha256` is the hash of its weights."""

    model: Any
    tokenizer: Any
    sha256: str

    @property
    def device(self) -> str:
        return str(self.model.device.type)


def load(name: str, revision: str = "") -> Base:
    """Load an encoder-decoder from a folder or Hugging Face, on a GPU if there is one.

    In 32 bits: the larger T5 overflow in 16. Raises TuningError.
    """
    logging.disable_progress_bar()  # of its own, beside which ours could not be read
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision or None)
        model = AutoModelForSeq2SeqLM.from_pretrained(
            name, revision=revision or None, dtype=torch.float32
        )
    except (OSError, ValueError, ImportError) as error:
        message = " ".join(str(error).split())[:300]
        raise TuningError(f"{name} cannot be loaded as an encoder-decoder: {message}") from error
    sha256 = weights_hash(model)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Base(model.to(device), tokenizer, sha256)


def weights_hash(model: Any) -> str:
    """SHA-256, in hex, over the names, shapes and bytes of a model's weights."""
    digest = hashlib.sha256()
    for name, weights in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(weights.shape)} {weights.dtype}\n".encode())
        digest.update(weights.detach().cpu().contiguous().view(torch.uint8).numpy())
    return digest.hexdigest()


def special_token_ids(tokenizer: Any) -> set[int]:
    """Return the special token ids: padding, end and beginning of a text."""
    ids = (tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.bos_token_id)
    return {token_id for token_id in ids if token_id is not None}
