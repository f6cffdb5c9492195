"""Texts as hypothesis draws them: every plane of Unicode, and the places where counting goes wrong."""

import re
from typing import Any

from hypothesis import strategies as st

# What a letter that a reader sees may be made of, and what no reader sees at all.
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
# The neighbours of surrogates, the ends of planes, and signs that are assigned to nothing.
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
WORDS = ["The ferry", "lost", "steering", "Dr. No", "B.J.", "a", "112", ". ", "! ", "?", "…”", "。"]

pieces = st.sampled_from([*CLUSTERS, *SPACES, *INVISIBLE, *EDGES, *MARKUP, *WORDS])
# Everything that a database and a page can hold: no NUL, which PostgreSQL refuses, and no half of a
# surrogate pair, which is no character.
letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
any_text = st.lists(pieces | pieces | letters, max_size=40).map("".join)
any_words = any_text.filter(str.strip)


@st.composite
def parts(draw: Any, body: str, max_size: int = 4) -> list[dict[str, Any]]:
    """Spans of a text as the page sends them: each marks at least one word, and they may overlap."""
    ends = st.integers(0, len(body))
    pairs = [sorted(pair) for pair in draw(st.lists(st.tuples(ends, ends), max_size=max_size))]
    return [
        {"start": start, "end": end, "quote": body[start:end]}
        for start, end in pairs
        if body[start:end].strip()
    ]


@st.composite
def marked_texts(draw: Any) -> tuple[str, list[dict[str, Any]]]:
    """A text of at least one word, and spans of it."""
    body = draw(any_words)
    return body, draw(parts(body))


def each_word(body: str) -> tuple[str, list[dict[str, Any]]]:
    """A text with a span on each of its words."""
    words = [match.span() for match in re.finditer(r"\S+", body)]
    return body, [{"start": a, "end": b, "quote": body[a:b]} for a, b in words]


# Bodies that have to be tried each time, whatever is drawn.
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
