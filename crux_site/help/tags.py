"""Template tags: `{% term "eta" %}` links the glossary, `{% help_url %}` the page's help."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from crux_site.help.help_links import help_url_for
from crux_site.help.terms import terms

register = template.Library()


@register.simple_tag
def term(name: str, label: str = "") -> SafeString:
    """Link a term to the glossary; `label` is the link's text. Use it once a page.

    The title is read out behind the words of the link; who sees none, on a touch screen say, follows it.
    """
    entry = terms()[name]
    return format_html(
        '<a class="term" href="{}" title="{}">{}</a>', entry.url, entry.definition, label or name
    )


@register.simple_tag(takes_context=True)
def help_url(context: template.Context) -> Any:
    request = context["request"]
    return help_url_for(request.resolver_match, request.user)
