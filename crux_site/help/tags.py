"""`{% term "eta" %}` links a term to the glossary; `{% help_url %}` is where the help with a page is."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from crux_site.help.places import help_with
from crux_site.help.terms import terms

register = template.Library()


@register.simple_tag
def term(name: str, label: str = "") -> SafeString:
    """Once a page, at the first place of the term; `label` is how the page writes it.

    The title is read out behind the words of the link; who sees none, on a touch screen say, follows it.
    """
    found = terms()[name]
    return format_html(
        '<a class="term" href="{}" title="{}">{}</a>', found.url, found.definition, label or name
    )


@register.simple_tag(takes_context=True)
def help_url(context: template.Context) -> Any:
    request = context.get("request")
    return help_with(request.resolver_match if request else None)
