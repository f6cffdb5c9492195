"""BERTScore of texts by an encoder in this process. Needs torch and transformers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from building.tuning.errors import TuningError
from evaluation.metrics.bertscore import TokenVectors, bertscore

AT_ONCE = 16  # texts per batch
_BEGIN_WITH_A_SPACE = ("roberta", "gpt2")  # models whose first token depends on a leading space


class Matching:
    """BERTScore F1 by a layer of an encoder, from a folder or Hugging Face.

    Layers count from 1; 0 is what comes before the first. The authors of BERTScore name one for each
    model: 9 of bert-base-uncased, 8 of bert-base-chinese, 17 of roberta-large. Raises TuningError.
    """

    def __init__(self, model: str, layer: int) -> None:
        logging.disable_progress_bar()
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(model)
            encoder: Any = AutoModel.from_pretrained(model, dtype=torch.float32)
        except (OSError, ValueError, ImportError) as error:
            message = " ".join(str(error).split())[:300]
            raise TuningError(f"{model} cannot be loaded as an encoder: {message}") from error
        config = encoder.config
        if getattr(config, "is_encoder_decoder", False):
            raise TuningError(f"{model} is an encoder-decoder: BERTScore takes an encoder.")
        if not 0 <= layer <= config.num_hidden_layers:
            raise TuningError(
                f"{model} has the layers 0 to {config.num_hidden_layers}, no {layer}."
            )
        self.layer = layer
        self.most = min(self.tokenizer.model_max_length, config.max_position_embeddings)
        self.prefix = " " if config.model_type in _BEGIN_WITH_A_SPACE else ""
        self.encoder = encoder.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self.name = f"BERTScore ({model.rstrip('/').rpartition('/')[-1]}, layer {layer})"

    def of(self, ours: Sequence[str], theirs: Sequence[str]) -> tuple[NDArray[np.float64], int]:
        """Return the F1 of each pair, NaN for an empty text, and the number of truncated texts."""
        distinct = list(dict.fromkeys([*ours, *theirs]))
        vectors = dict(zip(distinct, self._read(distinct), strict=True))
        f1 = [bertscore(vectors[a][0], vectors[b][0]).f1 for a, b in zip(ours, theirs, strict=True)]
        return np.array(f1), sum(vectors[text][1] for text in (*ours, *theirs))

    def _read(self, texts: Sequence[str]) -> Iterator[tuple[TokenVectors, bool]]:
        for start in range(0, len(texts), AT_ONCE):
            batch = [self.prefix + text.strip() for text in texts[start : start + AT_ONCE]]
            lengths = [len(ids) for ids in self.tokenizer(batch)["input_ids"]]
            read = self.tokenizer(
                batch,
                padding=True,
                truncation=True,
                max_length=self.most,
                return_special_tokens_mask=True,
                return_tensors="pt",
            )
            special = read.pop("special_tokens_mask").bool().numpy()
            with torch.inference_mode():
                output = self.encoder(**read.to(self.encoder.device), output_hidden_states=True)
            rows = output.hidden_states[self.layer].cpu().numpy()
            attention = read["attention_mask"].bool().cpu().numpy()
            for row, is_special, is_token, length in zip(
                rows, special, attention, lengths, strict=True
            ):
                yield TokenVectors(row[is_token], ~is_special[is_token]), length > self.most
