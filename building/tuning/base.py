"""The base model and its tokenizer, as training and writing load them. Needs torch and transformers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils import logging

from building.tuning.refusals import TuningRefused


@dataclass(frozen=True)
class Base:
    """A model at its device; `sha256` is that of its weights, wherever they came from."""

    model: Any
    tokenizer: Any
    sha256: str

    @property
    def device(self) -> str:
        return str(self.model.device.type)


def load(name: str, revision: str = "") -> Base:
    """An encoder-decoder that is a folder or a name of Hugging Face's, on a GPU where there is one.

    In 32 bits: the larger T5 overflow in 16. Raises TuningRefused.
    """
    logging.disable_progress_bar()  # of its own, beside which ours could not be read
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision or None)
        model = AutoModelForSeq2SeqLM.from_pretrained(
            name, revision=revision or None, dtype=torch.float32
        )
    except (OSError, ValueError, ImportError) as error:
        said = " ".join(str(error).split())[:300]
        raise TuningRefused(f"{name} cannot be loaded as an encoder-decoder: {said}") from error
    sha256 = weights_hash(model)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Base(model.to(device), tokenizer, sha256)


def weights_hash(model: Any) -> str:
    """SHA-256, in hex, over the names, the shapes and the bytes of a model's weights."""
    digest = hashlib.sha256()
    for name, weights in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(weights.shape)} {weights.dtype}\n".encode())
        digest.update(weights.detach().cpu().contiguous().view(torch.uint8).numpy())
    return digest.hexdigest()


def own_signs(tokenizer: Any) -> set[int]:
    """The token ids that are about a text and not in it: its end, and what fills up a batch."""
    ids = (tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.bos_token_id)
    return {each for each in ids if each is not None}
