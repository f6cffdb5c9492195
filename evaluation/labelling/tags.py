"""Cells of the tables about labelling."""

from typing import Any

from django import template

from evaluation.charts import Axis
from evaluation.stats.estimate import Estimate

register = template.Library()


@register.inclusion_tag("evaluation/labelling/_estimate_cell.html")
def estimate_cell(estimate: Estimate, axis: Axis, unit: str = "topic") -> dict[str, Any]:
    """A table cell: the value, its interval drawn and in figures, and how many units it rests on."""
    return {"estimate": estimate, "axis": axis, "unit": unit}
