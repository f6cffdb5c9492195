"""Truncation of long tables to the rows furthest from the mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from evaluation.scoring.report_coverage import ReportRow, ReportRows
from evaluation.stats.estimate import FloatArray

Row = TypeVar("Row")

MAX_ROWS = 30


@dataclass(frozen=True)
class TruncatedRows(Generic[Row]):
    """Displayed rows of a table, in their order, and the number of all rows."""

    rows: tuple[Row, ...]
    n: int
    mean: float | None
    """Mean of the values that the rows were chosen by; None if all rows are shown."""

    @property
    def is_cut(self) -> bool:
        return len(self.rows) < self.n


def truncate_rows(
    rows: Sequence[Row],
    value: Callable[[Row], float | None],
    *,
    everything: bool = False,
    limit: int = MAX_ROWS,
) -> TruncatedRows[Row]:
    """Return the `limit` rows whose value is furthest from the mean of all, or `everything`.

    They keep their order. Rows without a value are left out first.
    """
    if everything or len(rows) <= limit:
        return TruncatedRows(tuple(rows), len(rows), None)
    row_values = map(value, rows)
    values = np.array([np.nan if number is None else number for number in row_values])
    chosen, mean = _furthest(values, limit)
    return TruncatedRows(tuple(rows[index] for index in chosen), len(rows), mean)


def truncate_reports(reports: ReportRows, *, everything: bool = False) -> TruncatedRows[ReportRow]:
    """Return `truncate_rows` of reports by their mean coverage."""
    if everything or len(reports) <= MAX_ROWS:
        return TruncatedRows(tuple(reports), len(reports), None)
    chosen, mean = _furthest(reports.means, MAX_ROWS)
    return TruncatedRows(tuple(reports.take(chosen)), len(reports), mean)


def _furthest(values: FloatArray, limit: int) -> tuple[list[int], float | None]:
    """Return the indices of the values furthest from their mean (NaN = undefined), and it."""
    defined = ~np.isnan(values)
    mean = float(values[defined].mean()) if defined.any() else None
    distance = np.where(defined, np.abs(values - (mean or 0.0)), -1.0)
    return np.sort(np.argsort(-distance, kind="stable")[:limit]).tolist(), mean
