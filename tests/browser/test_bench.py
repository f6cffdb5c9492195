"""Span comparison of bench.task_pages: it counts the spans that were meant.

A span that only fits its own quote does not count.
"""

import pytest

from bench.task_pages import compare_spans
from tests.toolbox.browser_texts import EXPECTED_T1, T1_BODY

AT = 0  # a question with one span
GRADE, [(START, END, QUOTE)] = EXPECTED_T1[AT]


def test_spans_as_meant_are_right():
    assert compare_spans(EXPECTED_T1, EXPECTED_T1) == "11 of 11 as meant, 0 others"


@pytest.mark.parametrize("ends", [(START, END + 1), (START + 1, END), (START - 2, END - 2)])
def test_other_spans_are_wrong_though_they_fit_their_quote(ends):
    start, end = ends
    stored = EXPECTED_T1 | {AT: (GRADE, [(start, end, T1_BODY[start:end])])}
    assert compare_spans(EXPECTED_T1, stored) == "10 of 11 as meant, 1 others"


def test_right_words_at_another_question_are_wrong():
    stored = EXPECTED_T1 | {AT: (GRADE, []), 2: (1, [(START, END, QUOTE)])}
    assert compare_spans(EXPECTED_T1, stored) == "10 of 11 as meant, 1 others"


def test_missing_spans_are_counted():
    assert compare_spans(EXPECTED_T1, {}) == "0 of 11 as meant, 0 others"
