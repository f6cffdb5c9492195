"""The numbers of the grid: means by kind of task and system, which are best, and what differs from the base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evaluation.data.cache import cached
from evaluation.grid.params import GridChoice
from evaluation.metrics.grades import BoolArray
from evaluation.scoring.generations import (
    BLEU,
    LENGTH,
    PARTS,
    PRECISION,
    RECALL,
    ROUGE,
    THEIRS,
    TITLES,
    Measured,
)
from evaluation.scoring.same_topics import largest_group
from evaluation.stats.estimate import Estimate
from evaluation.stats.randomisation import Randomisation, holm, sign_flips

# What CRUD-RAG's code calls the measures that are ours to compute.
SAME = {
    f"{THEIRS}bleu-avg": BLEU,
    f"{THEIRS}rouge-L": ROUGE,
    f"{THEIRS}QA_avg_F1": PRECISION,
    f"{THEIRS}QA_recall": RECALL,
    f"{THEIRS}length": LENGTH,
}
ALIKE = 1e-6  # what their files tell, and what we compute


@dataclass(frozen=True)
class Against:
    """A system less the base, over the topics that both have. `p_holm` is of all tests of one measure."""

    flip: Randomisation
    p_holm: float | None


@dataclass(frozen=True)
class GridRow:
    """A system on the topics of a kind of task. `against` is empty for the base.

    `is_apart`: its reports are on other topics than those of most, see `largest_group`; it is best in nothing.
    """

    group: str
    system: str
    value: Any
    n_topics: int
    n_reports: int
    means: Mapping[str, Estimate]
    n_undefined: Mapping[str, int]
    is_apart: bool
    best: frozenset[str] = frozenset()
    against: Mapping[str, Against] = field(default_factory=dict)


@dataclass(frozen=True)
class Unlike:
    """A measure of a system beside what CRUD-RAG's code computed, where both have a value."""

    system: str
    measure: str
    n: int
    n_unlike: int
    largest: float


@dataclass(frozen=True)
class Grid:
    """All of the page. `measures` are its columns by name, with their titles."""

    measures: Mapping[str, str]
    groups: Mapping[str, tuple[GridRow, ...]]
    unlike: tuple[Unlike, ...]

    @property
    def rows(self) -> list[GridRow]:
        return [row for rows in self.groups.values() for row in rows]


def grid_report(choice: GridChoice) -> Grid:
    """The numbers of a state of the page, kept until the data or the settings change."""
    version = choice.scorer.generations.version
    key = ("grid", choice.vary, choice.base, choice.systems, choice.asked, choice.settings, version)
    return cached(choice.dataset, key, lambda: _report(choice))


def _report(choice: GridChoice) -> Grid:
    measured = {system: choice.scorer.measured(system) for system in choice.systems}
    measures = _measures(measured.values())
    groups = {
        group: _rows(choice, group, here, measured) for group, here in _groups(choice).items()
    }
    flips = _flips(choice, measured, groups)
    return Grid(
        measures,
        {group: _finished(rows, measures, flips) for group, rows in groups.items() if rows},
        tuple(unlike for system, each in measured.items() for unlike in _unlike(system, each)),
    )


def _measures(measured: Iterable[Measured]) -> dict[str, str]:
    """The measures that a system has a value of: ours, with what was brought from elsewhere before the last."""
    there = {
        name
        for each in measured
        for name, values in each.values.items()
        if not np.isnan(values).all()
    }
    ours = {name: title for name, title in TITLES.items() if name in there and name != LENGTH}
    brought = sorted(name for name in there - {*TITLES, *PARTS} if not name.startswith(THEIRS))
    return ours | {name: name for name in brought} | {LENGTH: TITLES[LENGTH]}


def _groups(choice: GridChoice) -> dict[str, BoolArray]:
    """The topics of each kind of task, in the order in which they first occur."""
    group_of = np.array([topic.group for topic in choice.scorer.generations.topics], dtype=object)
    return {group: group_of == group for group in dict.fromkeys(group_of.tolist())}


def _rows(
    choice: GridChoice, group: str, here: BoolArray, measured: Mapping[str, Measured]
) -> list[GridRow]:
    there = {
        system: each
        for system, each in measured.items()
        if each.has_report[here].any() or not each.has_report.any()
    }
    together = largest_group({system: each.has_report & here for system, each in there.items()})
    rows = [
        _row(
            choice,
            group,
            here,
            system,
            each,
            is_apart=bool(each.has_report[here].any()) and system not in together,
        )
        for system, each in there.items()
    ]
    return sorted(rows, key=lambda row: row.is_apart)


def _row(
    choice: GridChoice,
    group: str,
    here: BoolArray,
    system: str,
    measured: Measured,
    *,
    is_apart: bool,
) -> GridRow:
    names = [name for name in measured.values if not name.startswith(THEIRS)]
    return GridRow(
        group,
        system,
        choice.value(system),
        int(here.sum()),
        int(measured.has_report[here].sum()),
        {name: measured.mean(name, here) for name in names},
        {name: measured.n_undefined(name, here) for name in names},
        is_apart,
    )


Flips = dict[tuple[str, str, str], Against]  # by group, system and measure


def _flips(
    choice: GridChoice, measured: Mapping[str, Measured], groups: Mapping[str, Sequence[GridRow]]
) -> Flips:
    """The tests against the base, adjusted for all of one measure."""
    flips: dict[tuple[str, str, str], Randomisation] = {}
    base = measured.get(choice.base)
    for group, here in _groups(choice).items():
        columns = {
            (group, row.system, name): values[here] - base.values[name][here]
            for row in groups[group]
            if base and row.system != choice.base
            for name, values in measured[row.system].values.items()
            if name in base.values and name not in PARTS and not name.startswith(THEIRS)
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


def _finished(
    rows: Sequence[GridRow], measures: Iterable[str], flips: Flips
) -> tuple[GridRow, ...]:
    """The rows with what they are best in, where they are unlike, and with their tests."""
    best: dict[str, float] = {}
    for name in measures:
        values = [row.means[name].value for row in rows if name in row.means and not row.is_apart]
        known = [value for value in values if value is not None]
        if name != LENGTH and len(set(known)) > 1:
            best[name] = max(known)
    return tuple(
        replace(
            row,
            best=frozenset(
                name
                for name, highest in best.items()
                if name in row.means and not row.is_apart and row.means[name].value == highest
            ),
            against={
                name: against
                for (group, system, name), against in flips.items()
                if (group, system) == (row.group, row.system)
            },
        )
        for row in rows
    )


def _unlike(system: str, measured: Measured) -> Iterator[Unlike]:
    for theirs, ours in SAME.items():
        if theirs in measured.values and ours in measured.values:
            differences = np.abs(measured.values[theirs] - measured.values[ours])
            known = differences[~np.isnan(differences)]
            if len(known):
                n_unlike = int((known > ALIKE).sum())
                yield Unlike(system, ours, len(known), n_unlike, float(known.max()))
