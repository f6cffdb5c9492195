"""Which systems stand in the tables and figures: all of a dataset, or those that are named."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace

from annotation.models import Dataset, Text
from evaluation.data.selection import SelectionError, one_of
from evaluation.scoring.score import Scores

Systems = tuple[str, ...]
"""The chosen ones by name; none chosen are all."""


def system_names(dataset: Dataset) -> Systems:
    """All that can be chosen, by name: who has a retrieval run or reports, oracles too. Two queries."""
    reports = dataset.texts.filter(kind=Text.Kind.REPORT).order_by()
    runs = dataset.runs.order_by().values_list("name", flat=True)
    return tuple(sorted({*runs, *reports.values_list("system", flat=True).distinct()}))


def chosen_systems(names: Systems, asked: str) -> Systems:
    """Those of `names` that are asked for, in their order; none where nothing is asked for.

    `asked` has names parted by commas, one with a comma in it between double quotes, as a line of
    CSV. Raises SelectionError, which lists the systems, for one that is not there.
    """
    try:
        parts = [part for line in csv.reader([asked]) for part in line if part.strip()]
    except csv.Error as error:
        raise SelectionError(f"Systems are names parted by commas, and not “{asked}”.") from error
    known = set(names)
    taken = {one_of("system", part if part in known else part.strip(), names) for part in parts}
    return tuple(name for name in names if name in taken)


def as_words(systems: Iterable[str]) -> str:
    """The names as `chosen_systems` reads them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(systems)
    return line.getvalue()


def scores_of(scores: Scores, systems: Systems) -> Scores:
    """The scores with the rows of these systems alone; bounds that no system made stay.

    What a row scores on a topic hangs on P* and Z*, which no choice of systems changes.
    """
    if not systems:
        return scores
    kept = (row for row in scores.rows if not row.row.system or row.row.system in systems)
    return replace(scores, rows=tuple(kept))
