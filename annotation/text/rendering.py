"""Texts and guidelines as HTML.

The text content of a rendered text equals its body, character by character: offsets counted in the
browser are offsets in the database.
"""

from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from annotation.text.spans import paragraphs, sentences, with_edges

_MARKDOWN = MarkdownIt("commonmark").enable("table")
# An image would be fetched from another host, which then learns who reads: keep its alt text.
_MARKDOWN.add_render_rule("image", lambda _, tokens, index, *__: escape(tokens[index].content))
_TAGS = nh3.ALLOWED_TAGS - {"img"}


@lru_cache(maxsize=64)  # it stands on every page of an item, and takes half of that page's time
def guideline_html(markdown: str) -> SafeString:
    """Return a guideline's Markdown as sanitised HTML with plain formatting only.

    An image is replaced by its description.
    """
    return mark_safe(  # noqa: S308 - nh3 has cleaned it
        nh3.clean(_MARKDOWN.render(markdown), tags=_TAGS, link_rel="noopener noreferrer")
    )


def text_html(
    body: str, spans: Sequence[dict[str, Any]] = (), *, is_marked: bool = True
) -> SafeString:
    """Return a text as HTML: paragraphs of sentences, with <mark> where spans are.

    With `is_marked`, sentences can be focused. `spans` are dicts with start, end (code points),
    mark (1 to 8) and label. The marks are for readers without scripts; where scripts run they are
    removed and drawn as highlights, which unlike elements may overlap.
    """
    edges = {edge for span in spans for edge in (span["start"], span["end"])}
    out: list[str] = []
    position = 0
    first = is_marked
    for start, end in paragraphs(body):
        out += [
            plain_html(body[position:start]),
            '<p dir="auto">',
        ]  # each in the direction of its own words
        position = start
        for from_, to in sentences(body, start, end):
            out.append(plain_html(body[position:from_]))
            # One sentence is in the tab order: the arrow keys move on from there.
            out.append(
                '<span class="sentence" tabindex="0">' if first else '<span class="sentence">'
            )
            out += [_piece(body, *piece, spans) for piece in with_edges([(from_, to)], edges)]
            out.append("</span>")
            position, first = to, False
        out += [plain_html(body[position:end]), "</p>"]
        position = end
    out.append(plain_html(body[position:]))
    return mark_safe("".join(out))  # noqa: S308 - every piece of the body is escaped


def _piece(body: str, start: int, end: int, spans: Sequence[dict[str, Any]]) -> str:
    covering = [span for span in spans if span["start"] <= start and end <= span["end"]]
    if not covering:
        return plain_html(body[start:end])
    labels = escape(" ".join(dict.fromkeys(str(span["label"]) for span in covering)))
    mark = int(covering[0]["mark"])
    return f'<mark data-mark="{mark}" data-label="{labels}">{plain_html(body[start:end])}</mark>'


def plain_html(text: str) -> SafeString:
    """Return text as HTML that a browser parses back to the same text, also in attributes."""
    # A browser reads a bare carriage return as a line feed, which would shift nothing here but
    # would make the quote differ from the text that was stored.
    return mark_safe(escape(text).replace("\r", "&#13;"))  # noqa: S308 - escaped
