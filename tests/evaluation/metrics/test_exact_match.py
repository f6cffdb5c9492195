import pytest

from evaluation.metrics.exact_match import (
    LIST_MEASURES,
    holds,
    is_among,
    list_score,
    normalised,
    predictions,
)


def values(score):
    return [getattr(score, name).value for name in LIST_MEASURES]


def test_normalised():
    assert normalised("  The Old-Mill,  an   A's! ") == "oldmill as"
    # An article is a word of its own, and no part of one.
    assert normalised("Theodore and a Tan") == "theodore and tan"
    assert normalised("the") == ""


def test_text_holds_an_alias():
    assert holds("built by ida brandt", ["i brandt", "ida brandt"])
    assert not holds("built by ida", ["ida brandt"])
    assert not holds("anything", [""])


def test_answers_of_a_list():
    assert predictions("The Weir, Lock,  lock ., ") == ["weir", "lock", "lock"]
    assert predictions("  ") == []
    assert is_among(["weir"], ["dam", "weir"])
    assert not is_among(["weirs"], ["weir"])


def test_by_hand():
    # Of weir, lock, lock and sea three are right. Of three gold answers two are found.
    gold = [["weir", "dam"], ["lock"], ["bridge"]]
    score = list_score(["weir", "lock", "lock", "sea"], gold)
    assert values(score) == [3 / 4, 2 / 3, 2 / 3, pytest.approx(12 / 17), pytest.approx(12 / 17)]
    assert (score.precision.n, score.recall.n, score.recall_5.n) == (4, 3, 3)


def test_five_are_enough():
    # 6 of 8 are found: of 5 that recall-5 asks for, 5.
    gold = [[name] for name in "bcdefghi"]
    score = list_score(list("bcdefg"), gold)
    assert values(score)[:3] == [1, 6 / 8, 1]
    assert (score.f1_5.value, score.recall_5.n) == (1, 5)


def test_nothing():
    assert values(list_score([], [["weir"]])) == [0, 0, 0, 0, 0]
    assert values(list_score(["sea"], [["weir"]])) == [0, 0, 0, 0, 0]
    nobody = list_score(["weir"], [])
    assert values(nobody) == [None] * 5
    assert nobody.recall.reason == "undefined, because there is no gold answer"
