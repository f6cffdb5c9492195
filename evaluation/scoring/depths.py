"""Depths at which runs are read, and a check that they are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.decimals import compact
from evaluation.stats.estimate import FloatArray


@dataclass(frozen=True, slots=True)
class UnequalDepths:
    """Runs that are read unequally deep on some topics.

    `n_topics` are these, of the `n_shared` that two runs or more rank. `least` and `most` are the
    run with the fewest and the one with the most passages a topic, over these `n_topics`.
    """

    n_topics: int
    n_shared: int
    shallowest: tuple[str, float]
    most: tuple[str, float]

    @property
    def sentence(self) -> str:
        (shallow, smallest), (deep, largest) = self.shallowest, self.most
        return (
            f"The runs have different depths: |Z| differs on {self.n_topics} of {self.n_shared} "
            f"topics. On these topics its mean is {compact(smallest)} for {shallow} and {compact(largest)} "
            f"for {deep}. "
            "A longer Z can answer more questions."
        )


def unequal_depths(sizes: Mapping[str, FloatArray]) -> UnequalDepths | None:
    """Return the runs' unequal depths |Z| on shared topics; None if they are equal.

    `sizes` has for each run the passages of its Z on every topic, NaN where it ranks none.
    """
    if len(sizes) < 2:
        return None
    table = np.array(list(sizes.values()))
    shared = (~np.isnan(table)).sum(axis=0) > 1
    if not shared.any():
        return None
    table = table[:, shared]
    differ = np.nanmax(table, axis=0) != np.nanmin(table, axis=0)
    if not differ.any():
        return None
    differing = table[:, differ]
    ranks = (~np.isnan(differing)).any(axis=1)
    names = [name for name, has in zip(sizes, ranks.tolist(), strict=True) if has]
    means = np.nanmean(differing[ranks], axis=1).tolist()
    ordered = sorted(zip(names, means, strict=True), key=lambda pair: pair[1])
    return UnequalDepths(int(differ.sum()), int(shared.sum()), ordered[0], ordered[-1])
