"""Template filters that label nugget scores and rules."""

from typing import Any

from django import template

from evaluation.replications.nuggets.page import TITLES
from evaluation.scoring.options import RULE_WORDS

register = template.Library()


@register.filter
def titled_scores(scored: Any) -> list[tuple[str, Any]]:
    """The scores of a report, or the taus of an order, with the titles of the scores."""
    values = getattr(scored, "scores", None) or scored.taus
    return [(title, values[name]) for name, (title, _) in TITLES.items()]


@register.filter
def rules_summary(rules: str) -> str:
    """Return a phrase on whose rules apply, and their score of topics without vital nuggets."""
    of_none = "0" if rules == "authors" else "undefined"
    return f"{RULE_WORDS[rules]}; a score is {of_none} if the topic has no such nugget."
