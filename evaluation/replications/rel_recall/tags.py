"""Template tag for the cells of recall of retrieved evidence."""

from __future__ import annotations

from django import template

from annotation.decimals import printed
from evaluation.replications.rel_recall.page import Cell
from evaluation.templatetags.numbers import limits
from evaluation.templatetags.results_table import number

register = template.Library()


@register.simple_tag(takes_context=True)
def macro_cell(context: template.Context, cell: Cell) -> str:
    """Add the mean over reports with its n, and the share of all items together below it."""
    micro = cell.micro
    note = ""
    if micro.value is not None:
        note = f"micro {printed(micro.value)} of {micro.n:,} {limits(micro)}".rstrip()
    return number(context, cell.macro, n=True, note=note)
