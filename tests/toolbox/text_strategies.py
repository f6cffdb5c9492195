"""Hypothesis strategies for texts: all planes of Unicode, and edge cases of counting."""

import re
from typing import Any

from hypothesis import strategies as st

# Grapheme clusters, and control characters that are invisible.
CLUSTERS = [
    "e\u0301",  # a combining accent
    "👩‍🚒",  # joined emoji
    "👨‍👩‍👧‍👦",
    "👍🏽",
    "🇳🇴",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # a flag of tags
    "한",
    "\u1112\u1161\u11ab",  # the same syllable in parts
    "क्षि",
    "𝔘",
    "𠮷",
    "שלום",
    "مرحبا",
    "\u202eabc\u202c",
    "\u2067ab\u2069",
    "Z\u0351\u036b\u0343\u036a",
]
# White space of all kinds. Python and JavaScript differ on \x1c to \x1f, \x85 and \ufeff.
SPACES = [
    *" \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000\ufeff",
    *("\r\n", "\r\n\r\n", "\n\n", "\r\r", " \r\n \t\r\n "),
]
INVISIBLE = list("\u200b\u200c\u200d\u200e\u2060\xad\ufe0f\u0301")
# The neighbours of surrogates, the ends of planes, and unassigned code points.
EDGES = list(
    "\x01\x7f\x80\x9f\xff\ud7ff\ue000\ufdd0\ufffd\ufffe\uffff\U00010000\U0010ffff\U000e0001"
)
MARKUP = [
    "<p>",
    "</p></div>",
    "<!--",
    "&amp;",
    "&#13;",
    "&lt",
    "<b",
    "<script>",
    "]]>",
    "{{ x }}",
    "'\"",
]
FRAGMENTS = [
    "The ferry",
    "lost",
    "steering",
    "Dr. No",
    "B.J.",
    "a",
    "112",
    ". ",
    "! ",
    "?",
    "…”",
    "。",
]

pieces = st.sampled_from([*CLUSTERS, *SPACES, *INVISIBLE, *EDGES, *MARKUP, *FRAGMENTS])
# Everything that a database and a page can hold: no NUL, which PostgreSQL refuses, and no half of a
# surrogate pair, which is no character.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
any_text = st.lists(pieces | pieces | characters, max_size=40).map("".join)
any_words = any_text.filter(str.strip)


@st.composite
def parts(draw: Any, body: str, max_size: int = 4) -> list[dict[str, Any]]:
    """Draw spans of a text as the page sends them: non-empty, and possibly overlapping."""
    ends = st.integers(0, len(body))
    pairs = [sorted(pair) for pair in draw(st.lists(st.tuples(ends, ends), max_size=max_size))]
    return [
        {"start": start, "end": end, "quote": body[start:end]}
        for start, end in pairs
        if body[start:end].strip()
    ]


@st.composite
def marked_texts(draw: Any) -> tuple[str, list[dict[str, Any]]]:
    """Draw a text of at least one word, and spans of it."""
    body = draw(any_words)
    return body, draw(parts(body))


def span_per_word(body: str) -> tuple[str, list[dict[str, Any]]]:
    """Return a text with a span on each of its words."""
    token_spans = [match.span() for match in re.finditer(r"\S+", body)]
    return body, [{"start": a, "end": b, "quote": body[a:b]} for a, b in token_spans]


# Edge cases that are always tried, in addition to the drawn texts.
NASTY = [
    "One line.\r\nThe next of the same paragraph.\r\n\r\nAnother, after a blank line.",
    "\r\n\rA lone \r carriage return, and \n\r two.\r",
    "\u3000 \xa0Leading and trailing white space.\u2028\u2029 ",
    "👩‍🚒👩‍🚒 two of them, e\u0301 and 🇳🇴🇳🇴",
    "\x85\x85a\x85 \x1c b\x1f",
    "\ufeffA mark at the beginning, and one at the end.\ufeff",
    "אבג \u202eabc\u202c مرحبا 12.5 Dr. No.",
    "\ud7ff\ue000\U00010000\U0010ffff\uffff",
    "<p>not a paragraph</p> &amp; &#13; <!-- nor a comment --> <b>x",
]
