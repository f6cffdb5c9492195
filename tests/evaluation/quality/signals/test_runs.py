from itertools import groupby, product
from math import prod

import pytest

from evaluation.quality.signals.runs import chance_of_run, straight


def chance_by_enumeration(shares, n, length):
    """The same probability from every sequence there is."""
    total = 0.0
    for draws in product(range(len(shares)), repeat=n):
        if max(len(list(run)) for _, run in groupby(draws)) >= length:
            total += prod(shares[value] for value in draws)
    return total


@pytest.mark.parametrize("shares", [(0.3, 0.7), (0.2, 0.3, 0.5), (1.0,)])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_chance_is_that_of_all_sequences(shares, n):
    for length in range(1, n + 2):
        chance = chance_of_run(shares, n, length)
        assert chance == pytest.approx(chance_by_enumeration(shares, n, length), abs=1e-12)


def test_by_hand():
    # Three fair coins: a run of three in 2 of 8, of two or more in 6 of 8.
    assert chance_of_run((0.5, 0.5), 3, 3) == pytest.approx(2 / 8)
    assert chance_of_run((0.5, 0.5), 3, 2) == pytest.approx(6 / 8)


def test_longest_run_and_the_most_frequent_grade():
    run = straight([0, 1, 1, 0, 0, 0, 1])
    assert (run.n, run.length, run.start, run.grade) == (7, 3, 3, 0)
    assert (run.top_grade, run.top.value) == (0, pytest.approx(4 / 7))


def test_single_grade_has_share_and_chance_of_one():
    run = straight([2] * 30)
    assert (run.length, run.grade) == (30, 2)
    assert (run.top.value, run.chance.value) == (1, 1)


def test_long_run_among_mixed_answers_is_rare():
    assert straight([0, 1] * 20 + [0] * 20 + [1] * 20).chance.value < 0.001


def test_run_of_no_answers_is_undefined():
    run = straight([])
    assert (run.n, run.length, run.grade) == (0, 0, None)
    assert run.chance.reason == run.top.reason == "undefined, because there are no answers"
