"""Token of the grade among the generated ones; expected values are computed by hand."""

import pytest

from judging.grading.parse import parse
from judging.grading.probabilities import Labels, at_grade
from judging.llm.errors import Failure
from tests.judging.grading.generated import Generated

GRADES = (0, 1, 2, 3, 4, 5)
TO_TEN = tuple(range(11))
IDS = (15, 16, 17, 18, 19, 20)
OF_4 = {"4": 0.75, "3": 0.25}


def certain(*tokens: str | bytes) -> list[tuple[str | bytes, dict[str, float]]]:
    """Tokens of other words, among whose alternatives are digits that are no grade."""
    return [(token, {"1": 0.5, "0": 0.2}) for token in tokens]


def labels_of(
    text: str, parser: str, *positions: tuple, grades=GRADES, ids=(), finish="stop"
) -> Labels | None:
    parsed = parse(parser, text, grades, finish_reason=finish, max_tokens=500)
    assert parsed.grade is not None, parsed
    return at_grade(Generated(*positions), text, parsed.place, parsed.grade, grades, ids)


@pytest.mark.parametrize(
    ("text", "parser", "before", "token", "ending"),
    [
        ("4", "integer-1", [], "4", []),
        (" 4", "integer-1", [], " 4", ["<|im_end|>"]),
        ("Rating: 4", "integer-1", ["Rating", ":"], " 4", ["</s>"]),
        ("4", "integer-1", ["1", ")", " the", " 4", " ships", "."], "4", []),
        (
            "<think>4 ships</think>\n4",
            "after-think-1",
            ["<think>", "4", " ships</think>\n"],
            "4",
            [],
        ),
        ('4\n"4 ships"', "evidence-1", [], "4", ["\n", '"', "4", " ships", '"']),
        ("It names 3 of 7. Rating: 4", "reason-2", ["It names 3 of 7.", " Rating", ":"], " 4", []),
        (
            '{"reason": "3", "rating": 4}',
            "grade-json-2",
            ['{"reason": "3", "rating"', ":"],
            " 4",
            ["}"],
        ),
        ('{"rating":"4"}', "grade-json-2", ['{"rating', '":"'], "4", ['"}']),
        ("Grüße 🚢: 4", "first-digit-1", ["Gr", "üße ", b"\xf0\x9f", b"\x9a\xa2", ":"], " 4", []),
    ],
)
def test_labels_are_those_at_the_token_of_the_grade(text, parser, before, token, ending) -> None:
    labels = labels_of(text, parser, *certain(*before), (token, OF_4), *certain(*ending))
    assert labels == Labels((None, None, None, 0.25, 0.75, None), 3.75, 1.0)


def test_token_that_holds_more_than_the_grade_is_compared_with_its_like() -> None:
    shares = {':"4"': 0.6, ':"3"': 0.2, ":4": 0.1, "4": 0.1}
    labels = labels_of(
        '{"grade":"4"}', "grade-json-2", *certain('{"grade"'), (':"4"', shares), ("}", {})
    )
    assert labels
    assert labels.probabilities == pytest.approx((None, None, None, 0.2, 0.6, None))


def test_grade_of_two_tokens_has_the_product_of_their_probabilities() -> None:
    # 10: 0.6 * 0.5; 9 alone: 0.3; what begins with 1 and is not 10 is not known.
    first, second = ("1", {"1": 0.6, "9": 0.3}), ("0", {"0": 0.5, "</s>": 0.5})
    labels = labels_of("10", "integer-1", first, second, grades=TO_TEN)
    assert labels
    assert labels.probabilities[10] == pytest.approx(0.3)
    assert labels.probabilities[9] == pytest.approx(0.3)
    assert labels.probabilities[1] is None
    assert labels.expected_grade == pytest.approx((10 * 0.3 + 9 * 0.3) / 0.6)


def test_grade_whose_digits_begin_another_has_the_probability_that_it_ends_there() -> None:
    # 1: 0.8, unless a 0 follows: 0.8 * (1 - 0.25).
    first, second = ("1", {"1": 0.8, "2": 0.1}), ("</s>", {"</s>": 0.75, "0": 0.25})
    labels = labels_of("1", "integer-1", first, second, grades=TO_TEN)
    assert labels
    assert labels.probabilities[1] == pytest.approx(0.6)
    single = labels_of("1", "integer-1", first, grades=TO_TEN)
    assert single
    assert single.probabilities[1] is None
    assert not single.is_of(1, TO_TEN)


def test_token_ids_are_looked_for_by_the_id_of_the_grade() -> None:
    shares = {"token_id:19": 0.75, "token_id:18": 0.25}
    reasoning = [("token_id:19", {"token_id:15": 1.0}), ("token_id:7", {"token_id:16": 1.0})]
    end = ("token_id:2", {"token_id:15": 0.1})
    labels = labels_of("4", "integer-1", *reasoning, ("token_id:19", shares), end, ids=IDS)
    assert labels == Labels((None, None, None, 0.25, 0.75, None), 3.75, 1.0)
    # Of a longer reply nobody can tell which of two tokens is the grade.
    more = [*reasoning, ("token_id:19", shares), end]
    assert labels_of("4 ships. Rating: 4", "reason-2", *more, ids=IDS) is None


@pytest.mark.parametrize(
    "tokens",
    [[], ["so", " it", " is"], ["4", " ships", " sank"]],
    ids=["none", "other", "thoughts"],
)
def test_missing_token_gives_no_labels(tokens) -> None:
    assert labels_of("4", "integer-1", *certain(*tokens)) is None


def test_values_that_are_no_log_probabilities_are_no_labels() -> None:
    assert labels_of("4", "integer-1", ("4", {"4": 0.9, "x": 40.0})) is None


def test_failure_has_no_place() -> None:
    parsed = parse("integer-1", "4 or 5", GRADES, finish_reason="stop", max_tokens=9)
    assert (parsed.failure, parsed.place) == (Failure.SEVERAL_INTEGERS, None)
