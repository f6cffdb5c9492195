"""evidence-1: the grade on the first line, then the words of the text that it rests on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.grading.pairs import State
from judging.grading.parse import Parsed, parse
from judging.llm.errors import Failure
from tests.toolbox.text_strategies import any_words

GRADES = range(6)


def read(reply: str, finish_reason: str | None = "stop") -> Parsed:
    return parse("evidence-1", reply, GRADES, finish_reason=finish_reason, max_tokens=300)


@pytest.mark.parametrize(
    ("reply", "grade", "evidence"),
    [
        ("0", 0, ()),
        ("4", 4, ()),  # nobody asks here whether a grade should have brought evidence
        ('4\n"The ferry sank."', 4, ("The ferry sank.",)),
        ('4\n"One."\n"Two."\n"One."', 4, ("One.", "Two.", "One.")),
        ('\n\n4\n\n"One."\n\n"Two."\n', 4, ("One.", "Two.")),
        ('4\r\n"One."\r\n', 4, ("One.",)),
        ("Grade: **4**\n“One.”", 4, ("One.",)),
        ('4\n- "One."\n* "Two",\n• "Three".\n', 4, ("One.", "Two", "Three")),
        ('4\n"He said "no" twice"', 4, ('He said "no" twice',)),
        ('4\n"In 1990, 12 of 30 sank"', 4, ("In 1990, 12 of 30 sank",)),
        ('4\n" One. "\n""\n" "', 4, ("One.",)),
        ('4\n"One.\u2028Two."', 4, ("One.\u2028Two.",)),
        ('0\n"One."', 0, ("One.",)),
    ],
)
def test_grade_and_its_quotations(reply: str, grade: int, evidence: tuple[str, ...]) -> None:
    assert read(reply) == Parsed(State.GRADED, grade, evidence=evidence)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        ("", Failure.EMPTY),
        (" \n ", Failure.EMPTY),
        ('"The ferry sank."', Failure.NO_GRADE),
        ('"The ferry sank."\n4', Failure.NO_GRADE),  # the grade comes first or not at all
        ('4 "The ferry sank."', Failure.NO_GRADE),
        ('4/5\n"The ferry sank."', Failure.SEVERAL_INTEGERS),
        ('7\n"The ferry sank."', Failure.OUT_OF_RANGE),
        ("4\nThe ferry sank.", Failure.NO_GRADE),  # not in quotation marks
        ('4\n"The ferry sank', Failure.NO_GRADE),
        ('4\n"', Failure.NO_GRADE),
        ("4\n'The ferry sank.'", Failure.NO_GRADE),
        ('4\n"The ferry sank." This says when.', Failure.NO_GRADE),
        ('4\n"The ferry sank."\nOr rather 2.', Failure.SEVERAL_INTEGERS),
        ("4\n3", Failure.SEVERAL_INTEGERS),
    ],
)
def test_reply_of_another_form_is_no_grade(reply: str, failure: Failure) -> None:
    assert read(reply) == Parsed(State.UNPARSEABLE, failure=failure)


def test_reply_that_was_cut_is_no_grade() -> None:
    assert read('4\n"The ferry sa', "length") == Parsed(State.TRUNCATED, failure=Failure.CUT)


def test_refusal_in_a_quotation_is_evidence() -> None:
    reply = "4\n\"I'm sorry, but I can't help,\" said the mayor"
    assert read(reply + '"').evidence == ("I'm sorry, but I can't help,\" said the mayor",)


@given(
    st.sampled_from(GRADES),
    st.lists(
        any_words.filter(lambda words: "\n" not in words and words.strip(' \t"“”')), max_size=5
    ),
)
def test_any_words_can_be_quoted(grade: int, quoted: list[str]) -> None:
    lines = [str(grade), *(f'"{quote}"' for quote in quoted)]
    expected = tuple(quote.strip() for quote in quoted)
    assert read("\n".join(lines)) == Parsed(State.GRADED, grade, evidence=expected)
