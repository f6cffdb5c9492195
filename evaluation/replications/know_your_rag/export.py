"""Recall by type as rows of a file, and as one object."""

from __future__ import annotations

from typing import Any

from evaluation.replications.know_your_rag.page import ByType, TypeRow
from evaluation.replications.know_your_rag.query import ByTypeQuery
from evaluation.result_tables import ResultTable, Statistic


def recall_table(choice: ByTypeQuery, results: ByType) -> ResultTable:
    """A line for each type and weight; `best` is 1 at the best weight of the type, else 0."""
    header = ["type", "grade", "weight", Statistic(f"recall_at_{choice.k}"), "best"]
    return ResultTable(
        header,
        [
            [row.name, row.grade, weight, estimate, int(index == row.best)]
            for row in results.rows
            for index, (weight, estimate) in enumerate(zip(choice.weights, row.recall, strict=True))
        ],
    )


def as_json(choice: ByTypeQuery, results: ByType) -> dict[str, Any]:
    """All of the page."""
    return {
        "dataset": choice.dataset.slug,
        **{name: value for name, value in choice.values.items() if value != ""},
        "weights": list(choice.weights),
        "n_without_type": results.n_untyped,
        "n_filtered": results.n_filtered,
        "n_without_gold": results.n_without_gold,
        "n_not_ranked": results.n_unranked,
        "rows": [_row(choice, row) for row in results.rows],
    }


def _row(choice: ByTypeQuery, row: TypeRow) -> dict[str, Any]:
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
