"""Long tables cut to what a reader looks for: the rows furthest from the mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

Row = TypeVar("Row")

SHOWN = 30


@dataclass(frozen=True)
class Shortened(Generic[Row]):
    """The rows that a page shows, in their order, and how many there are."""

    rows: tuple[Row, ...]
    n: int
    mean: float | None
    """Of the values that the rows were chosen by; None where no row was left out."""

    @property
    def is_cut(self) -> bool:
        return len(self.rows) < self.n


def shortened(
    rows: Sequence[Row],
    value: Callable[[Row], float | None],
    *,
    everything: bool = False,
    most: int = SHOWN,
) -> Shortened[Row]:
    """The `most` rows whose value is furthest from the mean of all, or `everything`.

    They keep their order. Rows without a value are left out first.
    """
    if everything or len(rows) <= most:
        return Shortened(tuple(rows), len(rows), None)
    values = np.array([np.nan if (found := value(row)) is None else found for row in rows])
    defined = ~np.isnan(values)
    mean = float(values[defined].mean()) if defined.any() else None
    distance = np.where(defined, np.abs(values - (mean or 0.0)), -1.0)
    chosen = np.sort(np.argsort(-distance, kind="stable")[:most])
    return Shortened(tuple(rows[index] for index in chosen.tolist()), len(rows), mean)
