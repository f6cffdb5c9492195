"""Replies to "write n questions", as models give them, and what they become."""

import pytest

from building.writing.outputs import Failure, Source
from building.writing.tasks import TASKS

TASK = TASKS["questions"]


def read(reply: str, n: int = 3, finish_reason: str | None = "stop", have: tuple[str, ...] = ()):
    return TASK.read(reply, finish_reason, Source(document="A document.", n=n, existing=have))


def bodies(written) -> list[str]:
    return [product.body for product in written.products]


THREE = ["What did the ferry lose?", "Who was the captain?", "When did the tug arrive?"]


@pytest.mark.parametrize(
    "reply",
    [
        "<q>What did the ferry lose?</q><q>Who was the captain?</q><q>When did the tug arrive?</q>",
        "Here you are:\n\n<Q> What did the ferry lose? </Q>\n< q >Who was the captain?</ q >\n"
        "<q>When did the tug arrive?</q>\n\nI hope this helps.",
        "<think>Three, they say. <q>No?</q></think><q>What did\r\n the ferry lose?</q>\r\n"
        "<q>\n2. Who was the captain?</q><q>3) When did the tug arrive?\n</q>",
        "<q>Question 1: What did the ferry lose?</q><q>- Who was the captain?</q>"
        "<q>**When did the tug arrive?**</q>",
        "```\n<q>What did the ferry lose?</q>\n<q>Who was the captain?</q>\n<q>...</q>"
        "<q>When did the tug arrive?</q>\n```",
        '["What did the ferry lose?", "Who was the captain?", "When did the tug arrive?"]',
        '```json\n{"questions": ["What did the ferry lose?", "Who was the captain?", '
        '"When did the tug arrive?"]}\n```',
        "1. What did the ferry lose?\n2. Who was the captain?\n3. When did the tug arrive?",
        "Here are three diverse questions:\n\n1) What did the ferry lose?\n\n2) Who was the captain?\n"
        "3) When did the tug arrive?\n",
        # The prompt opened the first tag, as the authors' does.
        "What did the ferry lose?</q>\n<q>Who was the captain?</q>\n<q>When did the tug arrive?</q>",
    ],
)
def test_three_questions(reply):
    written = read(reply)
    assert bodies(written) == THREE
    assert (written.failure, written.missing, written.detail) == (None, 0, "")


def test_real_reply_of_a_small_model_is_parsed():
    """No tags, ten items instead of five, the last one cut, and the last two equal."""
    reply = "\n".join(
        [
            "1. What happened to the Arora?",
            "2. Who was on board of the Arora?",
            "3. Where did the Arora lose its gear?",
            "4. What did the ministry do?",
            "5. Which boats came to the Arora?",
            "6. What was in the oil?",
            "7. Who runs the other ferries?",
            "8. What did the company say?",
            "9. What had the inspectors asked for?",
            "10. What had the inspectors ask",
        ]
    )
    written = read(reply, 5, "length")
    assert bodies(written) == [line.split(". ", 1)[1] for line in reply.split("\n")[:5]]
    assert written.detail == (
        "9 were written, of which the first 5 were taken. The last one was cut off, and is left out."
    )
    # Of the ten asked for it is nine that are whole; and where the last is whole, it is the one before.
    ten = read(reply, 10, "length")
    assert (len(ten.products), ten.failure, ten.missing) == (9, Failure.TOO_FEW, 1)
    complete = read(reply + "ed for?", 10)
    assert (len(complete.products), complete.failure, complete.missing) == (9, Failure.TOO_FEW, 1)
    assert complete.detail == "10 were asked for and 10 written, 9 of them new."


def test_too_few_are_kept_and_the_rest_is_missing():
    written = read("<q>Who was the captain?</q><q>2. who was  the CAPTAIN?</q><q>Why?</q>", 5)
    assert bodies(written) == ["Who was the captain?", "Why?"]
    assert (written.failure, written.missing) == (Failure.TOO_FEW, 3)
    assert written.detail == "5 were asked for and 3 written, 2 of them new."


def test_existing_questions_do_not_count():
    reply = "<q>4. Who was the captain?</q><q>5. What did the ferry lose?</q>"
    written = read(reply, 2, have=("Why?", "WHO was the captain?", "When?"))
    assert bodies(written) == ["What did the ferry lose?"]
    assert written.missing == 1


def test_cut_one_is_never_taken():
    tagged = "<q>Who was the captain?</q>\n<q>What did the fer"
    assert bodies(read(tagged, 2, "length")) == ["Who was the captain?"]
    # Where the reply ended by itself, the tag was forgotten; words behind the question are none of it.
    forgotten = read(tagged + "ry lose?\n\nThese are my questions.", 2)
    assert bodies(forgotten) == ["Who was the captain?", "What did the ferry lose?"]
    assert forgotten.products[1].flags == ("one of its tags is missing",)
    for reply in ("<q>What did the", '["What did the ferry lose?", "Who was', "1. What did"):
        written = read(reply, 2, "length")
        assert (written.products, written.failure, written.missing) == ((), Failure.CUT, 2)


@pytest.mark.parametrize(
    "reply",
    [
        "Here:\n1. What did the ferry lose?\n2. Who was the captain?\n3. When did the tug arrive?",
        "<q>What did the ferry lose?</q>\n<q>Who was the captain?</q>\n<q>When did the tug arrive?</q>",
        "<q>What did the ferry lose?\n<q>Who was the captain?\n<q>When did the tug arrive?",
        '["What did the ferry lose?", "Who was the captain?", "When did the tug arrive?"]',
    ],
)
def test_wherever_it_is_cut_what_is_taken_is_whole(reply):
    for end in range(len(reply)):
        written = read(reply[:end], 3, "length")
        n = len(written.products)
        assert (bodies(written), written.missing) == (THREE[:n], 3 - n)
        if "Here:" in reply and reply.count("\n", 0, end) > 1 and reply[end - 1] != "\n":
            assert n == reply.count("\n", 0, end) - 1


def test_tags_that_are_never_closed():
    written = read("<q>Who was the captain?\n<q>What did the ferry lose?\n<q>Why?\n", 3)
    assert bodies(written) == ["Who was the captain?", "What did the ferry lose?", "Why?"]
    assert written.failure is None
    cut = read("<q>Who was the captain?\n<q>What did the ferry lose?\n<q>Why", 3, "length")
    assert bodies(cut) == ["Who was the captain?", "What did the ferry lose?"]


@pytest.mark.parametrize(
    ("reply", "finish_reason", "failure"),
    [
        ("", "stop", Failure.EMPTY),
        (" \r\n\t", None, Failure.EMPTY),
        ("<think>Well.</think>\n", "stop", Failure.EMPTY),
        ("<think>Well, let me", "length", Failure.CUT),
        ("I'm sorry, but I can't help with that.", "stop", Failure.REFUSED),
        ("I’m sorry, I cannot.", "stop", Failure.REFUSED),
        ("As an AI language model, I am unable to write questions.", "stop", Failure.REFUSED),
        ("Unfortunately, I do not have enough information.", "stop", Failure.REFUSED),
        ("Refrain: No.", "stop", Failure.REFUSED),
        ("No.", "stop", Failure.REFUSED),
        ("<q>Who?</q>", "content_filter", Failure.REFUSED),
        ("This", "stop", Failure.NO_TAGS),
        ("What did the ferry lose? Who was the captain?", "stop", Failure.NO_TAGS),
        # No clean lists: a gap, words in between, numbers that are no strings.
        ("1. What?\n3. Why?", "stop", Failure.NO_TAGS),
        ("1. What?\nThe gear.\n2. Why?", "stop", Failure.NO_TAGS),
        ("[1, 2]", "stop", Failure.NO_TAGS),
        ("<q></q><q>?</q>", "stop", Failure.NO_TAGS),
        ("[" * 100_000, "stop", Failure.NO_TAGS),
    ],
)
def test_reply_without_items_has_its_failure(reply, finish_reason, failure):
    written = read(reply, 4, finish_reason)
    assert (written.products, written.failure, written.missing) == ((), failure, 4)
    assert written.detail.endswith((".", "”"))


def test_date_at_the_beginning_stays():
    reply = "<q>Wer verlor im März die Fähre?</q><q>3. Oktober oder 4. Oktober: Wann kam sie zurück?</q>"
    assert bodies(read(reply, 2))[1] == "3. Oktober oder 4. Oktober: Wann kam sie zurück?"


def test_refusal_between_tags_is_no_question():
    written = read("<q>I'm sorry, but I cannot write questions.</q><q>Why?</q>", 2)
    assert (bodies(written), written.failure, written.missing) == (["Why?"], Failure.TOO_FEW, 1)


def test_flags():
    have = ("Which fishing boats took passengers off the ferry Aurora?",)
    written = read(
        "<q>Which fishing boats took the passengers off the ferry Aurora?</q>"
        "<q>Name the captain.</q><q>Warum fährt sie nicht mehr？</q>",
        have=have,
    )
    assert [product.flags for product in written.products] == [
        ("nearly the same as question 1",),
        ("does not end in a question mark",),
        (),
    ]


def test_braces_and_markup_in_a_question_stay():
    reply = "<q>What is {n} in <b>bold</b> &amp; {{ x }}?</q>"
    assert bodies(read(reply, 1)) == ["What is {n} in <b>bold</b> &amp; {{ x }}?"]


def test_ten_is_the_number_where_none_is_said():
    written = TASK.read("<q>Why?</q>", "stop", Source(document="A document."))
    assert written.missing == 9
