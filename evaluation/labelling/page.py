"""What people should label next, beside what is known so far."""

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
    """A report that nobody has finished: `gap` is how far a person may be from the judge."""

    report: Report
    judge: float
    gap: float | None
    chance: float


@dataclass(frozen=True)
class Forecast:
    """The half-width expected of the 95% interval once `n` more reports are labelled."""

    n: int
    drawn: float
    """By a sample with the chances of this page."""
    equal: float
    """By a sample with equal chances."""


@dataclass(frozen=True)
class LabelReport:
    """`takes` is how many reports a sample takes: as many as were asked for, or all that are left."""

    data: LabelData
    rows: tuple[SystemRow, ...]
    candidates: tuple[Candidate, ...]
    takes: int
    forecasts: tuple[Forecast, ...]
    n_labelled: int
    n_without_judge: int
    n_without_words: int


def label_report(data: LabelData, system: str, size: int) -> LabelReport:
    """The page for the reports of one system, or of all ("").

    Candidates are the reports that the judge graded throughout, whose words we have and that nobody
    has finished; the first are those whose label is expected to say most.
    """
    here = data.of_system(system)
    shown = np.array([report.can_be_shown for report in data.reports], dtype=bool)
    open_ = here & np.isnan(data.human)
    free = np.flatnonzero(open_ & shown & ~np.isnan(data.judge))
    takes = min(size, len(free))
    chances = probabilities(data.gap[free], takes) if takes else np.empty(0)
    gaps = np.nan_to_num(data.gap[free])
    order = np.argsort(-gaps, kind="stable")
    known = not np.isnan(data.gap[free]).any()
    return LabelReport(
        data=data,
        rows=system_rows(data),
        candidates=tuple(
            Candidate(
                data.reports[free[index]],
                float(data.judge[free[index]]),
                float(gaps[index]) if known else None,
                float(chances[index]),
            )
            for index in order.tolist()
        ),
        takes=takes,
        forecasts=_forecasts(data, here, free) if known else (),
        n_labelled=int((here & ~np.isnan(data.human)).sum()),
        n_without_judge=int((open_ & np.isnan(data.judge)).sum()),
        n_without_words=int((open_ & ~shown & ~np.isnan(data.judge)).sum()),
    )


def _forecasts(
    data: LabelData, here: NDArray[np.bool_], free: NDArray[np.intp]
) -> tuple[Forecast, ...]:
    """What the next labels are expected to bring, for sizes up to all that is left."""
    inside = np.flatnonzero(here & ~np.isnan(data.judge))
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
