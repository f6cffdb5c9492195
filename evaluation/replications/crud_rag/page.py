"""Statistics of the grid: means by task type and system, best values, and tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.metrics.grades import BoolArray
from evaluation.replications.crud_rag.query import GridQuery
from evaluation.scoring.generations import (
    BLEU,
    CRUD_PREFIX,
    LENGTH,
    PARTS,
    PRECISION,
    RECALL,
    ROUGE,
    TITLES,
    SystemMeasures,
)
from evaluation.scoring.same_topics import largest_group
from evaluation.stats.estimate import Estimate
from evaluation.stats.randomisation import Randomisation, holm, sign_flips

# CRUD-RAG's names of the measures that are computed here too.
SAME = {
    f"{CRUD_PREFIX}bleu-avg": BLEU,
    f"{CRUD_PREFIX}rouge-L": ROUGE,
    f"{CRUD_PREFIX}QA_avg_F1": PRECISION,
    f"{CRUD_PREFIX}QA_recall": RECALL,
    f"{CRUD_PREFIX}length": LENGTH,
}
TOLERANCE = 1e-6  # between values of their files and ours


@dataclass(frozen=True)
class Against:
    """Difference of a system from the base, over the topics that both have.

    `p_holm` is adjusted for all tests of one measure.
    """

    flip: Randomisation
    p_holm: float | None


@dataclass(frozen=True)
class GridRow:
    """Row of a system on the topics of a task type. `against` is empty for the base.

    `is_apart`: its reports are on other topics than those of most, see `largest_group`; it is best in nothing.
    """

    group: str
    system: str
    value: Any
    n_topics: int
    n_reports: int
    means: Mapping[str, Estimate]
    n_undefined: Mapping[str, int]
    is_on_other_topics: bool
    best: frozenset[str] = frozenset()
    against: Mapping[str, Against] = field(default_factory=dict)


@dataclass(frozen=True)
class Unlike:
    """Difference of a measure of a system from CRUD-RAG's own value, where both have one."""

    system: str
    measure: str
    n: int
    n_unlike: int
    largest: float


@dataclass(frozen=True)
class Grid:
    """Report of the whole page. `measures` are its columns by name, with their titles."""

    measures: Mapping[str, str]
    groups: Mapping[str, tuple[GridRow, ...]]
    unlike: tuple[Unlike, ...]

    @property
    def rows(self) -> list[GridRow]:
        return [row for rows in self.groups.values() for row in rows]


def grid_report(choice: GridQuery) -> Grid:
    """Return the grid of a choice, cached until the data or the settings change."""
    version = choice.scorer.generations.version
    key = (
        CacheKey.CRUD_RAG_GRID,
        choice.vary,
        choice.base,
        choice.systems,
        choice.options,
        choice.settings,
        version,
    )
    return cached(choice.dataset, key, lambda: _report(choice))


def _report(choice: GridQuery) -> Grid:
    measurements = {system: choice.scorer.measure(system) for system in choice.systems}
    measures = _measures(measurements.values())
    groups = {
        group: _rows(choice, group, mask, measurements) for group, mask in _groups(choice).items()
    }
    flips = _flips(choice, measurements, groups)
    return Grid(
        measures,
        {group: _with_tests(rows, measures, flips) for group, rows in groups.items() if rows},
        tuple(
            unlike
            for system, measurement in measurements.items()
            for unlike in _unlike(system, measurement)
        ),
    )


def _measures(measurements: Iterable[SystemMeasures]) -> dict[str, str]:
    """Return the measures with a value of any system, by name, with their titles.

    Imported measures come before the last, the length.
    """
    defined = {
        name
        for measurement in measurements
        for name, values in measurement.values.items()
        if not np.isnan(values).all()
    }
    ours = {name: title for name, title in TITLES.items() if name in defined and name != LENGTH}
    imported = sorted(
        name for name in defined - {*TITLES, *PARTS} if not name.startswith(CRUD_PREFIX)
    )
    return ours | {name: name for name in imported} | {LENGTH: TITLES[LENGTH]}


def _groups(choice: GridQuery) -> dict[str, BoolArray]:
    """Return a mask of the topics of each task type, in the order of first occurrence."""
    group_of = np.array([topic.group for topic in choice.scorer.generations.topics], dtype=object)
    return {group: group_of == group for group in dict.fromkeys(group_of.tolist())}


def _rows(
    choice: GridQuery, group: str, mask: BoolArray, measurements: Mapping[str, SystemMeasures]
) -> list[GridRow]:
    by_system = {
        system: values
        for system, values in measurements.items()
        if values.has_report[mask].any() or not values.has_report.any()
    }
    main_group = largest_group(
        {system: values.has_report & mask for system, values in by_system.items()}
    )
    rows = [
        _row(
            choice,
            group,
            mask,
            system,
            values,
            is_apart=bool(values.has_report[mask].any()) and system not in main_group,
        )
        for system, values in by_system.items()
    ]
    return sorted(rows, key=lambda row: row.is_on_other_topics)


def _row(
    choice: GridQuery,
    group: str,
    mask: BoolArray,
    system: str,
    values: SystemMeasures,
    *,
    is_apart: bool,
) -> GridRow:
    names = [name for name in values.values if not name.startswith(CRUD_PREFIX)]
    return GridRow(
        group,
        system,
        choice.value(system),
        int(mask.sum()),
        int(values.has_report[mask].sum()),
        {name: values.mean(name, mask) for name in names},
        {name: values.n_undefined(name, mask) for name in names},
        is_apart,
    )


Flips = dict[tuple[str, str, str], Against]  # by group, system and measure


def _flips(
    choice: GridQuery,
    measurements: Mapping[str, SystemMeasures],
    groups: Mapping[str, Sequence[GridRow]],
) -> Flips:
    """Return the tests against the base, with Holm's adjustment over all tests of a measure."""
    flips: dict[tuple[str, str, str], Randomisation] = {}
    base = measurements.get(choice.base)
    for group, mask in _groups(choice).items():
        columns = {
            (group, row.system, name): values[mask] - base.values[name][mask]
            for row in groups[group]
            if base and row.system != choice.base
            for name, values in measurements[row.system].values.items()
            if name in base.values and name not in PARTS and not name.startswith(CRUD_PREFIX)
        }
        if columns:
            tests = sign_flips(np.column_stack(list(columns.values())))
            flips |= dict(zip(columns, tests, strict=True))
    adjusted: Flips = {}
    for measure in {name for *_, name in flips}:
        tested = {key: flip for key, flip in flips.items() if key[-1] == measure}
        p = holm([np.nan if flip.p is None else flip.p for flip in tested.values()]).tolist()
        for (key, flip), p_holm in zip(tested.items(), p, strict=True):
            adjusted[key] = Against(flip, None if np.isnan(p_holm) else p_holm)
    return adjusted


def _with_tests(
    rows: Sequence[GridRow], measures: Iterable[str], flips: Flips
) -> tuple[GridRow, ...]:
    """Return the rows with the measures in which each is best, and with their tests.

    Best is defined where values differ.
    """
    best: dict[str, float] = {}
    for name in measures:
        values = [
            row.means[name].value
            for row in rows
            if name in row.means and not row.is_on_other_topics
        ]
        defined = [value for value in values if value is not None]
        if name != LENGTH and len(set(defined)) > 1:
            best[name] = max(defined)
    return tuple(
        replace(
            row,
            best=frozenset(
                name
                for name, highest in best.items()
                if name in row.means
                and not row.is_on_other_topics
                and row.means[name].value == highest
            ),
            against={
                name: against
                for (group, system, name), against in flips.items()
                if (group, system) == (row.group, row.system)
            },
        )
        for row in rows
    )


def _unlike(system: str, values: SystemMeasures) -> Iterator[Unlike]:
    for theirs, ours in SAME.items():
        if theirs in values.values and ours in values.values:
            differences = np.abs(values.values[theirs] - values.values[ours])
            defined = differences[~np.isnan(differences)]
            if len(defined):
                n_unlike = int((defined > TOLERANCE).sum())
                yield Unlike(system, ours, len(defined), n_unlike, float(defined.max()))
