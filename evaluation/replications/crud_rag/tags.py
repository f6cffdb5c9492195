"""Template tag for the cells of the grid."""

from __future__ import annotations

from typing import Any

from django import template

from evaluation.replications.crud_rag.page import GridRow

register = template.Library()


@register.inclusion_tag("evaluation/replications/crud_rag/_cell.html")
def grid_cell(row: GridRow, measure: str) -> dict[str, Any]:
    """Render a mean with its count and its test, marked if it is the best of its task type."""
    return {
        "mean": row.means.get(measure),
        "n_undefined": row.n_undefined.get(measure, 0),
        "is_best": measure in row.best,
        "against": row.against.get(measure),
    }
