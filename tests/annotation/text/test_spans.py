"""Offsets, quotes and rendering, over any Unicode text."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.text.rendering import guideline_html, text_html
from annotation.text.spans import (
    ELISION,
    SpanError,
    locate,
    locate_parts,
    paragraphs,
    sentences,
    validated_span,
)

# Everything a database and a page can hold: no NUL, no lone surrogates.
bodies = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        st.sampled_from(list("a. \n\r\t!?B😀e\u0301\u05d0\u0627&<>\"'")),
    ),
    max_size=120,
)


class TextContent(HTMLParser):
    """Text content of a page, as in the DOM."""

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.text = ""

    def handle_data(self, data):
        self.text += data.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read a file

    def handle_charref(self, name):
        code = int(name[1:], 16) if name[0] in "xX" else int(name)
        self.text += chr(code)

    def handle_entityref(self, name):
        self.text += {"amp": "&", "lt": "<", "gt": ">", "quot": '"'}[name]


@given(bodies, st.data())
def test_rendered_text_with_marks_equals_body(body, data):
    ends = st.integers(0, len(body))
    spans = [
        {"start": min(pair), "end": max(pair), "mark": 1, "label": 1}
        for pair in data.draw(st.lists(st.tuples(ends, ends), max_size=3))
    ]
    parser = TextContent()
    parser.feed(str(text_html(body, spans)))
    parser.close()
    assert parser.text == body


@given(bodies)
def test_sentences_hold_every_word_once(body):
    pieces = [piece for part in paragraphs(body) for piece in sentences(body, *part)]
    assert "".join(body[start:end] for start, end in pieces).split() or not body.strip()
    covered = "".join(body[start:end] for start, end in pieces)
    assert re.sub(r"\s", "", covered) == re.sub(r"\s", "", body)
    assert all(a[1] <= b[0] for a, b in pairwise(pieces))


@given(bodies, st.data())
def test_any_part_of_a_text_is_located_where_it_says_the_same(body, data):
    start = data.draw(st.integers(0, len(body)))
    quote = body[start : data.draw(st.integers(start, len(body)))]
    located = locate(body, quote)
    if not quote.strip():
        assert located is None
        return
    span, exact = located
    assert exact
    assert body[span.start : span.end] == quote == span.quote
    assert validated_span(body, span.start, span.end, quote) == span


def test_long_report_keeps_its_offsets_to_the_end():
    body = "Cafe\u0301 😀 \u05e9\u05dc\u05d5\u05dd was open.\r\n\r\n" * 10_000 + "The last words."
    parser = TextContent()
    parser.feed(str(text_html(body)))
    parser.close()
    assert parser.text == body
    span, exact = locate(body, "The last words.")
    assert (span.end, exact) == (len(body), True)
    assert validated_span(body, span.start, span.end, "The last words.") == span


def test_locate_ignores_only_white_space():
    body = "charges of\r\n  corruption, he said"
    span, exact = locate(body, "of corruption")
    assert (span.quote, exact) == ("of\r\n  corruption", False)
    assert locate(body, "of corruptions") is None
    assert locate(body, "  ") is None


def test_quote_of_several_parts_is_located_part_by_part():
    parts = locate_parts("one two three four", f"one{ELISION}three four")
    assert [span.quote for span, _ in parts] == ["one", "three four"]
    assert locate_parts("one two", f"one{ELISION}nine") is None


@pytest.mark.parametrize(
    ("start", "end", "quote"),
    [(0, 0, ""), (3, 1, "x"), (-1, 2, "x"), (0, 99, "x"), (0, 3, "cof"), (4, 5, " ")],
)
def test_spans_that_do_not_fit_are_refused(start, end, quote):
    with pytest.raises(SpanError):
        validated_span("Cafe\u0301 😀", start, end, quote)


def test_short_forms_do_not_end_a_sentence():
    body = 'Dr. Smith came. He said "no." B.J. Habibie left!'
    (part,) = paragraphs(body)
    assert [body[a:b] for a, b in sentences(body, *part)] == [
        "Dr. Smith came.",
        'He said "no."',
        "B.J. Habibie left!",
    ]


def test_overlapping_marks_name_both_questions():
    html = text_html(
        "one two",
        [
            {"start": 0, "end": 5, "mark": 1, "label": 1},
            {"start": 4, "end": 7, "mark": 2, "label": 2},
        ],
    )
    assert 'data-label="1 2">t</mark>' in html


def test_guideline_html_is_sanitised():
    html = guideline_html(
        "# Hi\n\n<script>alert(1)</script><img src=x onerror=alert(1)>[x](javascript:alert(1))"
    )
    assert "<h1>Hi</h1>" in html
    for bad in ("<script", "onerror", 'href="javascript'):
        assert bad not in html


@pytest.mark.parametrize(
    "markdown",
    [
        "See ![a bridge <1>](https://elsewhere.example/pixel.png) here",
        "See ![a bridge <1>][pic] here\n\n[pic]: https://elsewhere.example/pixel.png",
        'See <img alt="" src="https://elsewhere.example/pixel.png">a bridge &lt;1&gt; here',
        '<img src="//elsewhere.example/x"><picture><source srcset="https://elsewhere.example/x">'
        "</picture>See a bridge &lt;1&gt; here",
    ],
)
def test_guideline_fetches_no_picture_and_keeps_its_words(markdown):
    html = guideline_html(markdown)
    assert "elsewhere.example" not in html
    assert "<img" not in html
    assert "See a bridge &lt;1&gt; here" in html
