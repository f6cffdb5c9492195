"""Template tag for the cells of the grid."""

from __future__ import annotations

from django import template
from django.utils.html import format_html

from annotation.decimals import printed
from evaluation.page_tables import Cell
from evaluation.replications.crud_rag.page import GridRow
from evaluation.templatetags.numbers import figure, limits, p_value
from evaluation.templatetags.results_table import add_cell

register = template.Library()


@register.simple_tag(takes_context=True)
def grid_cell(context: template.Context, row: GridRow, measure: str) -> str:
    """Add a mean with its count and its test, marked if it is the best of its task type."""
    mean, against = row.means.get(measure), row.against.get(measure)
    if mean is None:
        return add_cell(context, Cell(format_html('<span class="quiet">{}</span>', "none")))
    counts = [f"n = {mean.n:,}"]
    if mean.missing:
        counts.append(f"{mean.missing:,} missing")
    if n_undefined := row.n_undefined.get(measure, 0):
        counts.append(f"{n_undefined:,} undefined")
    if against and against.flip.value is not None:
        counts.append(f"{figure(against.flip)}, p {p_value(against.p_holm)}")
    content = "" if mean.value is None else printed(mean.value)
    if measure in row.best:
        content = format_html("<b>{}</b> <small>best</small>", content)
    interval = "" if mean.value is None else limits(mean) or "no interval"
    cell = Cell(
        *(content, mean.value),
        is_estimate=True,
        reason=mean.reason or "",
        limits=interval,
        counts="; ".join(counts),
    )
    return add_cell(context, cell)
