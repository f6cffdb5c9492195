"""`{% question_card one %}`: one question of an item; `{% script_words %}`: what the scripts have to say."""

import json
from typing import Any

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from annotation.script_words import GUESTS_WORDS, WORDS
from annotation.work import Asked

register = template.Library()


@register.inclusion_tag("annotation/_question.html", takes_context=True)
def question_card(context: Any, one: Asked) -> dict[str, Any]:
    page = ("text", "levels", "is_binary", "active", "csrf_token")
    return {name: context[name] for name in page} | {
        "one": one,
        "key": context["keys"][one.number],
        "spans": json.dumps(one.spans, ensure_ascii=False),
        "absent": context["levels"][-1],
    }


@register.simple_tag(takes_context=True)
def script_words(context: Any) -> SafeString:
    """The texts of the worker's scripts, in the language of the page."""
    texts = WORDS | GUESTS_WORDS if context["user"].is_guest else WORDS
    return json_script({name: str(words) for name, words in texts.items()}, "words")
