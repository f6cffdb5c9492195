"""integer-1: a reply is exactly one grade, or it says why it is none."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judging.grading.pairs import Failure, State
from judging.grading.parse import PARSERS, Parsed, parse
from tests.any_text import any_text

GRADES = range(6)
# Replies as models write them, and pieces that come near to one.
PIECES = [
    *"0123456789٤４④²½.,:;=-−–+/*_`'\"“”‘’()[]# \n\t",
    *("grade", "Rating", "the score", "ANSWER", "is", "to", "or", "4", "10", "4.5", "<think>"),
    *("I'm sorry, but I can't", "I cannot provide", "\u200b", "\ufeff", "\ufe0f\u20e3", "\0"),
]
replies = st.lists(st.sampled_from(PIECES) | any_text, max_size=8).map("".join)
reasons = st.sampled_from([None, "stop", "length", "content_filter", "abort", "tool_calls", ""])


def read(reply: str, finish_reason: str | None = "stop", max_tokens: int = 16) -> Parsed:
    return parse("integer-1", reply, GRADES, finish_reason=finish_reason, max_tokens=max_tokens)


def failure_of(reply: str) -> Failure | None:
    parsed = read(reply)
    assert parsed.state is State.UNPARSEABLE
    assert parsed.grade is None
    assert parsed.evidence == ()
    return parsed.failure


@pytest.mark.parametrize("grade", GRADES)
def test_each_grade_alone(grade: int) -> None:
    assert read(str(grade)) == Parsed(State.GRADED, grade)


@pytest.mark.parametrize(
    "reply",
    [
        *("4", " 4", "4 ", "\n4\n", "\t4\r\n", "\u00a04\u2003", "4.", "4 .", " 4. "),
        *('"4"', "'4'", "“4”", "‘4’", "`4`", "```\n4\n```", '"4."', '"4".'),
        *("**4**", "*4*", "_4_", "__4__", "**4.**", "**4**.", " **4** \n"),
        *("Rating: 4", "rating:4", "GRADE = 4", "Score is 4.", "answer: 4", "Answer=4"),
        *("**Rating:** 4", "**Rating**: 4", "Rating: **4**", "**Rating: 4**", 'Grade: "4"'),
        *("Rating:\n4", "The grade is 4.", "the score: 4", '"Answer": "4"'),
    ],
)
def test_what_surrounds_a_grade_does_not_count(reply: str) -> None:
    assert read(reply) == Parsed(State.GRADED, 4)


@pytest.mark.parametrize("reply", ["", " ", "\n\t\r\n", "\u00a0\u2003\u3000"])
def test_nothing_is_empty(reply: str) -> None:
    assert failure_of(reply) is Failure.EMPTY


@pytest.mark.parametrize(
    "reply",
    [
        *("four", "Grade:", "Rating: high", "N/A", ".", '""', "**", "-", "{}", "\0", "\u200b"),
        "The text does not answer the question.",
        "I'm sorry, but the text leaves this open.",
        "I cannot find the answer in this text.",
    ],
)
def test_words_alone_are_no_grade(reply: str) -> None:
    assert failure_of(reply) is Failure.NO_GRADE


@pytest.mark.parametrize(
    "reply",
    [
        "The grade is clearly 4 because the text names the harbour.",
        "4 because the text names the harbour.",
        "4 of the points are covered.",
        "I would say 4",
        "Rating 4",  # neither a colon nor "is" says that the number is the rating
        "Final rating: 4",  # two words in front
        "Grade: Rating: 4",  # two labels
        "GPT-4",
        *(
            "4!",
            "4?",
            "4..",
            "4%",
            "4+",
            "+4",
            ">4",
            "~4",
            "(4)",
            "(4",
            "[4]",
            "# 4",
            "- 4",
            "{4}",
            "4th",
        ),
        *("Grade is4x", "is 4", ": 4", '{"grade": 4}', "<think>4", "4</s>", "4\0", "\ufeff4"),
    ],
)
def test_an_integer_among_other_signs_is_no_grade(reply: str) -> None:
    assert failure_of(reply) is Failure.NO_GRADE


@pytest.mark.parametrize("reply", ["4.5", "4,5", "0.5", "4.0", "Rating: 4.5", "1.000.000"])
def test_a_number_that_is_no_integer_is_no_grade(reply: str) -> None:
    assert failure_of(reply) is Failure.NO_GRADE


@pytest.mark.parametrize(
    "reply",
    [
        *("4/5", "3 or 4", "3-4", "3–4", "3 - 4", "4 4", "4\n4", "4, 4", "1, 2", "4 out of 5"),
        *("Rating: 4/5", "Grade: 4 (of 5)", "4 because of 2 facts", "10 or 12", "4.5 or 5"),
    ],
)
def test_more_than_one_number_is_several(reply: str) -> None:
    assert failure_of(reply) is Failure.SEVERAL


@pytest.mark.parametrize(
    "reply",
    [
        *("6", "9", "10", "45", "100", "-1", "−1", "-4", "Rating: 6", "Rating: -1", "**7**"),
        *("04", "00", "007", "I give it a 10, no less", "9" * 5_000),
    ],
)
def test_an_integer_that_is_no_level_is_out_of_range(reply: str) -> None:
    assert failure_of(reply) is Failure.OUT_OF_RANGE


@pytest.mark.parametrize(
    "reply",
    ["٤", "４", "۴", "४", "④", "⁴", "₄", "❹", "Ⅳ", "𝟒", "½", "Rating: ４", "4️⃣", "4\u0338"],
)
def test_digits_of_other_scripts_and_dressed_up_ones_are_no_grade(reply: str) -> None:
    # int("４") is 4, and str.isdigit() takes "⁴": neither may decide here.
    assert failure_of(reply) is Failure.NO_GRADE


def test_the_rubric_decides_which_integers_are_grades() -> None:
    for grades, reply, expected in [
        ((0, 1), "1", Parsed(State.GRADED, 1)),
        ((0, 1), "2", Parsed(State.UNPARSEABLE, failure=Failure.OUT_OF_RANGE)),
        ((0, 5, 10), "10", Parsed(State.GRADED, 10)),
        ((0, 5, 10), "1", Parsed(State.UNPARSEABLE, failure=Failure.OUT_OF_RANGE)),
        ((1, 2, 3), "0", Parsed(State.UNPARSEABLE, failure=Failure.OUT_OF_RANGE)),
    ]:
        assert parse("integer-1", reply, grades, finish_reason="stop", max_tokens=4) == expected


@pytest.mark.parametrize(
    ("reply", "finish_reason", "max_tokens", "expected"),
    [
        # One token: every reply is as long as it may be, by design.
        ("4", "length", 1, Parsed(State.GRADED, 4)),
        ("The", "length", 1, Parsed(State.UNPARSEABLE, failure=Failure.NO_GRADE)),
        ("", "length", 1, Parsed(State.UNPARSEABLE, failure=Failure.EMPTY)),
        ("4", None, 1, Parsed(State.GRADED, 4)),
        # More tokens: the reply would have gone on, even if what came looks like a grade.
        ("4", "length", 2, Parsed(State.TRUNCATED, failure=Failure.CUT)),
        ("4 because", "length", 16, Parsed(State.TRUNCATED, failure=Failure.CUT)),
        ("", "length", 16, Parsed(State.TRUNCATED, failure=Failure.CUT)),
        ("4", "abort", 1, Parsed(State.TRUNCATED, failure=Failure.CUT)),
        ("4", "stop", 16, Parsed(State.GRADED, 4)),
        ("4", None, 16, Parsed(State.GRADED, 4)),
        ("4", "content_filter", 16, Parsed(State.REFUSED, failure=Failure.REFUSAL)),
        ("", "content_filter", 1, Parsed(State.REFUSED, failure=Failure.REFUSAL)),
    ],
)
def test_why_the_server_stopped(
    reply: str, finish_reason: str | None, max_tokens: int, expected: Parsed
) -> None:
    assert read(reply, finish_reason, max_tokens) == expected


def test_one_token_may_be_the_beginning_of_a_longer_grade() -> None:
    # In a rubric from 0 to 10, "1" may be all of 1 or half of 10; nothing begins with 2 but 2.
    def cut(reply: str, finish_reason: str) -> State:
        grades = range(11)
        return parse("integer-1", reply, grades, finish_reason=finish_reason, max_tokens=1).state

    assert cut("1", "length") is State.TRUNCATED
    assert cut("1", "stop") is State.GRADED
    assert cut("2", "length") is State.GRADED
    assert cut("10", "length") is State.GRADED


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "I am sorry, I cannot grade this text.",
        "Sorry, I am unable to rate this on a scale from 0 to 5.",
        "I apologise, but I won't do that.",
        "I'm very sorry, but as an AI, I'm not able to read this.",
        "I can't help with that.",
        "I cannot provide a grade for this content.",
        "As an AI language model, I cannot assist with this.",
        "Unfortunately, I am unable to process this.",
        '"I\'m unable to comply."',
    ],
)
def test_a_refusal_in_words_is_a_refusal(reply: str) -> None:
    assert read(reply) == Parsed(State.REFUSED, failure=Failure.REFUSAL)
    assert read(reply, "length") == Parsed(State.REFUSED, failure=Failure.REFUSAL)


def test_a_refusal_is_known_by_how_the_reply_begins() -> None:
    assert failure_of("The mayor said: \"I'm sorry, but I can't help.\"") is Failure.NO_GRADE


def test_what_the_server_calls_a_refusal_is_one() -> None:
    for refusal, expected in [("No.", State.REFUSED), ("", State.GRADED), (None, State.GRADED)]:
        parsed = parse(
            "integer-1", "4", GRADES, finish_reason="stop", max_tokens=1, refusal=refusal
        )
        assert parsed.state is expected


def test_an_unknown_parser_is_an_error() -> None:
    with pytest.raises(KeyError):
        parse("integer-2", "4", GRADES, finish_reason="stop", max_tokens=1)


@pytest.mark.parametrize("parser", ["integer-1", "evidence-1", "after-think-1"])
@given(reply=replies, finish_reason=reasons, max_tokens=st.integers(1, 300))
@example(reply="4", finish_reason="stop", max_tokens=1)
@example(reply="\ud800", finish_reason=None, max_tokens=1)
def test_any_reply_is_exactly_one_thing(
    parser: str, reply: str, finish_reason: str | None, max_tokens: int
) -> None:
    parsed = parse(parser, reply, GRADES, finish_reason=finish_reason, max_tokens=max_tokens)
    assert parsed.state in (State.GRADED, State.UNPARSEABLE, State.TRUNCATED, State.REFUSED)
    assert (parsed.state is State.GRADED) == (parsed.grade is not None)
    assert (parsed.state is State.GRADED) == (parsed.failure is None)
    if parsed.grade is not None:
        assert type(parsed.grade) is int
        assert parsed.grade in GRADES
        # The digits of a grade are in the reply, and in no other script.
        assert str(parsed.grade) in reply
    else:
        assert parsed.evidence == ()


@given(replies.filter(lambda reply: not any(digit in reply for digit in "0123456789")))
def test_without_a_digit_there_is_never_a_grade(reply: str) -> None:
    for parser in ("integer-1", "evidence-1", "after-think-1", "rating-json-1", "grade-json-1"):
        assert parse(parser, reply, GRADES, finish_reason="stop", max_tokens=300).grade is None


@pytest.mark.parametrize("parser", PARSERS)
@given(reply=replies)
def test_any_reply_is_a_level_or_says_why_not(parser: str, reply: str) -> None:
    words = {"grade": 3, "not_relevant": 0}
    parsed = parse(parser, reply, GRADES, finish_reason=None, max_tokens=300, words=words)
    assert parsed.grade is None or parsed.grade in GRADES
    assert (parsed.grade is None) == (parsed.failure is not None)


@given(replies)
def test_a_grade_is_the_only_number_of_the_reply(reply: str) -> None:
    parsed = read(reply)
    if parsed.grade is not None:
        assert [sign for sign in reply if sign.isdigit()] == [str(parsed.grade)]


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(
    "piece",
    [
        *(" ", "*", '"', "1", "1,", "1.", "-", "\n", "4\n", '"a" ', '"\n', "“", "grade", "grade: "),
        *("the ", "I'm sorry ", "as an ai ", "\0", "４", "- ", '4\n"a"\n', '""'),
        *(
            "<think>",
            "</think>",
            "<think></think>",
            "rating: ",
            "final ",
            "(",
            "4 of ",
            "{",
            '{"a":',
        ),
        *("score: 4\n", "\\boxed{", "score is "),
    ],
)
def test_a_long_reply_is_read_in_one_go(parser: str, piece: str) -> None:
    # A pattern that went back for every sign would take half a minute here, for each of these.
    size = 40_000 if parser in ("integer-1", "evidence-1") else 20_000
    endless = piece * (size // len(piece))
    for reply in (endless, f"4{endless}", f"{endless}4", f"4\n{endless}x"):
        parse(parser, reply, GRADES, finish_reason="stop", max_tokens=300)
