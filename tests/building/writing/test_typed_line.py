"""A typed question and its answer in one string: read as it should be, or not at all."""

import contextlib

import pytest
from hypothesis import given, settings

from building.writing.typed_line import Answered, LineError, read_answered, read_context
from tests.toolbox.text_strategies import any_text


def test_answered_line_is_parsed():
    wrote = " <<fact_single>> What does the heron eat? <a> Grey eels.\n"
    assert read_answered(wrote) == Answered("fact_single", "What does the heron eat?", "Grey eels.")
    # Without blanks it is the same, and less than signs are words like any others.
    assert read_answered("<<summary>>Is 1 < 2?<a>Yes: 2 > 1.") == Answered(
        "summary", "Is 1 < 2?", "Yes: 2 > 1."
    )


@pytest.mark.parametrize(
    ("wrote", "message"),
    [
        ("What? <a> That.", "does not begin with <<fact_single>>, <<summary>>, <<reasoning>>"),
        ("", "does not begin with"),
        ("<<>> What? <a> That.", "begins with <<>>, which is none of <<fact_single>>"),
        ("<<other>> What? <a> That.", "begins with <<other>>, which is none of"),
        ("<<summary>> ", "has nothing after <<summary>>"),
        ("<<summary>> What? That.", "has 0 times <a>, and one was expected"),
        ("<<summary>> What? <a> That. <a> This.", "has 2 times <a>, and one was expected"),
        ("<<summary>> <a> That.", "has no question before <a>"),
        ("<<summary>> What? <a>", "has no answer after <a>"),
        ("<<summary>> What? <a> That. <<summary>>", "has a second type"),
    ],
)
def test_any_other_form_is_refused(wrote, message):
    with pytest.raises(LineError) as refused:
        read_answered(wrote)
    assert str(refused.value).startswith(message)


def test_context_line_is_parsed():
    assert read_context("<<reasoning>> A mill <a> burnt.") == ("reasoning", "A mill <a> burnt.")
    with pytest.raises(LineError):
        read_context("A mill burnt.")


@settings(max_examples=40)
@given(any_text)
def test_arbitrary_text_is_parsed_or_refused(text):
    for read in (read_context, read_answered):
        with contextlib.suppress(LineError):
            assert read(text)
