"""Any Unicode text, any selection: from offsets to the page."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.text.rendering import text_html
from annotation.text.spans import (
    Span,
    SpanError,
    checked,
    locate,
    paragraphs,
    sentences,
    with_edges,
)
from tests.annotation.text.span_material import Reading, each, ends_of
from tests.any_text import NASTY, any_text, parts


def in_reader(html):
    return f'<div id="text">{html}</div>'


@given(any_text, st.integers(-3, 90), st.integers(-3, 90), st.data())
def test_a_span_is_accepted_exactly_where_the_text_says_its_quote(body, start, end, data):
    there = body[start:end] if 0 <= start <= end else ""
    quote = data.draw(st.sampled_from([there, there[1:], there + "x", there.strip()]) | any_text)
    fits = 0 <= start < end <= len(body) and body[start:end] == quote and bool(quote.strip())
    if fits:
        assert checked(body, start, end, quote) == Span(start, end, quote)
    else:
        with pytest.raises(SpanError):
            checked(body, start, end, quote)


@given(body=any_text, data=st.data())
def test_words_are_found_whatever_white_space_a_copy_has_lost(body, data):
    start, end = data.draw(ends_of(body))
    quote = " ".join(body[start:end].split())
    located = locate(body, quote)
    if not quote:
        assert located is None
        return
    span, _ = located
    assert checked(body, span.start, span.end, span.quote) == span
    assert span.quote.split() == quote.split()


@given(st.lists(st.integers(0, 60), max_size=12), st.lists(st.integers(-5, 70), max_size=12))
def test_cutting_at_edges_moves_nothing(bounds, edges):
    pieces = list(pairwise(sorted(set(bounds))))
    cut = with_edges(pieces, edges)
    covered = [place for start, end in pieces for place in range(start, end)]
    assert [place for start, end in cut for place in range(start, end)] == covered
    assert not any(start < edge < end for start, end in cut for edge in edges)


@given(body=any_text)
@each(body=NASTY)
def test_sentences_hold_all_that_is_not_white_space_and_never_overlap(body):
    held = [piece for part in paragraphs(body) for piece in sentences(body, *part)]
    places = [place for start, end in held for place in range(start, end)]
    assert places == sorted(set(places))
    assert all(body[place].isspace() for place in set(range(len(body))) - set(places))
    for start, end in held:
        assert body[start:end] == body[start:end].strip() != ""


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_only_a_blank_line_ends_a_paragraph_whatever_ends_a_line(ends):
    body = ends.join(["One line", "and the next.", " \t", "", "Another.", ""])
    assert [body[start:end].split() for start, end in paragraphs(body)] == [
        ["One", "line", "and", "the", "next."],
        ["Another."],
    ]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_what_indents_the_first_line_of_a_paragraph_is_part_of_it(ends):
    body = ends.join(["", " ", "\tOne", "", " \t ", "    two", "\tthree", ""])
    assert [body[start:end].rstrip("\r\n") for start, end in paragraphs(body)] == [
        "\tOne",
        f"    two{ends}\tthree",
    ]


@pytest.mark.parametrize("body", ["A. " * 60_000, "." * 200_000 + "x", "." + ")" * 200_000])
def test_a_long_strange_text_is_cut_in_one_go(body):
    """Not a measurement: with a rule that looks back from each place these would take minutes."""
    assert "".join(body[slice(*piece)] for piece in sentences(body, 0, len(body))).split()


@given(body=any_text)
@each(body=NASTY)
def test_the_reader_says_exactly_the_text(body):
    assert Reading(in_reader(text_html(body))).text == body


@given(body=any_text, data=st.data())
def test_marks_cover_exactly_the_spans(body, data):
    spans = [
        {**span, "mark": number, "label": number}
        for number, span in enumerate(data.draw(parts(body)), start=1)
    ]
    page = Reading(in_reader(text_html(body, spans)))
    assert page.text == body
    for place, (sign, labels, sentence) in enumerate(page.signs):
        over = [str(span["label"]) for span in spans if span["start"] <= place < span["end"]]
        # Between sentences there is white space alone, and no mark.
        assert list(labels) == (over if sentence else []), (place, sign)
        assert sentence or sign.isspace()
