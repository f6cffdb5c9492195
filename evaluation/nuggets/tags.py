"""How the pages of nuggets name their scores and rules."""

from typing import Any

from django import template

from evaluation.nuggets.page import TITLES
from evaluation.scoring.options import RULE_WORDS

register = template.Library()


@register.filter
def by_title(scored: Any) -> list[tuple[str, Any]]:
    """The scores of a report, or the taus of an order, with the titles of the scores."""
    values = getattr(scored, "scores", None) or scored.taus
    return [(title, values[name]) for name, (title, _) in TITLES.items()]


@register.filter
def rule_words(rules: str) -> str:
    """Whose rules they are, and what they make of a topic without a vital nugget."""
    of_none = "0" if rules == "authors" else "undefined"
    return f"{RULE_WORDS[rules]} a score is {of_none} where the topic has no such nugget."
