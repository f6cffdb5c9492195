"""Template tag for the line of words above the numbers of a results page."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def filter_summary(choice: Any) -> SafeString:
    """Render the summary of a filter: what the numbers are computed from, and Change or Close."""
    badge = SafeString(render_to_string("evaluation/_judge_badge.html").strip())
    phrases = format_html_join(
        "",
        "<span>{}{}</span>",
        (
            (text, format_html(" {}", badge) if has_judge else "")
            for text, has_judge in choice.filter_phrases()
        ),
    )
    return format_html(
        '<summary>{}<span class="change"><span>Change</span><span>Close</span></span></summary>',
        phrases,
    )
