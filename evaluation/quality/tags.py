"""Template filters for times, grades and probabilities of raters."""

from django import template

from annotation.decimals import printed
from annotation.models import Rubric

register = template.Library()


@register.filter
def active_time(milliseconds: int) -> str:
    """Format active time; 0 as "none recorded", since it was not measured."""
    if not milliseconds:
        return "none recorded"
    seconds = round(milliseconds / 1000)
    hours, minutes = divmod(round(seconds / 60), 60)
    if seconds < 60:
        return f"{seconds} s"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


@register.filter
def grade_label(grade: int, rubric: Rubric) -> str | int:
    """Return the label of a grade: its number, or its name on a nominal scale."""
    return grade if rubric.has_order else rubric.name_of(grade)


@register.filter
def probability(chance: float) -> str:
    """Format a probability with three decimals, or as a bound if it is smaller."""
    return "under 0.001" if chance < 0.001 else printed(chance, 3)
