"""The bench of the task pages counts the words that were meant, not any that fit their own quote."""

import pytest

from bench.task_pages import compared
from tests.browser.material import EXPECTED_T1, T1_BODY

AT = 0  # a question with one span
GRADE, [(START, END, QUOTE)] = EXPECTED_T1[AT]


def test_words_as_they_were_meant_are_right():
    assert compared(EXPECTED_T1, EXPECTED_T1) == "11 of 11 as meant, 0 others"


@pytest.mark.parametrize("ends", [(START, END + 1), (START + 1, END), (START - 2, END - 2)])
def test_other_words_are_wrong_though_they_fit_their_own_quote(ends):
    start, end = ends
    stored = EXPECTED_T1 | {AT: (GRADE, [(start, end, T1_BODY[start:end])])}
    assert compared(EXPECTED_T1, stored) == "10 of 11 as meant, 1 others"


def test_the_right_words_at_another_question_are_wrong():
    stored = EXPECTED_T1 | {AT: (GRADE, []), 2: (1, [(START, END, QUOTE)])}
    assert compared(EXPECTED_T1, stored) == "10 of 11 as meant, 1 others"


def test_words_that_are_not_stored_are_missed():
    assert compared(EXPECTED_T1, {}) == "0 of 11 as meant, 0 others"
