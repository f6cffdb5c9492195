"""Parsers on made-up replies: each reads what a person reads, or nothing."""

import pytest

from judging.grading.parse import PARSERS, Parsed, labels_of, parse
from tests.judging.grading.made_up import LABEL_REPLIES, LABELS, NUMBERS, RETRACTIONS

LIST_PARSERS = [name for name, rules in PARSERS.items() if rules.reads_several]
# It reads as code once read, right or wrong: it has tests of its own.
CAREFUL = [name for name in PARSERS if name not in ("first-digit-1", *LIST_PARSERS)]
LABEL_GRADES = labels_of(LABELS)


def read(parser: str, reply: str, grades: range = range(6), labels: dict | None = None) -> Parsed:
    return parse(parser, reply, grades, finish_reason="stop", max_tokens=300, words=labels)


@pytest.mark.parametrize("parser", CAREFUL)
def test_none_is_read_wrongly_and_each_by_the_parsers_that_are_for_it(parser: str) -> None:
    tables = [(NUMBERS, range(6), {}), (LABEL_REPLIES, range(3), LABEL_GRADES)]
    for table, grades, labels in tables:
        for reply, reads, by in table:
            expected = reads if parser in by.split() else None
            assert read(parser, reply, grades, labels).grade == expected, (parser, reply)


@pytest.mark.parametrize("parser", LIST_PARSERS)
def test_question_that_is_asked_alone_is_not_read_wrongly(parser: str) -> None:
    read_by_it = {
        reply
        for reply, reads, _ in NUMBERS
        if reads is not None and read(parser, reply).grade == reads
    }
    read_at_all = {reply for reply, _, _ in NUMBERS if read(parser, reply).grade is not None}
    assert read_at_all == read_by_it != set()


@pytest.mark.parametrize("parser", [name for name in CAREFUL if not PARSERS[name].superseded_by])
@pytest.mark.parametrize("retraction", RETRACTIONS)
def test_text_after_a_grade_is_no_grade_in_any_language(parser: str, retraction: str) -> None:
    replies = ("Rating: 4", "4", "**Final score: 4/5**", "The harbour is named.\nRating: 4.")
    for joint in ("\n", " ", "\n\n"):
        for reply in replies:
            parsed = read(parser, f"{reply}{joint}{retraction}")
            assert parsed.grade is None, (parser, reply, joint)
        for rating in ('{"rating": 4, "reason": ""}', '```json\n{"rating": 4, "reason": ""}\n```'):
            assert read(parser, f"{rating}{joint}{retraction}").grade is None


@pytest.mark.parametrize(
    ("parser", "reply"),
    [
        ("reason-2", "Rating: 4\nNope."),
        ("reason-2", "4\nThe harbour is named."),
        ("rating-json-2", '{"rating": 4, "reason": ""}\nNope.'),
        ("grade-json-2", 'My rating: {"rating": 4}'),
    ],
)
def test_text_after_a_grade_is_counted_as_such(parser: str, reply: str) -> None:
    assert read(parser, reply).failure == "words_after"


def test_table_is_large_and_most_of_what_a_person_reads_is_read_by_some_parser() -> None:
    readable = [row for row in (*NUMBERS, *LABEL_REPLIES) if row[1] is not None]
    assert len(NUMBERS) + len(LABEL_REPLIES) > 400
    assert len({row[0] for row in readable}) == len(readable)
    by_today = [row for row in readable if {"integer-1", "evidence-1"} & set(row[2].split())]
    unread = [row for row in readable if not row[2]]
    assert len(by_today) < len(readable) / 3
    assert len(unread) < len(readable) / 10


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        *(("4", 4), ("Rating: 4", 4), ("4/5", 4), ("10", 1), ("2 facts, so 5", 2), ("٣", 3)),
        *(("<think>3</think>5", 3), ("I'm sorry, but I can't give 2", 2), ("4 bec", 4)),
        *(("-1", None), ("9", None), ("none", None), ("", None), (" ", None), ("-4", None)),
    ],
)
def test_authors_first_digit(reply: str, grade: int | None) -> None:
    assert read("first-digit-1", reply).grade == grade


def test_authors_read_a_reply_that_was_cut_and_one_that_was_filtered() -> None:
    for reason in ("length", "abort", "content_filter"):
        parsed = parse("first-digit-1", "4 bec", range(6), finish_reason=reason, max_tokens=5)
        assert parsed.grade == 4


def test_labels_of_a_rubric_are_single_unique_words() -> None:
    assert LABEL_GRADES == {"not_relevant": 0, "okay": 1, "vital": 2}
    assert labels_of([(2, "Partial-Support"), (1, "no support at all")]) == {"partial_support": 2}
    assert labels_of([(0, "same"), (1, "Same"), (2, "3"), (3, "")]) == {}


def test_thought_does_not_refuse_and_is_not_the_reply() -> None:
    thought = "<think>I'm sorry, but I can't help with that? Yes I can.</think>"
    assert read("after-think-1", f"{thought}4").grade == 4
    assert read("after-think-1", f"{thought}I cannot help with that.").state == "refused"
    assert read("after-think-1", f"{thought}  ").failure == "empty"
