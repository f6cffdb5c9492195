"""Template tags of charts.

`{% interval estimate axis %}`: an estimate and its interval on a line, beside its number.
"""

from typing import Any

from django import template

from evaluation import charts
from evaluation.stats.estimate import Estimate

register = template.Library()


@register.inclusion_tag("evaluation/_interval.html")
def interval(estimate: Estimate, axis: charts.Axis | None = None) -> dict[str, Any]:
    """Draw an estimate on the axis of its table, or on one that holds it."""
    return {"strip": charts.strip(estimate, axis or charts.axis_of(estimate))}


@register.simple_tag
def shape(mark: int) -> str:
    """Return the outline that stands for a rater, drawn round (0, 0)."""
    return charts.shape(mark)


@register.filter
def tenths(n: int, of: int) -> str:
    """Return a share as the length of a meter of 100."""
    return f"{100 * n / of:.1f}" if of else "0"
