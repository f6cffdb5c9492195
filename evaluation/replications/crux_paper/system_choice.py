"""Choice of the systems in the tables and figures: all of a dataset, or named ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace

from annotation.models import Dataset, Text
from evaluation.data.selection import SelectionError, one_of
from evaluation.scoring.score import Scores

Systems = tuple[str, ...]
"""Names of chosen systems; empty for all."""


def system_names(dataset: Dataset) -> Systems:
    """Return the names of all systems with a retrieval run or reports, oracles too.

    Two queries.
    """
    reports = dataset.texts.filter(kind=Text.Kind.REPORT).order_by()
    runs = dataset.runs.order_by().values_list("name", flat=True)
    return tuple(sorted({*runs, *reports.values_list("system", flat=True).distinct()}))


def chosen_systems(names: Systems, text: str) -> Systems:
    """Return those of `names` that `text` lists, in their order; empty if it lists none.

    `text` has names separated by commas, one with a comma in it between double quotes, as a line of
    CSV. Raises SelectionError, which lists the systems, for one that does not exist.
    """
    try:
        parts = [part for line in csv.reader([text]) for part in line if part.strip()]
    except csv.Error as error:
        raise SelectionError(f"Systems must be names separated by commas, not “{text}”.") from error
    valid = set(names)
    selected = {one_of("system", part if part in valid else part.strip(), names) for part in parts}
    return tuple(name for name in names if name in selected)


def join_names(systems: Iterable[str]) -> str:
    """Return the names as one line that `chosen_systems` reads."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(systems)
    return line.getvalue()


def scores_of(scores: Scores, systems: Systems) -> Scores:
    """Return the scores with the rows of these systems alone; bounds without a system stay.

    A row's scores on a topic depend on P* and Z*, which no choice of systems changes.
    """
    if not systems:
        return scores
    rows = (row for row in scores.rows if not row.row.system or row.row.system in systems)
    return replace(scores, rows=tuple(rows))
