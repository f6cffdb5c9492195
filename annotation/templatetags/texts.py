"""`{% reader body spans %}` prints a text to be read and marked; `{{ text|guideline }}` Markdown.

`{% wording campaign as words %}` gives the words of its rubric that raters read.
"""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.models import Campaign
from annotation.models.wording import Wording, shown
from annotation.text.rendering import guideline_html, plain_html, text_html

register = template.Library()


@register.simple_tag
def reader(
    body: str,
    spans: Sequence[dict[str, Any]] = (),
    label: str = "Text",
    id: str = "text",
    is_marked: bool = True,
) -> SafeString:
    """The text in its reading measure, with room in the margin for the numbers of its spans.

    Without `is_marked` nobody marks words in it: no sentence of it takes the focus. Browsers are
    asked not to translate it; scripts compare what it says with `data-served`.
    """
    return format_html(
        '<div class="reader" data-reader><div class="body" id="{}" role="group" aria-label="{}"'
        ' translate="no" data-served="{}">{}</div></div>',
        id,
        label,
        plain_html(body),
        text_html(body, spans, is_marked=is_marked),
    )


@register.filter
def guideline(markdown: str) -> SafeString:
    return guideline_html(markdown)


@register.simple_tag
def wording(campaign: Campaign) -> Wording:
    return shown(campaign)
