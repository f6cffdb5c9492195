"""Substitutes for marks that a tokenizer lacks: T5's has no "<", <a> or <<summary>>.

A model whose tokenizer reads <a> as unknown could never write it. So each mark that does not come back
from the tokenizer as it was goes in as one of the sentinels that T5 was trained with, <extra_id_0> and on,
and the sentinel is written back as the mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from building.tuning.errors import TuningError
from building.writing.typed_line import MARKS

SENTINEL = "<extra_id_{}>"


def marks_for(tokenizer: Any) -> dict[str, str]:
    """Map each mark that the tokenizer cannot represent to a sentinel.

    Raises TuningError.
    """
    replacements: dict[str, str] = {}
    vocabulary = tokenizer.get_vocab()
    for number, mark in enumerate(MARKS):
        ids = tokenizer.encode(mark, add_special_tokens=False)
        if tokenizer.decode(ids, skip_special_tokens=True).strip() == mark:
            continue
        replacements[mark] = SENTINEL.format(number)
        if replacements[mark] not in vocabulary:
            raise TuningError(
                f"The tokenizer cannot write {mark}, and has no {replacements[mark]} to stand for it."
            )
    return replacements


def encode_marks(text: str, marks: Mapping[str, str]) -> str:
    """Encode the marks of a text as sentinels."""
    for mark, sign in marks.items():
        text = re.sub(rf"\s*{re.escape(mark)}", sign, text)
    return text


def decode_marks(text: str, marks: Mapping[str, str]) -> str:
    """Decode sentinels to marks, with a blank on both sides."""
    for mark, sign in marks.items():
        text = re.sub(rf"\s*{re.escape(sign)}\s*", f" {mark} ", text)
    return text.strip()
