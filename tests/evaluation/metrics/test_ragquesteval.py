import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.ragquesteval import ragquesteval, token_f1

answers = st.text("ab .,", max_size=12)


def test_by_hand():
    # "red" of "red blue": 1 common word of 1 and 2, F1 = 2/3. "Paris" is "paris": 1. The third is
    # not answered. Recall 2/3; precision (2/3 + 1)/2 = 5/6 over the answered, and 5/9 over all.
    scores = ragquesteval(["red blue", "Paris", "1998"], ["red", "paris", None])
    assert scores.f1 == (pytest.approx(2 / 3), 1, None)
    assert (scores.recall.value, scores.recall.n) == (pytest.approx(2 / 3), 3)
    assert (scores.precision.value, scores.precision.n) == (pytest.approx(5 / 6), 2)
    assert (scores.precision_eq2.value, scores.precision_eq2.n) == (pytest.approx(5 / 9), 3)


def test_words_are_a_bag_and_not_a_set():
    # "new york new" has 3 of the 4 words of "new york new york": F1 = 6/7. As sets both are equal.
    assert token_f1("new york new", "new york new york") == pytest.approx(6 / 7)


@pytest.mark.parametrize(
    ("generated", "reference", "expected"),
    [
        ("US budget!", "the U.S. budget", 1),
        ("Theatre", "theatre", 1),
        ("two", "2", 0),
        ("the", "an", 1),
        ("", "Rome", 0),
        ("Rome", "?", 0),
    ],
)
def test_what_counts_as_the_same_word(generated, reference, expected):
    assert token_f1(generated, reference) == expected


def test_nothing_answered():
    scores = ragquesteval(["x", "y"], [None, None])
    assert (scores.recall.value, scores.precision_eq2.value) == (0, 0)
    assert scores.precision.reason == "undefined, because the generation answers no question"
    assert scores.f1 == (None, None)


def test_an_empty_answer_is_an_answer():
    assert ragquesteval(["x"], [""]).recall.value == 1


def test_no_questions():
    scores = ragquesteval([], [])
    for result in (scores.recall, scores.precision, scores.precision_eq2):
        assert (result.value, result.n) == (None, 0)
        assert result.reason == "undefined, because there are no questions"


@given(st.lists(st.tuples(answers, st.none() | answers), min_size=1, max_size=6))
def test_equation_2_is_precision_times_recall(pairs):
    scores = ragquesteval([meant for meant, _ in pairs], [answer for _, answer in pairs])
    precision = scores.precision.value or 0
    assert scores.precision_eq2.value == pytest.approx(precision * scores.recall.value)


@given(answers, answers)
def test_f1_is_symmetric(answer, other):
    assert token_f1(answer, other) == token_f1(other, answer)
    assert 0 <= token_f1(answer, other) <= 1
    assert token_f1(answer, answer) == 1


def test_refuses():
    with pytest.raises(ValueError, match="every answer"):
        ragquesteval(["x"], [])
