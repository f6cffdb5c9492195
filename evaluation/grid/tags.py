"""The cells of the grid."""

from __future__ import annotations

from typing import Any

from django import template

from evaluation.grid.page import GridRow

register = template.Library()


@register.inclusion_tag("evaluation/grid/_cell.html")
def grid_cell(row: GridRow, measure: str) -> dict[str, Any]:
    """A mean, whether it is the best of its kind of task, what it is counted from, and its test."""
    return {
        "mean": row.means.get(measure),
        "n_undefined": row.n_undefined.get(measure, 0),
        "is_best": measure in row.best,
        "against": row.against.get(measure),
    }
