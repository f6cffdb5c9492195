"""How far somebody is: `{% tally assignments as counted %}`, `{% reached one assignments as at %}`."""

from collections import Counter
from collections.abc import Iterable, Sequence

from django import template

from annotation.models import Assignment
from annotation.participants import MINUTE_MS
from annotation.work import asked_of

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


@register.simple_tag
def reached(assignment: Assignment | None, assignments: Sequence[Assignment]) -> dict[str, int]:
    """How far one of these items is: its number among them, and how many of its questions are done."""
    if not assignment:
        return {}
    asked = asked_of(assignment, assignment.participant.campaign.rubric)
    done = sum(one.is_done for one in asked)
    return {"number": assignments.index(assignment) + 1, "done": done, "of": len(asked)}


@register.filter
def minutes(ms: int) -> str:
    """A time as "1 h 32 min", which every language of raters reads."""
    whole = max(1, round(ms / MINUTE_MS))
    return f"{whole // 60} h {whole % 60} min" if whole >= 60 else f"{whole} min"
