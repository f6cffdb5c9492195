"""`{% held %}...{% endheld %}`: long parts of a page, which are not set again while nothing is written.

For parts that follow from the address and who reads it, and hold no form that is posted: its token is of one
log-in. Indentation is left out, which is a third of what a chart of many marks weighs.
"""

from __future__ import annotations

import re

from django import template
from django.template.base import NodeList, Parser, Token
from django.template.defaulttags import CsrfTokenNode
from django.utils.safestring import SafeString

from evaluation.data.held import Held

register = template.Library()

_PARTS = Held(40)
_INDENTATION = re.compile(r"\n\s+")


class HeldNode(template.Node):
    def __init__(self, nodelist: NodeList, line: int | None) -> None:
        self.nodelist = nodelist
        self.line = line

    def render(self, context: template.Context) -> SafeString:
        request = context["request"]
        reader = request.user if request.user.is_authenticated else request.user.link
        here = self.origin.name, self.line
        key = here, request.get_full_path(), type(reader).__name__, reader.pk
        return _PARTS.while_unwritten(key, lambda: self._set(context))

    def _set(self, context: template.Context) -> SafeString:
        # As safe as it was: only white space between its lines is gone.
        return SafeString(_INDENTATION.sub("\n", self.nodelist.render(context)))


@register.tag
def held(parser: Parser, token: Token) -> HeldNode:
    nodelist = parser.parse(("endheld",))
    parser.delete_first_token()
    if nodelist.get_nodes_by_type(CsrfTokenNode):
        raise template.TemplateSyntaxError(
            "A form that is posted is not held: its token is of one log-in."
        )
    return HeldNode(nodelist, token.lineno)
