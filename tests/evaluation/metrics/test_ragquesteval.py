import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.ragquesteval import bag_f1, ragquesteval
from evaluation.metrics.tokenizers import tokens_by_name

answers = st.text("ab .,", max_size=12)


def test_by_hand():
    # "red" of "red blue": 1 common word of 1 and 2, F1 = 2/3. "Paris" is "paris": 1. The third is
    # not answered. Recall 2/3; precision (2/3 + 1)/2 = 5/6 over the answered, and 5/9 over all.
    scores = ragquesteval(["red blue", "Paris", "1998"], ["red", "paris", None])
    assert scores.f1 == (pytest.approx(2 / 3), 1, None)
    assert (scores.recall.value, scores.recall.n) == (pytest.approx(2 / 3), 3)
    assert (scores.precision.value, scores.precision.n) == (pytest.approx(5 / 6), 2)
    assert (scores.precision_eq2.value, scores.precision_eq2.n) == (pytest.approx(5 / 9), 3)


def token_f1(generated, reference):
    return ragquesteval([reference], [generated]).f1[0]


def test_token_f1_counts_a_bag_and_not_a_set():
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
def test_token_f1_normalises_words(generated, reference, expected):
    assert token_f1(generated, reference) == expected


def test_generation_without_answers():
    scores = ragquesteval(["x", "y"], [None, None])
    assert (scores.recall.value, scores.precision_eq2.value) == (0, 0)
    assert scores.precision.reason == "undefined, because the generation answers no question"
    assert scores.f1 == (None, None)


def test_empty_answer_is_an_answer():
    assert ragquesteval(["x"], [""]).recall.value == 1


def test_empty_list_of_questions():
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
def test_f1_is_symmetric(answer, reference):
    assert token_f1(answer, reference) == token_f1(reference, answer)
    assert 0 <= token_f1(answer, reference) <= 1
    assert token_f1(answer, answer) == 1


def test_refuses():
    with pytest.raises(ValueError, match="every answer"):
        ragquesteval(["x"], [])


CANNOT = None


def test_by_the_authors_code():
    # The reference cannot answer the second: it is dropped. Of the other two one is answered, exactly.
    scores = ragquesteval(["red", CANNOT, "blue"], ["red", "green", CANNOT], rules="authors")
    assert (scores.recall.value, scores.recall.n) == (0.5, 2)
    assert (scores.precision.value, scores.precision.n) == (1, 1)
    assert scores.precision_eq2.value == 0.5
    assert scores.f1 == (1, None, None)


@pytest.mark.parametrize(
    ("references", "generated"), [([], []), ([CANNOT], ["red"]), (["red"], [CANNOT])]
)
def test_undefined_value_is_0_under_authors_rules(references, generated):
    scores = ragquesteval(references, generated, rules="authors")
    assert (scores.precision.value, scores.recall.value) == (0, 0)


def test_tokens_are_chosen():
    # 陕西 / 西安市 and 西安市: 1 of 2 and 1 of 1: F1 = 2/3. As English words they are two unlike ones.
    answers_by_side = {"references": ["西安市"], "generated": ["陕西西安市"]}
    assert ragquesteval(**answers_by_side).precision.value == 0
    cut = tokens_by_name("jieba").cutter()
    assert ragquesteval(**answers_by_side, cut=cut).precision.value == pytest.approx(2 / 3)
    # 5 of 5 characters for 3: 2 x 3 / 8.
    characters = tokens_by_name("characters").cutter()
    assert ragquesteval(**answers_by_side, cut=characters).precision.value == pytest.approx(6 / 8)


def test_long_answers_are_bags_too():
    # 40 and 50 words of which 40 are common: 2 x 40 / 90.
    long, longer = ["x"] * 40, ["x"] * 50
    assert bag_f1(long, longer) == bag_f1(longer, long) == pytest.approx(80 / 90)
    assert bag_f1(["y"] * 40, long) == 0


def test_other_rules_are_refused():
    with pytest.raises(ValueError, match="paper, authors"):
        ragquesteval([], [], rules="mine")
