"""Template tag for cells of the tables about labelling."""

from typing import Any

from django import template

from evaluation.charts import Axis
from evaluation.stats.estimate import Estimate

register = template.Library()


@register.inclusion_tag("evaluation/labelling/_estimate_cell.html")
def estimate_cell(estimate: Estimate, axis: Axis, unit: str = "topic") -> dict[str, Any]:
    """Render a value with its interval, drawn and in figures, and the number of its units."""
    return {"estimate": estimate, "axis": axis, "unit": unit}
