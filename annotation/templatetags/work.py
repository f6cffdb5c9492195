"""`{% question_card one %}`: one question of an item with its answer, as a form of its own."""

import json
from typing import Any

from django import template

from annotation.work import Asked

register = template.Library()


@register.inclusion_tag("annotation/_question.html", takes_context=True)
def question_card(context: Any, one: Asked) -> dict[str, Any]:
    page = ("assignment", "text", "levels", "is_binary", "active", "csrf_token")
    return {name: context[name] for name in page} | {
        "one": one,
        "key": context["keys"][one.number],
        "spans": json.dumps(one.spans, ensure_ascii=False),
        "absent": context["levels"][-1],
    }
