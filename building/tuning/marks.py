"""How a tokenizer says what is not in its vocabulary: "<" is not in that of T5, nor so are <a> and <<summary>>.

A model whose tokenizer reads <a> as unknown could never write it. So each mark that does not come back
from the tokenizer as it was goes in as one of the sentinels that T5 was trained with, <extra_id_0> and on,
and the sentinel is written back as the mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from building.tuning.refusals import TuningRefused
from building.writing.typed_line import MARKS

SENTINEL = "<extra_id_{}>"


def marks_for(tokenizer: Any) -> dict[str, str]:
    """By mark what stands for it in this tokenizer; none for those that it knows. Raises TuningRefused."""
    said: dict[str, str] = {}
    vocabulary = tokenizer.get_vocab()
    for number, mark in enumerate(MARKS):
        ids = tokenizer.encode(mark, add_special_tokens=False)
        if tokenizer.decode(ids, skip_special_tokens=True).strip() == mark:
            continue
        said[mark] = SENTINEL.format(number)
        if said[mark] not in vocabulary:
            raise TuningRefused(
                f"The tokenizer cannot write {mark}, and has no {said[mark]} to stand for it."
            )
    return said


def told(words: str, marks: Mapping[str, str]) -> str:
    """Words as the tokenizer gets them."""
    for mark, sign in marks.items():
        words = re.sub(rf"\s*{re.escape(mark)}", sign, words)
    return words


def untold(words: str, marks: Mapping[str, str]) -> str:
    """The same back, with a blank on both sides of a mark."""
    for mark, sign in marks.items():
        words = re.sub(rf"\s*{re.escape(sign)}\s*", f" {mark} ", words)
    return words.strip()
