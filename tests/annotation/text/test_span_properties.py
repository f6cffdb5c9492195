"""Properties of spans for any Unicode text and selection: from offsets to the page."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.text.rendering import text_html
from annotation.text.spans import (
    Span,
    SpanError,
    locate,
    paragraphs,
    sentences,
    validated_span,
    with_edges,
)
from tests.annotation.text.span_material import Reading, ends_of, with_examples
from tests.toolbox.text_strategies import NASTY, any_text, parts


def in_reader(html):
    return f'<div id="text">{html}</div>'


@given(any_text, st.integers(-3, 90), st.integers(-3, 90), st.data())
def test_span_is_valid_only_where_quote_matches(body, start, end, data):
    slice_quote = body[start:end] if 0 <= start <= end else ""
    quote = data.draw(
        st.sampled_from([slice_quote, slice_quote[1:], slice_quote + "x", slice_quote.strip()])
        | any_text
    )
    fits = 0 <= start < end <= len(body) and body[start:end] == quote and bool(quote.strip())
    if fits:
        assert validated_span(body, start, end, quote) == Span(start, end, quote)
    else:
        with pytest.raises(SpanError):
            validated_span(body, start, end, quote)


@given(body=any_text, data=st.data())
def test_quote_with_joined_white_space_is_located(body, data):
    start, end = data.draw(ends_of(body))
    quote = " ".join(body[start:end].split())
    located = locate(body, quote)
    if not quote:
        assert located is None
        return
    span, _ = located
    assert validated_span(body, span.start, span.end, span.quote) == span
    assert span.quote.split() == quote.split()


@given(st.lists(st.integers(0, 60), max_size=12), st.lists(st.integers(-5, 70), max_size=12))
def test_with_edges_keeps_covered_offsets(bounds, edges):
    pieces = list(pairwise(sorted(set(bounds))))
    cut = with_edges(pieces, edges)
    covered = [offset for start, end in pieces for offset in range(start, end)]
    assert [offset for start, end in cut for offset in range(start, end)] == covered
    assert not any(start < edge < end for start, end in cut for edge in edges)


@given(body=any_text)
@with_examples(body=NASTY)
def test_sentences_hold_all_that_is_not_white_space_and_never_overlap(body):
    pieces = [piece for part in paragraphs(body) for piece in sentences(body, *part)]
    offsets = [offset for start, end in pieces for offset in range(start, end)]
    assert offsets == sorted(set(offsets))
    assert all(body[offset].isspace() for offset in set(range(len(body))) - set(offsets))
    for start, end in pieces:
        assert body[start:end] == body[start:end].strip() != ""


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_only_a_blank_line_ends_a_paragraph_whatever_ends_a_line(ends):
    body = ends.join(["One line", "and the next.", " \t", "", "Another.", ""])
    assert [body[start:end].split() for start, end in paragraphs(body)] == [
        ["One", "line", "and", "the", "next."],
        ["Another."],
    ]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_paragraph_includes_indent_of_first_line(ends):
    body = ends.join(["", " ", "\tOne", "", " \t ", "    two", "\tthree", ""])
    assert [body[start:end].rstrip("\r\n") for start, end in paragraphs(body)] == [
        "\tOne",
        f"    two{ends}\tthree",
    ]


@pytest.mark.parametrize("body", ["A. " * 60_000, "." * 200_000 + "x", "." + ")" * 200_000])
def test_long_text_is_split_without_backtracking(body):
    """Without a measurement: a rule that backtracks would take minutes."""
    assert "".join(body[slice(*piece)] for piece in sentences(body, 0, len(body))).split()


@given(body=any_text)
@with_examples(body=NASTY)
def test_rendered_text_content_equals_body(body):
    assert Reading(in_reader(text_html(body))).text == body


@given(body=any_text, data=st.data())
def test_marks_cover_exactly_the_spans(body, data):
    spans = [
        {**span, "mark": number, "label": number}
        for number, span in enumerate(data.draw(parts(body)), start=1)
    ]
    page = Reading(in_reader(text_html(body, spans)))
    assert page.text == body
    for offset, (sign, labels, sentence) in enumerate(page.signs):
        covering = [str(span["label"]) for span in spans if span["start"] <= offset < span["end"]]
        # Between sentences there is white space alone, and no mark.
        assert list(labels) == (covering if sentence else []), (offset, sign)
        assert sentence or sign.isspace()
