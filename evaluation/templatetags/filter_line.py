"""Template tag for the line of words above the numbers of a results page."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evaluation.templatetags.certificates import judge_badge

register = template.Library()


@register.simple_tag(takes_context=True)
def filter_summary(context: template.Context, choice: Any) -> SafeString:
    """Render the summary of a filter: what the numbers are computed from, and Change or Close."""
    phrases = format_html_join(
        "",
        "<span>{}{}</span>",
        (
            (
                text,
                format_html(" {}", judge_badge(context["dataset"], judge, rubric)) if judge else "",
            )
            for text, judge, rubric in choice.filter_phrases()
        ),
    )
    return format_html(
        '<summary>{}<span class="change"><span>Change</span><span>Close</span></span></summary>',
        phrases,
    )
