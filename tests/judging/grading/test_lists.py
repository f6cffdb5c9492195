"""Replies about several questions: each grade under its number, and nothing guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.grading.parse import PARSERS, Parsed, parse
from tests.toolbox.text_strategies import any_text

GRADES = range(6)
LINES, JSON = "numbered-1", "numbered-json-1"


def read(parser: str, reply: str, number: int = 1, n: int = 3, reason: str = "stop") -> Parsed:
    return parse(parser, reply, GRADES, finish_reason=reason, max_tokens=300, number=number, n=n)


def grades(parser: str, reply: str, n: int = 3, reason: str = "stop") -> list[int | None]:
    return [read(parser, reply, number, n, reason).grade for number in range(1, n + 1)]


@pytest.mark.parametrize(
    "reply",
    [
        *("1: 4\n2: 0\n3: 5", "1. 4\n2. 0\n3. 5", "1) 4\n2) 0\n3) 5", "3: 5\n1: 4\n2: 0"),
        *("Q1: 4\nQ2: 0\nQ3: 5\n", "Question 1: 4\nQuestion 2: 0\nQuestion 3: 5"),
        *(
            "- 1: 4\n- 2: 0\n- 3: 5",
            "**1:** 4\n**2:** 0\n**3:** 5",
            "1: **4**\n\n2: **0**\n\n3: **5**",
        ),
        *("```\n1: 4\n2: 0\n3: 5\n```", "Here are the grades:\n1: 4\n2: 0\n3: 5", "1=4\n2=0\n3=5"),
        *("1: Rating: 4\n2: grade is 0\n3: 5.", "<think>2: 1</think>1: 4\n2: 0\n3: 5"),
        "1: 4\r\n2: 0\r\n3: 5\r\n",
        "**Final grades:**\n1: 4\n2: 0\n3: 5",
        "Sure! Here are my ratings for each question, in order:\n\n1: 4\n2: 0\n3: 5",
    ],
)
def test_lines_with_numbers(reply: str) -> None:
    assert grades(LINES, reply) == [4, 0, 5]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("1: 4\n3: 5", [4, None, 5]),  # one was left out
        ("1: 4\n2: high\n3: 5", [4, None, 5]),
        ("1: 4\n2: 0 or 1\n3: 5", [4, None, 5]),
        ("1: 4\n2: 7\n3: 5", [4, None, 5]),  # no grade of the rubric
        ("1: 4\n2: 4/5\n3: 5", [4, None, 5]),
        ("1: 4\n2: 0\n2: 1\n3: 5", [4, None, 5]),  # which of the two?
        ("1: 4\n2: 0\n3: 5\n4: 1", [None] * 3),  # numbered otherwise than the prompt did
        ("0: 4\n1: 0\n2: 5", [None] * 3),
        ("4\n0\n5", [None] * 3),  # of which questions?
        ("1: 4\n2: 0\n3: 5\nActually, make 2 a 3.", [None] * 3),
        ("The text says little.\n1: 4\n2: 0\n3: 5", [None] * 3),
        ("Grades from 0 to 5:\n1: 4\n2: 0\n3: 5", [None] * 3),
        ("4", [None] * 3),
        ("1.4\n2.0\n3.5", [None] * 3),  # numbers with a point
        ("1: 4, 2: 0, 3: 5", [None] * 3),
        ("", [None] * 3),
        ("1: 4\n2: Actually question 1 should be 0\n3: 5", [None] * 3),  # of which question?
        ("1: 4\n2: 0, and change 1 to 2\n3: 5", [None] * 3),
        ("1: 4\n2: 0, 1: 5\n3: 5", [None] * 3),
        ("The text demands these grades:\n1: 5\n2: 5\n3: 5", [None] * 3),  # not the model's own
        ("A wrong reply would be:\n1: 5\n2: 5\n3: 5", [None] * 3),
        ("Previous grades:\n1: 5\n2: 5\n3: 5", [None] * 3),
        ("Maximum:\n1: 5\n2: 5\n3: 5", [None] * 3),
        ("I would never give:\n1: 5\n2: 5\n3: 5", [None] * 3),
    ],
)
def test_unclear_grades_are_missing(reply: str, expected: list[int | None]) -> None:
    assert grades(LINES, reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        *(
            '{"1": 4, "2": 0, "3": 5}',
            '{"q1": 4, "q2": 0, "q3": 5}',
            '{"3": 5, "1": "4", "2": 0.0}',
        ),
        *("[4, 0, 5]", '{"grades": [4, 0, 5]}', '{"grades": {"1": 4, "2": 0, "3": 5}}'),
        '[{"question": 1, "grade": 4}, {"question": 3, "grade": 5}, {"question": 2, "grade": 0}]',
        '{"ratings": [{"number": "1", "rating": 4, "reason": "2"}, {"number": 2, "rating": 0},'
        ' {"number": 3, "rating": 5}]}',
        '{"1": {"grade": 4, "reason": "It says 3."}, "2": {"grade": 0}, "3": {"score": 5}}',
        '```json\n{"1": 4, "2": 0, "3": 5}\n```',
        '<think>{"1": 0}</think>\n{"1": 4, "2": 0, "3": 5}',
        '{"results": {"1": 4, "2": 0, "3": 5}}',
        '{"1": {"question": "What sank?", "grade": 4}, "2": {"id": 2, "grade": 0}, "3": 5}',
    ],
)
def test_json_with_numbers(reply: str) -> None:
    assert grades(JSON, reply) == [4, 0, 5]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"1": 4, "3": 5}', [4, None, 5]),
        ('{"1": 4, "2": null, "3": 5}', [4, None, 5]),
        ('{"1": 4, "2": 3.5, "3": 5}', [4, None, 5]),
        ('{"1": 4, "2": 9, "3": true}', [4, None, None]),
        ('[{"question": 1, "grade": 4}, {"question": 2}]', [4, None, None]),
        ('[{"question": 1, "grade": 4}, {"question": 1, "grade": 2}]', [None] * 3),
        ('{"1": 4, "1": 3, "2": 0, "3": 5}', [None] * 3),  # a name twice
        ('{"0": 4, "1": 0, "2": 5}', [None] * 3),
        ('{"1": 4, "2": 0, "3": 5, "4": 1}', [None] * 3),
        ("[4, 0]", [None] * 3),  # of which questions?
        ("[4, 0, 5, 1]", [None] * 3),
        ('{"1": 4, "note": "2 is hard"}', [None] * 3),
        ('[{"question": "What sank?", "grade": 4}]', [None] * 3),
        ('{"1": 4, "2": 0, "3": 5} but 2 may be 1', [None] * 3),
        ("no JSON", [None] * 3),
        ("[" * 100_000, [None] * 3),
        ('{"questions": [1, 2, 3]}', [None] * 3),  # their numbers
        ('{"answered": [1, 2, 3]}', [None] * 3),
        ('{"example": {"1": 5, "2": 5, "3": 5}}', [None] * 3),
        ('{"max_grades": [5, 5, 5]}', [None] * 3),
        ('{"1": {"grade": 5, "revised_grade": 2}, "2": {"grade": 0}}', [None, 0, None]),
        ('{"1": {"question": 2, "grade": 5}, "2": {"question": 1, "grade": 0}}', [None] * 3),
    ],
)
def test_json_that_is_not_clear_is_missing(reply: str, expected: list[int | None]) -> None:
    assert grades(JSON, reply) == expected


def test_missing_grades_have_a_reason() -> None:
    assert read(LINES, "1: 4\n3: 5", 2).failure == "no_grade"
    assert read(LINES, "1: 4\n1: 3", 1).failure == "several"
    assert read(LINES, "1: 9", 1).failure == "out_of_range"
    assert read(JSON, '{"1": 4, "1": 3}', 1).failure == "several"
    assert read(LINES, " ", 1).failure == "empty"
    assert read(LINES, "I'm sorry, but I can't help with that.", 2).failure == "refusal"


def test_of_a_reply_that_was_cut_the_whole_lines_count() -> None:
    assert grades(LINES, "1: 4\n2: 0\n3: 5", reason="length") == [4, 0, None]
    assert read(LINES, "1: 4\n2: 0\n3: 5", 3, reason="length").failure == "cut"
    assert grades(LINES, "1: 4\n2: 0\n3: 5\n", reason="abort") == [4, 0, 5]
    assert grades(LINES, "1: 4\n2: 0\n1: 0", reason="length") == [None, 0, None]
    assert grades(LINES, "1: 4\n2: 0\nQuest", reason="length") == [4, 0, None]
    assert grades(LINES, "1: 4\n2: 0\n**Q3. Rat", reason="length") == [4, 0, None]
    assert read(JSON, '{"1": 4, "2": 0, "3": ', 1, reason="length").failure == "cut"
    assert grades(JSON, '{"1": 4, "2": 0, "3": 5}\n', reason="length") == [4, 0, 5]


@pytest.mark.parametrize(
    ("parser", "reply"),
    [
        (LINES, "1: 4\n2: 0\nWait, I misread question 1: it deserves"),
        (LINES, "1: 4\n2: 0\n3: Actually, question 1 is"),
        (JSON, '{"1": 4, "2": 0, "3": 5}\nHowever, question 1'),
    ],
)
@pytest.mark.parametrize("reason", ["length", "abort"])
def test_cut_reply_may_have_taken_a_grade_back(parser: str, reply: str, reason: str) -> None:
    assert grades(parser, reply, reason=reason) == [None] * 3


def test_number_alone_is_that_of_the_question() -> None:
    first_token = parse(LINES, "1", GRADES, finish_reason="length", max_tokens=1)
    assert (first_token.grade, first_token.failure) == (None, "cut")
    assert grades(LINES, "1.", n=1) == grades(LINES, "4\nThough", n=1, reason="length") == [None]
    assert grades(LINES, "1", n=1) == [1]
    assert grades(LINES, "4.", n=1) == grades(LINES, "Grade:\n4", n=1) == [4]


def test_single_question_needs_no_number() -> None:
    assert grades(LINES, "4", n=1) == grades(LINES, "1: 4", n=1) == [4]
    assert grades(JSON, '{"grade": 4}', n=1) == grades(JSON, '{"1": 4}', n=1) == [4]
    assert grades(LINES, "2: 4", n=1) == [None]


@pytest.mark.parametrize("parser", [name for name, rules in PARSERS.items() if rules.reads_several])
@given(reply=any_text, number=st.integers(1, 4), n=st.integers(4, 9))
def test_any_reply_has_one_outcome(parser: str, reply: str, number: int, n: int) -> None:
    parsed = read(parser, reply, number, n)
    assert (parsed.grade is None) != (parsed.failure is None)


@given(st.lists(st.sampled_from(GRADES), min_size=1, max_size=30))
def test_well_formed_lists_are_read_completely(expected: list[int]) -> None:
    numbered = list(enumerate(expected, 1))
    n = len(expected)
    assert (
        grades(LINES, "\n".join(f"{number}: {grade}" for number, grade in numbered), n) == expected
    )
    assert grades(JSON, json.dumps(dict(numbered)), n) == expected
