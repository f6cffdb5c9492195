"""Tags of the item page: `{% question_card card %}`, `{% script_words %}`, `{% tally assignments as n %}`."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from annotation.models import Assignment
from annotation.participation.earnings import MINUTE_MS
from annotation.task.page import Asked, asked_of
from annotation.task.script_words import GUESTS_WORDS, WORDS

register = template.Library()


@register.inclusion_tag("annotation/task/_question.html", takes_context=True)
def question_card(context: Any, card: Asked) -> dict[str, Any]:
    page = ("text", "active", "several", "csrf_token")
    return {name: context[name] for name in page} | {
        "card": card,
        "scale": context["scales"][card.rubric.pk],
        "key": context["keys"][card.number],
        "spans": json.dumps(card.spans, ensure_ascii=False),
    }


@register.simple_tag(takes_context=True)
def script_words(context: Any) -> SafeString:
    """The texts of the worker's scripts, in the language of the page."""
    texts = WORDS | GUESTS_WORDS if context["user"].is_guest else WORDS
    return json_script({name: str(words) for name, words in texts.items()}, "words")


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
    asked = asked_of(assignment)
    done = sum(card.is_done for card in asked)
    return {"number": assignments.index(assignment) + 1, "done": done, "of": len(asked)}


@register.filter
def minutes(ms: int) -> str:
    """A time as "1 h 32 min", which every language of raters reads."""
    whole = max(1, round(ms / MINUTE_MS))
    return f"{whole // 60} h {whole % 60} min" if whole >= 60 else f"{whole} min"
