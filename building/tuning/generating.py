"""Generation by a base model with an adapter. Needs torch, transformers and peft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peft
import torch

from building.tuning.adapter import adapter_hash, record_of
from building.tuning.base import Base, load, special_token_ids
from building.tuning.errors import InputTooLongError, TuningError
from building.tuning.marks import decode_marks, encode_marks

_UNSET = 10**6  # tokenizers that know no length say a number far above this


@dataclass(frozen=True)
class Generation:
    """A generated text. `is_cut`: it reached the token limit. `tokens` are (read, written)."""

    words: str
    is_cut: bool
    tokens: tuple[int, int]


class TunedModel:
    """Encoder-decoder with or without an adapter; see `write`."""

    def __init__(self, name: str, revision: str, folder: str, sha256: str) -> None:
        """Load the base `name` and the adapter in `folder` with the hash `sha256`, if any.

        Raises TuningError.
        """
        record = _record_of(Path(folder), sha256) if folder else {}
        self.base = load(name, revision)
        _check_base(name, self.base, record)
        self.model = _with_adapter(self.base, folder)
        self.marks: dict[str, str] = record.get("marks", {})
        self.most = (
            record.get("options", {}).get("max_input") or self.base.tokenizer.model_max_length
        )

    def write(
        self, prompt: str, max_tokens: int, seed: int, parameters: Mapping[str, Any]
    ) -> Generation:
        """Generate from one string, unbatched, so that equal prompts get equal replies.

        `parameters` are those of transformers' `generate`; a temperature of 0 takes the likeliest token each
        time. Raises InputTooLongError, and ValueError and TypeError for parameters that are not known.
        """
        tokenizer = self.base.tokenizer
        ids = tokenizer.encode(encode_marks(prompt, self.marks))
        if self.most < _UNSET and len(ids) > self.most:
            raise InputTooLongError(
                f"It has {len(ids):,} tokens, and the model reads {self.most:,}."
            )
        torch.manual_seed(seed)
        with torch.no_grad():
            input_ids = torch.tensor([ids], device=self.base.device)
            written = self.model.generate(
                input_ids=input_ids,
                attention_mask=torch.ones_like(input_ids),
                max_new_tokens=max_tokens,
                **_sampling(parameters),
            )[0][1:].tolist()  # the first is where a decoder starts
        special_ids = special_token_ids(tokenizer)
        inside = tokenizer.decode([token_id for token_id in written if token_id not in special_ids])
        is_cut = tokenizer.eos_token_id not in written
        return Generation(decode_marks(inside, self.marks), is_cut, (len(ids), len(written)))


def _record_of(folder: Path, sha256: str) -> dict[str, Any]:
    if adapter_hash(folder) != sha256:
        raise TuningError(f"The adapter in {folder} is not the one of this writer: it was changed.")
    return record_of(folder)


def _check_base(name: str, base: Base, record: Mapping[str, Any]) -> None:
    if record and base.sha256 != record["base"]["sha256"]:
        raise TuningError(
            f"The adapter was trained on other weights than {name} has: on "
            f"{record['base']['name']} {record['base']['revision']}".rstrip()
            + "."
        )


def _with_adapter(base: Base, folder: str) -> Any:
    if not folder:
        return base.model.eval()
    try:
        return peft.PeftModel.from_pretrained(base.model, folder).eval()
    except (ValueError, RuntimeError, OSError, KeyError) as error:
        message = " ".join(str(error).split())[:300]
        raise TuningError(f"The adapter in {folder} cannot be loaded: {message}") from error


def _sampling(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if parameters.get("temperature"):
        return {"do_sample": True, **parameters}
    deterministic = {name: value for name, value in parameters.items() if name not in _OF_CHANCE}
    return {"do_sample": False, **deterministic}


_OF_CHANCE = ("temperature", "top_p", "top_k")
