"""How times and the heads of the table of raters are printed."""

from typing import Any

from django import template

from annotation.decimals import printed
from annotation.models import Rubric
from evaluation.quality.table import Order

register = template.Library()


@register.filter
def spent(milliseconds: int) -> str:
    """Active time in words; the word for none, since 0 would say that it was measured."""
    if not milliseconds:
        return "none recorded"
    seconds = round(milliseconds / 1000)
    hours, minutes = divmod(round(seconds / 60), 60)
    if seconds < 60:
        return f"{seconds} s"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


@register.filter
def called(grade: int, rubric: Rubric) -> str | int:
    """A grade as pages call it: its number, or the name that it is."""
    return grade if rubric.has_order else rubric.names().get(grade, str(grade))


@register.filter
def rare(chance: float) -> str:
    """A probability in three decimals, or that it is smaller."""
    return "under 0.001" if chance < 0.001 else printed(chance, 3)


@register.inclusion_tag("evaluation/quality/_head.html")
def head(order: Order, by: str, words: str, is_number: bool = True) -> dict[str, Any]:
    """The head of a column: a link that orders the table by it."""
    return {"order": order, "by": by, "words": words, "is_number": is_number}
