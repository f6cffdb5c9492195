"""Template tag for cells of the tables about labelling."""

from django import template

from annotation.plurals import n_of
from evaluation.stats.estimate import Estimate
from evaluation.templatetags.results_table import number

register = template.Library()


@register.simple_tag(takes_context=True)
def estimate_cell(context: template.Context, estimate: Estimate, unit: str = "topic") -> str:
    """Add a value to a row of a table, with its interval and the number of its units."""
    note = "" if estimate.value is None else n_of(estimate.n, unit)
    return number(context, estimate, note=note)
