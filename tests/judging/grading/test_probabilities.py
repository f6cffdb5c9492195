"""Probabilities of grades from log-probabilities; expected values are computed by hand."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.grading.probabilities import Labels, from_label_ids, from_logprobs

GRADES = (0, 1, 2, 3, 4, 5)
IDS = (15, 16, 17, 18, 19, 20)
NOTHING = Labels((None,) * 6, None, None)
LN_HALF, LN_QUARTER, LN_EIGHTH = math.log(0.5), math.log(0.25), math.log(0.125)


def test_by_token_id_all_given() -> None:
    # 0, 0, 1/8, 1/4, 1/2, 0: mass 7/8; (2/8 + 3/4 + 4/2) / (7/8) = 3 / (7/8) = 24/7.
    by_id = dict(
        zip(IDS, [-math.inf, -math.inf, LN_EIGHTH, LN_QUARTER, LN_HALF, -800.0], strict=True)
    )
    labels = from_label_ids(by_id, IDS, GRADES)
    assert labels.probabilities == pytest.approx((0, 0, 0.125, 0.25, 0.5, 0))
    assert labels.label_mass == pytest.approx(7 / 8)
    assert labels.expected_grade == pytest.approx(24 / 7)


def test_missing_logprob_is_none_and_not_0() -> None:
    # 3 at 1/4 and 4 at 1/2: mass 3/4; (3/4 + 4/2) / (3/4) = 11/3.
    labels = from_label_ids({18: LN_QUARTER, 19: LN_HALF}, IDS, GRADES)
    assert labels.probabilities == pytest.approx((None, None, None, 0.25, 0.5, None))
    assert labels.label_mass == pytest.approx(0.75)
    assert labels.expected_grade == pytest.approx(11 / 3)


def test_other_tokens_are_passed_over() -> None:
    labels = from_label_ids({18: LN_HALF, 999: LN_HALF}, IDS, GRADES)
    assert labels.label_mass == pytest.approx(0.5)
    labels = from_logprobs({"3": LN_HALF, "The": LN_HALF, "33": -1.0, "3.": -1.0}, GRADES)
    assert labels.label_mass == pytest.approx(0.5)


def test_grades_are_in_ascending_order_whatever_the_order_of_the_ids() -> None:
    labels = from_label_ids({20: LN_HALF, 15: LN_QUARTER}, (20, 15), (5, 0))
    assert labels.probabilities == pytest.approx((0.25, 0.5))
    # (0/4 + 5/2) / (3/4) = 10/3
    assert labels.expected_grade == pytest.approx(10 / 3)


@pytest.mark.parametrize(
    "by_id",
    [{}, {999: -0.1}, {18: None}, {18: math.nan}, {18: -9999.0}, {18: -9999.0, 19: math.nan}],
)
def test_unknown_logprobs_give_no_labels(by_id: Mapping[int, float | None]) -> None:
    assert from_label_ids(by_id, IDS, GRADES) == NOTHING


def test_zero_mass_has_no_expected_grade() -> None:
    # -inf says that the probability is 0; exp(-800) is 0 in floating point. 0/0 is no grade.
    labels = from_label_ids({18: -math.inf, 19: -800.0}, IDS, GRADES)
    assert labels == Labels((None, None, None, 0.0, 0.0, None), None, 0.0)


def test_sign_for_no_value_is_no_value() -> None:
    by_id = {15: math.nan, 16: None, 17: -9999.0, 18: LN_HALF}
    labels = from_label_ids(by_id, IDS, GRADES)
    assert labels.probabilities == pytest.approx((None, None, None, 0.5, None, None))
    assert labels.expected_grade == 3


def test_rounding_above_certainty_is_certainty() -> None:
    labels = from_label_ids({18: 1e-6, 19: 0.0}, IDS, GRADES)
    assert labels.probabilities[3:5] == (1.0, 1.0)
    assert labels.label_mass == 1.0
    assert labels.expected_grade == 3.5


def test_rounding_takes_no_mean_out_of_the_rubric() -> None:
    # In floating point 5 p / p is 5.000000000000001 for this p.
    p = math.exp(math.log(0.205))
    assert 5 * p / p > 5
    assert from_label_ids({20: math.log(p)}, IDS, GRADES).expected_grade == 5


@pytest.mark.parametrize("logprobs", [{"3": LN_HALF}, {"0": 0.0}, {"3": LN_HALF, "5": -800.0}])
def test_expected_grade_of_one_grade_is_a_float(
    logprobs: dict[str, float],
) -> None:
    # The mean of one grade is that grade: 3.0 beside 3.5, as PostgreSQL takes no list of both kinds.
    assert isinstance(from_logprobs(logprobs, GRADES).expected_grade, float)


@pytest.mark.parametrize("logprob", [0.5, 17.25, math.inf])
def test_values_that_are_no_log_probabilities_are_not_believed(logprob: float) -> None:
    # A server that sends logits also sends negative ones, which alone would pass.
    assert from_label_ids({18: logprob, 19: -1.0}, IDS, GRADES) == NOTHING
    assert from_logprobs({"3": -1.0, "The": logprob}, GRADES) == NOTHING


def test_as_many_ids_as_grades() -> None:
    with pytest.raises(ValueError):
        from_label_ids({}, IDS[:5], GRADES)


@pytest.mark.parametrize("token", ["3", " 3", "\n3", "3 ", "Ġ3", "▁3", b"3", b" 3"])
def test_grade_is_known_with_the_space_before_it(token: str | bytes) -> None:
    labels = from_logprobs([(token, LN_HALF)], GRADES)
    assert labels.probabilities == pytest.approx((None, None, None, 0.5, None, None))


@pytest.mark.parametrize(
    "token", ["", " ", "three", "３", "٣", "③", "03", "3.", "-3", "13", "<3>", b"\xff", b"\xe2\x81"]
)
def test_other_tokens_are_no_grade(token: str | bytes) -> None:
    assert from_logprobs([(token, LN_HALF)], GRADES) == NOTHING


def test_ways_of_writing_a_grade_are_added_up() -> None:
    # "3" 1/2 and " 3" 1/8: 5/8. "4" 1/4. Mass 7/8; (15/8 + 1) / (7/8) = 23/7.
    tokens = [("3", LN_HALF), (" 3", LN_EIGHTH), ("4", LN_QUARTER), ("Grade", -5.0)]
    for way in (tokens, dict(tokens), iter(tokens)):
        labels = from_logprobs(way, GRADES)
        assert labels.probabilities == pytest.approx((None, None, None, 0.625, 0.25, None))
        assert labels.label_mass == pytest.approx(7 / 8)
        assert labels.expected_grade == pytest.approx(23 / 7)


def test_tokens_of_one_string_are_added_up() -> None:
    # A vocabulary may hold "3" twice, once as a piece and once as a byte: 1/2 + 1/4.
    labels = from_logprobs([("3", LN_HALF), ("3", LN_QUARTER)], GRADES)
    assert labels.probabilities[3] == pytest.approx(0.75)


def test_spelling_without_a_value_leaves_the_other() -> None:
    labels = from_logprobs([("3", math.nan), (" 3", LN_HALF), ("4", -math.inf)], GRADES)
    assert labels.probabilities == pytest.approx((None, None, None, 0.5, 0.0, None))


def test_sum_above_1_by_rounding_is_1() -> None:
    labels = from_logprobs([("3", 0.0), (" 3", -12.0)], GRADES)
    assert labels.probabilities[3] == 1.0
    assert labels.label_mass == 1.0


def test_grade_that_begins_another_is_not_known_by_its_string() -> None:
    # The token "1" may be a grade of 1 or the first half of 10; by id there is no doubt.
    grades = tuple(range(11))
    labels = from_logprobs({"1": LN_HALF, "2": LN_QUARTER, "10": LN_EIGHTH}, grades)
    assert labels.probabilities[1] is None
    assert labels.probabilities[2] == pytest.approx(0.25)
    assert labels.probabilities[10] == pytest.approx(0.125)
    assert from_label_ids({16: LN_HALF}, (16, 940), (1, 10)).probabilities[0] == pytest.approx(0.5)


logprobs = st.floats(max_value=0) | st.sampled_from([math.nan, -math.inf, -9999.0, None])
token_texts = st.sampled_from(["0", "1", " 1", "2", "5", "Ġ5", "A", "", "10", "٣"]) | st.text(
    max_size=3
)


@given(
    st.lists(
        st.tuples(
            token_texts | token_texts.map(lambda word: word.encode("utf-8", "replace")), logprobs
        )
    )
)
def test_any_tokens_give_probabilities(tokens: list[tuple[str | bytes, float | None]]) -> None:
    labels = from_logprobs(tokens, GRADES)
    assert len(labels.probabilities) == len(GRADES)
    values = [value for value in labels.probabilities if value is not None]
    assert all(0 <= value <= 1 for value in values)
    assert (labels.label_mass is None) == (not values)
    if labels.label_mass is not None:
        assert labels.label_mass == pytest.approx(min(1.0, sum(values)))
    assert (labels.expected_grade is None) == (not labels.label_mass)
    if labels.expected_grade is not None:
        assert isinstance(labels.expected_grade, float)
        assert 0 <= labels.expected_grade <= 5


@given(st.dictionaries(st.sampled_from([*IDS, 999]), logprobs))
def test_ids_and_strings_agree(by_id: dict[int, float | None]) -> None:
    strings = {str(GRADES[IDS.index(i)]) if i in IDS else "The": p for i, p in by_id.items()}
    assert from_logprobs(strings, GRADES) == from_label_ids(by_id, IDS, GRADES)
