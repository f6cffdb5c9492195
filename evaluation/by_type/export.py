"""Recall by type as rows of a file, and as one object."""

from __future__ import annotations

from typing import Any

from evaluation.by_type.page import ByType, TypeRow
from evaluation.by_type.params import ByTypeChoice
from evaluation.csv_tables import Cell, estimate_cells, estimate_header


def recall_table(choice: ByTypeChoice, found: ByType) -> tuple[list[str], list[list[Cell]]]:
    """A line for each type and weight; `best` is 1 at the best weight of the type, else 0."""
    header = ["type", "grade", "weight", *estimate_header(f"recall_at_{choice.k}"), "best"]
    return header, [
        [row.name, row.grade, weight, *estimate_cells(estimate), int(place == row.best)]
        for row in found.rows
        for place, (weight, estimate) in enumerate(zip(choice.weights, row.recall, strict=True))
    ]


def as_json(choice: ByTypeChoice, found: ByType) -> dict[str, Any]:
    """All of the page."""
    return {
        "dataset": choice.dataset.slug,
        **choice.params(),
        "weights": list(choice.weights),
        "n_without_type": found.n_untyped,
        "n_filtered": found.n_filtered,
        "n_without_gold": found.n_without_gold,
        "n_not_ranked": found.n_unranked,
        "rows": [_row(choice, row) for row in found.rows],
    }


def _row(choice: ByTypeChoice, row: TypeRow) -> dict[str, Any]:
    weights = choice.weights
    best = None if row.best is None else row.recall[row.best].value
    return {
        "type": row.name,
        "grade": row.grade,
        "n": row.n,
        "missing": row.missing,
        "best": {"weight": None if row.best is None else weights[row.best], "recall": best},
        "recall": [
            {
                "weight": weight,
                "value": estimate.value,
                "reason": estimate.reason,
                "n": estimate.n,
                "missing": estimate.missing,
                "ci95": None if estimate.low is None else [estimate.low, estimate.high],
            }
            for weight, estimate in zip(weights, row.recall, strict=True)
        ],
    }
