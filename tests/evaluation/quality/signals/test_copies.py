"""Pairs of raters who answer the same to the letter, by hand."""

import numpy as np
import pytest

from evaluation.quality.signals.copies import copies
from evaluation.quality.signals.profile import ENOUGH_MARKED
from tests.evaluation.quality.signals.profiles import flag_words

N = 28
HALF = [
    number % 2 for number in range(N)
]  # 14 answers of grade 0, and 14 of grade 1 with a highlight


def compared(*raters, least=ENOUGH_MARKED):
    """Return the copies of raters given as lists of (grade, start, end) by question.

    None: not answered.
    """
    rows = [
        (rater, pair, answer)
        for rater, answers in enumerate(raters)
        for pair, answer in enumerate(answers)
        if answer is not None
    ]
    return copies(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2][0] for row in rows], dtype=np.int64),
        [frozenset({row[2][1:]}) if row[2][0] else frozenset() for row in rows],
        least,
    )


def work(grades, shift=0):
    """A highlight where the grade is not 0, for every question another one."""
    return [(grade, 10 * at + shift, 10 * at + 8) for at, grade in enumerate(grades)]


def flag_texts(copies_by_rater, rater):
    """The flags that follow for a rater, the others being called by their letters."""
    pairs = tuple(("abcd"[copy.other], copy) for copy in copies_by_rater.get(rater, ()))
    return flag_words(copies=pairs)


def test_copy_is_flagged_on_both_sides():
    copies_by_rater = compared(work(HALF), work(HALF))
    ((copy,), (reverse,)) = copies_by_rater[0], copies_by_rater[1]
    # By chance: 14 of the one's 28 are 0 and meet a 0 in half of the cases, and the same for 1.
    assert (copy.n, copy.same, copy.by_chance) == (28, 28, 14)
    assert (copy.marked, copy.same_marks) == (14, 14)
    assert (copy.other, reverse.other) == (1, 0)
    assert flag_texts(copies_by_rater, 0) == [
        "same as b: 28 of 28 grades (14 by chance), 14 of 14 highlights"
    ]
    assert flag_texts(copies_by_rater, 1) == [
        "same as a: 28 of 28 grades (14 by chance), 14 of 14 highlights"
    ]


def test_careful_people_who_agree_on_grades_alone_are_not():
    assert compared(work(HALF), work(HALF, shift=2)) == {}


def test_nor_where_they_highlight_the_same_now_and_then():
    """Ten of the 14 highlights are the same, which is no copy."""
    theirs = work(HALF)[:20] + work(HALF, shift=2)[20:]
    copies_by_rater = compared(work(HALF), theirs)
    (copy,) = copies_by_rater[0]
    assert (copy.same, copy.marked, copy.same_marks) == (28, 14, 10)
    assert flag_texts(copies_by_rater, 0) == []


def test_answers_without_highlights_are_not_compared():
    assert compared(work([0] * N), work([0] * N)) == {}


def test_equal_grades_are_compared_by_highlights():
    copies_by_rater = compared(work([1] * N), work([1] * N))
    assert flag_texts(copies_by_rater, 1) == [
        "same as a: 28 of 28 grades (28 by chance), 28 of 28 highlights"
    ]


def test_nine_highlights_are_too_few():
    copies_by_rater = compared(work([1] * 9 + [0] * 19), work([1] * 9 + [0] * 19), least=1)
    assert copies_by_rater[0][0].same_marks == 9
    assert flag_texts(copies_by_rater, 0) == []


def test_copy_with_a_single_different_highlight_is_found():
    """A rule that one changed letter would escape is no rule. 19 of 20 are 95%, 18 are not."""
    answers = work([1] * 20)
    for changed, n in ((1, 1), (2, 0)):
        theirs = work([1] * changed, shift=1) + answers[changed:]
        assert len(flag_texts(compared(answers, theirs), 0)) == n


def test_grades_that_differ_are_no_copy():
    """The same highlights under other grades: two people who marked the same words."""
    changed = [(grade and 2, *marks) for grade, *marks in work([1] * N)]
    assert compared(work([1] * N), changed) == {}


def test_only_what_both_did_is_compared():
    first, second = work(HALF), work(HALF)
    copies_by_rater = compared([*first[:24], *[None] * 4], [*[None] * 4, *second[4:]], least=5)
    (copy,) = copies_by_rater[0]
    assert (copy.n, copy.marked) == (20, 10)


def test_ring_is_a_pair_of_each_two():
    copies_by_rater = compared(*[work(HALF)] * 4)
    assert {
        rater: [copy.other for copy in of_one] for rater, of_one in copies_by_rater.items()
    } == {
        0: [1, 2, 3],
        1: [0, 2, 3],
        2: [0, 1, 3],
        3: [0, 1, 2],
    }


def test_copies_of_no_answers_are_empty():
    assert compared() == {}
    assert flag_words(copies=()) == []
    with pytest.raises(ValueError, match="for each answer"):
        copies(np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64), [], 1)
