"""evaluation.metrics.fusion by hand: two rankings of three texts, of which each lacks one."""

import pytest

from evaluation.metrics.fusion import min_max, sums_of_ranks, sums_of_scores

LEXICAL = [("a", 8.0), ("b", 4.0), ("c", 4.0)]
DENSE = [("d", 0.9), ("a", 0.4)]


def test_scores_as_they_are():
    # 0.25 of the lexical one and 0.75 of the dense one; what a ranking lacks has 0 there.
    sums = sums_of_scores([LEXICAL, DENSE], [0.25, 0.75], "raw")
    assert sums == pytest.approx({"a": 2.0 + 0.3, "b": 1.0, "c": 1.0, "d": 0.675})
    assert list(sums) == ["a", "b", "c", "d"]  # as they were met
    assert sums_of_scores([LEXICAL, DENSE], [0.0, 1.0], "raw")["b"] == 0


def test_scores_brought_to_one():
    sums = sums_of_scores([LEXICAL, DENSE], [0.25, 0.75])
    assert sums == {"a": 0.25, "b": 0.0, "c": 0.0, "d": 0.75}
    assert sums_of_scores([LEXICAL, [("d", 0.3)]]) == {"a": 1.0, "b": 0.0, "c": 0.0, "d": 1.0}


def test_ranks():
    sums = sums_of_ranks([LEXICAL, DENSE], 60, [0.5, 0.5])
    assert sums["a"] == pytest.approx(0.5 / 61 + 0.5 / 62)
    assert sums["d"] == pytest.approx(0.5 / 61)
    assert sums_of_ranks([LEXICAL], 9) == pytest.approx({"a": 0.1, "b": 1 / 11, "c": 1 / 12})


def test_nothing():
    assert sums_of_ranks([[], []]) == sums_of_scores([[], []], (), "raw") == {}
    assert min_max([]).tolist() == []
    assert min_max([("a", 2.0), ("b", 2.0)]).tolist() == [1, 1]
