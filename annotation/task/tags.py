"""Template tags of the item page.

`{% question_card card %}`, `{% script_messages %}`, `{% assignment_counts assignments as n %}`.
"""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from annotation.models import Assignment, Item
from annotation.participation.pay_rate import MINUTE_MS
from annotation.task.cards import QuestionCard
from annotation.task.contradictions import contradiction_text
from annotation.task.page import item_cards
from annotation.task.script_messages import GUEST_MESSAGES, MESSAGES

register = template.Library()


@register.inclusion_tag("annotation/task/_question.html", takes_context=True)
def question_card(context: Any, card: QuestionCard) -> dict[str, Any]:
    page = ("text", "active", "several", "csrf_token")
    return {name: context[name] for name in page} | {
        "card": card,
        "scale": context["scales"][card.rubric.pk],
        "key": context["keys"][card.number],
        "spans": json.dumps(card.spans, ensure_ascii=False),
        "impossible": json.dumps(card.impossible) if card.impossible else "",
        "contradictions": [
            (other_card, contradiction_text(card, other_card, context["labels"]))
            for other_card in card.contradicts
        ],
    }


@register.simple_tag(takes_context=True)
def script_messages(context: Any) -> SafeString:
    """Messages of the worker's scripts as JSON, in the language of the page."""
    texts = MESSAGES | GUEST_MESSAGES if context["user"].is_guest else MESSAGES
    return json_script({name: str(message) for name, message in texts.items()}, "words")


@register.simple_tag
def assignment_counts(assignments: Iterable[Assignment]) -> dict[str, int]:
    """Count assignments, with their items, by state. Practice is no work, so it is left out."""
    states = Counter(
        assignment.state
        for assignment in assignments
        if assignment.item.purpose != Item.Purpose.TRAINING
    )
    total = sum(states.values())
    submitted = states[Assignment.State.SUBMITTED]
    return {
        "total": total,
        "submitted": submitted,
        "skipped": states[Assignment.State.SKIPPED],
        "percent": round(100 * submitted / total) if total else 0,
    }


@register.simple_tag
def item_progress(assignment: Assignment | None) -> dict[str, int]:
    """Return the progress in an item: its questions, and those that are done."""
    if not assignment:
        return {}
    cards = item_cards(assignment)
    return {"done": sum(card.is_done for card in cards), "of": len(cards)}


@register.filter
def minutes(ms: int) -> str:
    """Format milliseconds as "1 h 32 min", which every language of raters reads."""
    whole = max(1, round(ms / MINUTE_MS))
    return f"{whole // 60} h {whole % 60} min" if whole >= 60 else f"{whole} min"
