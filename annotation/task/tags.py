"""Template tags of the item page.

`{% question_cards cards %}`, `{% script_messages %}`, `{% assignment_counts assignments as n %}`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from secrets import token_hex
from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from annotation.models import Assignment, Item
from annotation.participation.pay_rate import MINUTE_MS
from annotation.task.cards import QuestionCard
from annotation.task.contradictions import contradiction_text
from annotation.task.page import item_cards
from annotation.task.script_messages import GUEST_MESSAGES, MESSAGES

register = template.Library()


# Stands for the number of a card; unknown outside of this process, so no text of a page holds it.
_NUMBER_MARK = token_hex(16)


@register.simple_tag(takes_context=True)
def question_cards(context: Any, cards: Sequence[QuestionCard]) -> SafeString:
    """Render the question cards of an item."""
    card_template = context.template.engine.get_template("annotation/task/_question.html")
    page = {name: context[name] for name in ("text", "active", "several", "csrf_token")}
    page["shared_markup"] = {}
    return SafeString(
        "".join(
            card_template.render(context.new(page | _card_context(context, card))) for card in cards
        )
    )


def _card_context(context: Any, card: QuestionCard) -> dict[str, Any]:
    return {
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


class SharedMarkupNode(template.Node):
    """Part of a question card that equal cards share: it is rendered once a page."""

    def __init__(self, nodelist: NodeList, keys: Sequence[FilterExpression]) -> None:
        self.nodelist = nodelist
        self.keys = keys

    def render(self, context: template.Context) -> SafeString:
        card, cache = context["card"], context["shared_markup"]
        key = (self, card.rubric.pk, *(expression.resolve(context) for expression in self.keys))
        if key not in cache:
            with context.push(number=_NUMBER_MARK):
                cache[key] = self.nodelist.render(context)
        # Still safe: the number of a card is a digit and a letter of its rubric.
        return SafeString(cache[key].replace(_NUMBER_MARK, card.number))


@register.tag
def shared_markup(parser: Parser, token: Token) -> SharedMarkupNode:
    """Render a part of a question card once for all cards with the same rubric and values.

    `{% shared_markup card.grade %}...{% endshared_markup %}`: the part may depend on the values that the
    tag names, on the card's rubric and on `number`, the card's number, and on nothing else of a card.
    """
    keys = [parser.compile_filter(argument) for argument in token.split_contents()[1:]]
    nodelist = parser.parse(("endshared_markup",))
    parser.delete_first_token()
    return SharedMarkupNode(nodelist, keys)


@register.simple_tag(takes_context=True)
def script_messages(context: Any) -> SafeString:
    """Messages of the worker's scripts as JSON, in the language of the page."""
    return _messages_json(get_language(), is_guest=context["user"].is_guest)


@lru_cache(maxsize=64)
def _messages_json(_language: str, *, is_guest: bool) -> SafeString:
    texts = MESSAGES | GUEST_MESSAGES if is_guest else MESSAGES
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
