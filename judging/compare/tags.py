"""Links of a comparison of judges, and its numbers."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.http import urlencode

from judging.compare.query import ComparisonQuery

register = template.Library()


@register.simple_tag
def compare_link(choice: ComparisonQuery, to: str = "judge_compare", **changes: Any) -> str:
    """The same comparison with changes; a value of None drops a parameter."""
    return f"{reverse(to)}?{urlencode(choice.params(**changes))}"


@register.simple_tag
def cells_link(choice: ComparisonQuery, show: str, **changes: Any) -> str:
    """Return the link to the cells that a number counts, without the current filter."""
    blank: dict[str, Any] = dict.fromkeys(("grade_a", "grade_b", "topic", "part"))
    query = urlencode(choice.params(show=show, **(blank | changes)))
    return f"{reverse('judge_compare')}?{query}#cells-title"


@register.filter
def name_of(names: dict[int, str], grade: int) -> str:
    """Return the name of a grade."""
    return names.get(grade, str(grade))


@register.filter
def signed_change(change: int | None) -> str:
    """Format the change of a grade with its sign."""
    return "" if change is None else f"{change:+d}".replace("-", "−")
