"""Template tags for texts: `reader`, `guideline` and `wording`.

`{% reader body spans %}` prints a text to be read and marked, `{{ text|guideline }}` renders
Markdown, and `{% wording campaign as words %}` gives the wording of its rubric that raters read.
"""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.models import Campaign
from annotation.models.rubric_wording import RubricWording, campaign_wording
from annotation.origins import OriginLabel, labels_of
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
    """Return the text in its reading width, with margin space for the numbers of its spans.

    Without `is_marked` no sentence takes the focus. Browsers are asked not to translate the text;
    scripts compare its content with `data-served`.
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


@register.filter
def origin_labels(origins: Sequence[dict[str, Any]]) -> list[OriginLabel]:
    """Return the origins of a row for `annotation/_origins.html`."""
    return labels_of(origins)


@register.simple_tag
def wording(campaign: Campaign) -> RubricWording:
    return campaign_wording(campaign)
