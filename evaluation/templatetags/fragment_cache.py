"""Template tag for fragment caching: `{% cached_fragment %}...{% endcached_fragment %}`.

Caches a rendered part of a page by its URL and the logged-in user, until the next write to the database.
The part may depend on nothing else, and may have no form with a CSRF token, which is of one log-in. Indentation
is removed, which is a third of the size of a chart of many marks.
"""

from __future__ import annotations

import re

from django import template
from django.template.base import NodeList, Parser, Token
from django.template.defaulttags import CsrfTokenNode
from django.utils.safestring import SafeString

from evaluation.data.process_cache import FRAGMENTS

register = template.Library()

_INDENTATION = re.compile(r"\n\s+")


class CachedFragmentNode(template.Node):
    def __init__(self, nodelist: NodeList, line: int | None) -> None:
        self.nodelist = nodelist
        self.line = line

    def render(self, context: template.Context) -> SafeString:
        request = context["request"]
        reader = request.user if request.user.is_authenticated else request.user.link
        tag_position = self.origin.name, self.line
        key = tag_position, request.get_full_path(), type(reader).__name__, reader.pk
        return FRAGMENTS.until_db_write(key, lambda: self._render_stripped(context))

    def _render_stripped(self, context: template.Context) -> SafeString:
        # Still safe: only white space between its lines is removed.
        return SafeString(_INDENTATION.sub("\n", self.nodelist.render(context)))


@register.tag
def cached_fragment(parser: Parser, token: Token) -> CachedFragmentNode:
    nodelist = parser.parse(("endcached_fragment",))
    parser.delete_first_token()
    if nodelist.get_nodes_by_type(CsrfTokenNode):
        raise template.TemplateSyntaxError(
            "A form that is posted cannot be cached: its token is of one log-in."
        )
    return CachedFragmentNode(nodelist, token.lineno)
