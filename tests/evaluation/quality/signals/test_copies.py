"""Pairs of raters with identical answers, by hand and among simulated honest raters."""

import numpy as np
import pytest

from bench.copies import campaign, detects, with_copycat
from evaluation.quality.signals import copies as search
from evaluation.quality.signals.copies import copies
from tests.evaluation.quality.signals.profiles import flag_words

N = 28
HALF = [
    number % 2 for number in range(N)
]  # 14 answers of grade 0, and 14 of grade 1 with a highlight


def compared(*raters):
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
    """9 of 14: with a probability of 0.4 at most, 9 or more are no surprise (0.058)."""
    assert compared(work(HALF), work(HALF)[:18] + work(HALF, shift=2)[18:]) == {}


def test_answers_without_highlights_are_not_compared():
    assert compared(work([0] * N), work([0] * N)) == {}


def test_equal_grades_are_compared_by_highlights():
    copies_by_rater = compared(work([1] * N), work([1] * N))
    assert flag_texts(copies_by_rater, 1) == [
        "same as a: 28 of 28 grades (28 by chance), 28 of 28 highlights"
    ]


@pytest.mark.parametrize(("n", "expected"), [(4, 0), (5, 2)])
def test_four_identical_highlights_are_too_few(n, expected):
    answers = work([1] * n + [0] * (N - n))
    assert len(compared(answers, answers)) == expected


def test_copy_with_some_other_highlights_detects():
    """A rule that one changed letter would escape is no rule."""
    answers = work([1] * 20)
    ((copy,), _) = compared(answers, work([1] * 4, shift=1) + answers[4:]).values()
    assert (copy.same_marks, copy.marked) == (16, 20)


def test_highlights_of_one_rater_alone_are_not_evidence():
    ((copy,), _) = compared(work([1] * N), work(HALF)).values()
    assert (copy.n, copy.same, copy.marked, copy.same_marks) == (28, 14, 14, 14)


def test_grades_that_differ_are_no_copy():
    """The same highlights under other grades: two people who marked the same words."""
    changed = [(grade and 2, *marks) for grade, *marks in work([1] * N)]
    assert compared(work([1] * N), changed) == {}


def test_only_what_both_did_is_compared():
    first, second = work(HALF), work(HALF)
    copies_by_rater = compared([*first[:24], *[None] * 4], [*[None] * 4, *second[4:]])
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


@pytest.mark.parametrize(("n", "expected"), [(4, False), (10, True), (20, True)])
def test_copycat_among_honest_raters_detects_from_ten_highlighted_answers(n, expected):
    """All answers have highlights; raters are as alike as the most alike of the real study."""
    honest = [campaign(seed, 60, search.CHANCE, answerable=1) for seed in range(3)]
    assert [detects(with_copycat(answers, n)) for answers in honest] == [expected] * 3


def test_copycat_of_twenty_answers_detects_if_half_are_highlighted():
    honest = [campaign(seed, 60, search.CHANCE) for seed in range(10)]
    assert sum(detects(with_copycat(answers, 20)) for answers in honest) >= 9


@pytest.mark.parametrize("chance", [search.CHANCE, 0.3])
def test_honest_raters_are_not_found(chance):
    """Of 40 campaigns 2 may have a pair that is found: 0.05 each at most."""
    assert sum(bool(campaign(seed, 20, chance).copies()) for seed in range(40)) <= 2


def test_comparisons_grow_with_the_raters_and_not_with_their_pairs(monkeypatch):
    """Three raters answer each item: a rater has at most two others for each of 16 items."""
    compared_pairs = []
    at = search._at

    def counted(matrix, row, column):
        compared_pairs.append(len(row))
        return at(matrix, row, column)

    monkeypatch.setattr(search, "_at", counted)
    for n_raters in (100, 200, 400):
        compared_pairs.clear()
        campaign(1, n_raters, search.CHANCE).copies()
        assert sum(compared_pairs) <= 16 * n_raters


def test_copies_of_no_answers_are_empty():
    assert compared() == {}
    assert flag_words(copies=()) == []
    with pytest.raises(ValueError, match="for each answer"):
        copies(np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64), [])
