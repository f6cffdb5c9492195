"""Template tag for links to a table of results as CSV, JSON and LaTeX."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evaluation.result_tables import FORMATS, PAGE_FORMATS

register = template.Library()

NAMES = {"csv": "CSV", "json": "JSON", "tex": "LaTeX"}


@register.simple_tag
def table_files(
    url: str, label: str, query: str = "", text: bool | str = False, json: bool = True
) -> SafeString:
    """Render links to a table in each format. `url` is that of its CSV file.

    `label` names the table, in front of the links with `text`, else to screen readers alone.
    Without `json` the page itself is the JSON file of this name.
    """
    path, _, own_query = url.partition("?")
    stem, search = path.removesuffix(".csv"), query or own_query
    links = format_html_join(
        " · ",
        '<a href="{}" aria-label="{}, as {}">{}</a>',
        (
            (f"{stem}.{ending}?{search}" if search else f"{stem}.{ending}", label, name, name)
            for ending in (FORMATS if json else PAGE_FORMATS)
            for name in (NAMES[ending],)
        ),
    )
    return format_html("{}: {}", label if text is True else text, links) if text else links
