"""A base model with an adapter at work: one string in, one string out. Needs torch, transformers and peft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peft
import torch

from building.tuning.adapter import adapter_hash, record_of
from building.tuning.base import Base, load, own_signs
from building.tuning.marks import told, untold
from building.tuning.refusals import TooLong, TuningRefused

_UNSET = 10**6  # tokenizers that know no length say a number far above this


@dataclass(frozen=True)
class Wrote:
    """What was written. `is_cut`: it reached the length asked for. `tokens` are (read, written)."""

    words: str
    is_cut: bool
    tokens: tuple[int, int]


class Tuned:
    """See `write`."""

    def __init__(self, name: str, revision: str, folder: str, sha256: str) -> None:
        """The base `name` with the adapter in `folder`, whose hash `sha256` is; without one, the base alone.

        Raises TuningRefused.
        """
        record = _record_of(Path(folder), sha256) if folder else {}
        self.base = load(name, revision)
        _check_base(name, self.base, record)
        self.model = _with_adapter(self.base, folder)
        self.marks: dict[str, str] = record.get("marks", {})
        self.most = (
            record.get("options", {}).get("max_input") or self.base.tokenizer.model_max_length
        )

    def write(self, words: str, max_tokens: int, seed: int, parameters: Mapping[str, Any]) -> Wrote:
        """What the model makes of a string, by itself, so that the same is answered alike.

        `parameters` are those of transformers' `generate`; a temperature of 0 takes the likeliest token each
        time. Raises TooLong, and ValueError and TypeError for parameters that are not known.
        """
        tokenizer = self.base.tokenizer
        ids = tokenizer.encode(told(words, self.marks))
        if self.most < _UNSET and len(ids) > self.most:
            raise TooLong(f"It has {len(ids):,} tokens, and the model reads {self.most:,}.")
        torch.manual_seed(seed)
        with torch.no_grad():
            given = torch.tensor([ids], device=self.base.device)
            written = self.model.generate(
                input_ids=given,
                attention_mask=torch.ones_like(given),
                max_new_tokens=max_tokens,
                **_sampling(parameters),
            )[0][1:].tolist()  # the first is where a decoder starts
        own = own_signs(tokenizer)
        inside = tokenizer.decode([each for each in written if each not in own])
        is_cut = tokenizer.eos_token_id not in written
        return Wrote(untold(inside, self.marks), is_cut, (len(ids), len(written)))


def _record_of(folder: Path, sha256: str) -> dict[str, Any]:
    if adapter_hash(folder) != sha256:
        raise TuningRefused(
            f"The adapter in {folder} is not the one of this writer: it was changed."
        )
    return record_of(folder)


def _check_base(name: str, base: Base, record: Mapping[str, Any]) -> None:
    if record and base.sha256 != record["base"]["sha256"]:
        raise TuningRefused(
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
        said = " ".join(str(error).split())[:300]
        raise TuningRefused(f"The adapter in {folder} cannot be loaded: {said}") from error


def _sampling(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if parameters.get("temperature"):
        return {"do_sample": True, **parameters}
    rest = {name: value for name, value in parameters.items() if name not in _OF_CHANCE}
    return {"do_sample": False, **rest}


_OF_CHANCE = ("temperature", "top_p", "top_k")
