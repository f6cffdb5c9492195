"""Report of the page Label next: estimates so far, candidates and forecasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.labelling.data import LabelData, Report
from evaluation.labelling.estimates import SystemRow, system_rows
from evaluation.stats.assisted_mean import forecast_error
from evaluation.stats.estimate import FloatArray
from evaluation.stats.sampling import probabilities

SIZES = (5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Candidate:
    """Report that nobody has finished. `gap`: expected distance of a person from the judge."""

    report: Report
    judge: float
    gap: float | None
    chance: float


@dataclass(frozen=True)
class Forecast:
    """Expected half-width of the 95% interval once `n` more reports are labelled."""

    n: int
    drawn: float
    """Half-width from a sample with the chances of this page."""
    equal: float
    """Half-width from a sample with equal chances."""


@dataclass(frozen=True)
class LabelReport:
    """Content of the page.

    `takes` is the size of a new sample: the requested size, or all reports that are left.
    """

    data: LabelData
    rows: tuple[SystemRow, ...]
    candidates: tuple[Candidate, ...]
    takes: int
    forecasts: tuple[Forecast, ...]
    n_labelled: int
    n_without_judge: int
    n_without_words: int


def label_report(data: LabelData, system: str, size: int) -> LabelReport:
    """Return the page for the reports of one system, or of all ("").

    Candidates are the reports that the judge graded throughout, with a text, and that nobody has
    finished; first are those with the largest expected gap.
    """
    of_system = data.of_system(system)
    has_body = np.array([report.can_be_shown for report in data.reports], dtype=bool)
    open_ = of_system & np.isnan(data.human)
    free = np.flatnonzero(open_ & has_body & ~np.isnan(data.judge))
    sample_size = min(size, len(free))
    chances = probabilities(data.gap[free], sample_size) if sample_size else np.empty(0)
    gaps = np.nan_to_num(data.gap[free])
    order = np.argsort(-gaps, kind="stable")
    has_gaps = not np.isnan(data.gap[free]).any()
    return LabelReport(
        data=data,
        rows=system_rows(data),
        candidates=tuple(
            Candidate(
                data.reports[free[index]],
                float(data.judge[free[index]]),
                float(gaps[index]) if has_gaps else None,
                float(chances[index]),
            )
            for index in order.tolist()
        ),
        takes=sample_size,
        forecasts=_forecasts(data, of_system, free) if has_gaps else (),
        n_labelled=int((of_system & ~np.isnan(data.human)).sum()),
        n_without_judge=int((open_ & np.isnan(data.judge)).sum()),
        n_without_words=int((open_ & ~has_body & ~np.isnan(data.judge)).sum()),
    )


def _forecasts(
    data: LabelData, of_system: NDArray[np.bool_], free: NDArray[np.intp]
) -> tuple[Forecast, ...]:
    """Return the expected interval widths after further labels, by number of labels."""
    inside = np.flatnonzero(of_system & ~np.isnan(data.judge))
    n = len(free)
    if len(inside) < 2 or not n:
        return ()
    values = np.where(np.isnan(data.human[inside]), data.judge[inside], data.human[inside])
    is_free = np.isin(inside, free)
    gaps = np.where(is_free, data.gap[inside], 0.0)
    t = float(scipy.stats.t.ppf(0.975, len(inside) - 1))

    def width(chances: FloatArray) -> float:
        all_chances = np.ones(len(inside))
        all_chances[is_free] = chances
        return t * forecast_error(values, gaps, all_chances)

    sizes = [*[size for size in SIZES if size < n], n]
    return tuple(
        Forecast(size, width(probabilities(data.gap[free], size)), width(np.full(n, size / n)))
        for size in sizes
    )
