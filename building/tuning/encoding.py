"""Tokenization of training lines, and padded batches. Needs torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from building.tuning.lines import Line
from building.tuning.marks import encode_marks

IGNORED = -100  # a label that no loss is counted for
Encoded = tuple[list[int], list[int]]  # read and written


def encode_lines(
    lines: Sequence[Line], tokenizer: Any, marks: Mapping[str, str], longest: tuple[int, int]
) -> tuple[list[Encoded], list[int]]:
    """Tokenize lines; return (token ids, numbers of lines longer than `longest`).

    Nothing is cut: a context without its end may lack the answer, and an output without its end teaches
    the model never to end.
    """
    rows: list[Encoded] = []
    left_out = []
    for line in lines:
        sides = tuple(
            tokenizer.encode(encode_marks(side, marks)) for side in (line.input, line.output)
        )
        if any(len(side) > limit for side, limit in zip(sides, longest, strict=True)):
            left_out.append(line.number)
        else:
            rows.append((sides[0], sides[1]))
    return rows, left_out


def batch_of(rows: Sequence[Encoded], fill: int, device: str) -> dict[str, Any]:
    """Build a batch of token ids (rows, longest), padded on the right."""
    inputs = _filled([row[0] for row in rows], fill)
    batch = {
        "input_ids": inputs,
        "attention_mask": _filled([[1] * len(row[0]) for row in rows], 0),
        "labels": _filled([row[1] for row in rows], IGNORED),
    }
    return {name: values.to(device) for name, values in batch.items()}


def _filled(rows: Sequence[Sequence[int]], fill: int) -> Any:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])
