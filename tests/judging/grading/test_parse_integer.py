"""integer-1: a reply is exactly one grade, or it says why it is none."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judging.grading.pairs import State
from judging.grading.parse import PARSERS, Parsed, parse
from judging.llm.errors import Failure
from tests.toolbox import judge_replies
from tests.toolbox.judge_replies import GRADES, parse_reply
from tests.toolbox.text_strategies import any_text

# Replies as models write them, and pieces that come near to one.
PIECES = [
    *"0123456789٤４④²½.,:;=-−–+/*_`'\"“”‘’()[]# \n\t",
    *("grade", "Rating", "the score", "ANSWER", "is", "to", "or", "4", "10", "4.5", "<think>"),
    *("I'm sorry, but I can't", "I cannot provide", "\u200b", "\ufeff", "\ufe0f\u20e3", "\0"),
]
replies = st.lists(st.sampled_from(PIECES) | any_text, max_size=8).map("".join)
reasons = st.sampled_from([None, "stop", "length", "content_filter", "abort", "tool_calls", ""])


def failure_of(reply: str) -> Failure | None:
    parsed = parse_reply(reply)
    assert parsed.state is State.UNPARSEABLE
    assert parsed.grade is None
    assert parsed.evidence == ()
    return parsed.failure


@pytest.mark.parametrize("grade", GRADES)
def test_single_grade_is_read(grade: int) -> None:
    assert parse_reply(str(grade)) == Parsed(State.GRADED, grade)


@pytest.mark.parametrize(
    "reply",
    judge_replies.MARKED_GRADES,
)
def test_marks_around_a_grade_do_not_count(reply: str) -> None:
    assert parse_reply(reply) == Parsed(State.GRADED, 4)


@pytest.mark.parametrize("reply", judge_replies.BLANK)
def test_blank_reply_is_empty(reply: str) -> None:
    assert failure_of(reply) is Failure.EMPTY


@pytest.mark.parametrize(
    "reply",
    judge_replies.TEXT_ALONE,
)
def test_text_alone_is_no_grade(reply: str) -> None:
    assert failure_of(reply) is Failure.NO_GRADE


@pytest.mark.parametrize(
    "reply",
    judge_replies.INTEGERS_AMONG_SIGNS,
)
def test_integer_among_other_signs_is_no_grade(reply: str) -> None:
    assert failure_of(reply) is Failure.NO_GRADE


@pytest.mark.parametrize("reply", judge_replies.DECIMALS)
def test_number_that_is_no_integer_is_no_grade(reply: str) -> None:
    assert failure_of(reply) is Failure.NO_GRADE


@pytest.mark.parametrize(
    "reply",
    judge_replies.SEVERAL_NUMBERS,
)
def test_more_than_one_number_is_several(reply: str) -> None:
    assert failure_of(reply) is Failure.SEVERAL_INTEGERS


@pytest.mark.parametrize(
    "reply",
    judge_replies.INTEGERS_OUT_OF_RANGE,
)
def test_integer_that_is_no_level_is_out_of_range(reply: str) -> None:
    assert failure_of(reply) is Failure.OUT_OF_RANGE


@pytest.mark.parametrize(
    "reply",
    judge_replies.OTHER_DIGITS,
)
def test_digits_of_other_scripts_and_dressed_up_ones_are_no_grade(reply: str) -> None:
    # int("４") is 4, and str.isdigit() takes "⁴": neither may decide here.
    assert failure_of(reply) is Failure.NO_GRADE


def test_rubric_decides_which_integers_are_grades() -> None:
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
    judge_replies.BY_FINISH_REASON,
)
def test_finish_reason_decides_the_state(
    reply: str, finish_reason: str | None, max_tokens: int, expected: Parsed
) -> None:
    assert parse_reply(reply, finish_reason, max_tokens) == expected


def test_single_token_may_begin_a_longer_grade() -> None:
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
    judge_replies.REFUSALS,
)
def test_refusal_in_words_is_a_refusal(reply: str) -> None:
    assert parse_reply(reply) == Parsed(State.REFUSED, failure=Failure.REFUSAL)
    assert parse_reply(reply, "length") == Parsed(State.REFUSED, failure=Failure.REFUSAL)


def test_refusal_is_known_by_how_the_reply_begins() -> None:
    assert failure_of("The mayor said: \"I'm sorry, but I can't help.\"") is Failure.NO_GRADE


def test_refusal_field_of_the_server_is_a_refusal() -> None:
    for refusal, expected in [("No.", State.REFUSED), ("", State.GRADED), (None, State.GRADED)]:
        parsed = parse(
            "integer-1", "4", GRADES, finish_reason="stop", max_tokens=1, refusal=refusal
        )
        assert parsed.state is expected


def test_unknown_parser_is_an_error() -> None:
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
    labels = {"grade": 3, "not_relevant": 0}
    parsed = parse(parser, reply, GRADES, finish_reason=None, max_tokens=300, words=labels)
    assert parsed.grade is None or parsed.grade in GRADES
    assert (parsed.grade is None) == (parsed.failure is not None)


@given(replies)
def test_grade_is_the_only_number_of_the_reply(reply: str) -> None:
    parsed = parse_reply(reply)
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
def test_long_reply_is_read_in_one_go(parser: str, piece: str) -> None:
    # A pattern that went back for every sign would take half a minute here, for each of these.
    size = 40_000 if parser in ("integer-1", "evidence-1") else 20_000
    endless = piece * (size // len(piece))
    for reply in (endless, f"4{endless}", f"{endless}4", f"4\n{endless}x"):
        parse(parser, reply, GRADES, finish_reason="stop", max_tokens=300)
