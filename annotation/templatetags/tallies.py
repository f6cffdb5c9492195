"""`{% tally assignments as counted %}`: how many are handed in, skipped and open."""

from collections import Counter
from collections.abc import Iterable

from django import template

from annotation.models import Assignment

register = template.Library()


@register.simple_tag
def tally(assignments: Iterable[Assignment]) -> dict[str, int]:
    states = Counter(assignment.state for assignment in assignments)
    total = sum(states.values())
    submitted = states[Assignment.State.SUBMITTED]
    return {
        "total": total,
        "submitted": submitted,
        "skipped": states[Assignment.State.SKIPPED],
        "percent": round(100 * submitted / total) if total else 0,
    }
