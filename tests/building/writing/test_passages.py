"""Replies to "retell this document as passages", and what they become."""

import pytest

from building.writing.outputs import Failure, Source
from building.writing.tasks import TASKS
from tests.toolbox.document_texts import sample_text

TASK = TASKS["passages"]
LONG = sample_text(400)


def read(reply: str, finish_reason: str | None = "stop", document: str = LONG, n: int = 0):
    return TASK.read(reply, finish_reason, Source(document=document, n=n))


def tagged(*passages: str) -> str:
    return "\n".join(f"<p>{passage}</p>" for passage in passages)


def test_passages_are_parsed():
    written = read(f"Passages:\r\n{tagged(sample_text(60), sample_text(60, 60))}")
    assert [product.body for product in written.products] == [sample_text(60), sample_text(60, 60)]
    assert [product.flags for product in written.products] == [(), ()]
    assert (written.failure, written.detail, written.missing) == (None, "", 0)


def test_reply_without_its_last_closing_tag():
    """As a small model wrote it; and the paragraphs of a passage stay."""
    reply = f"<p>{sample_text(60)}</p>\n<p>{sample_text(50, 60)}\r\n\r\n{sample_text(50, 110)}\n"
    written = read(reply)
    assert written.products[1].body == f"{sample_text(50, 60)}\n\n{sample_text(50, 110)}"
    assert written.products[1].flags == ("one of its tags is missing",)
    assert written.failure is None
    # The same reply, stopped by its length: what is not closed is no passage.
    cut = read(reply, "length")
    assert (len(cut.products), cut.failure, cut.missing) == (1, Failure.TOO_FEW, 1)
    assert cut.detail == "The last one was cut off, and is left out."


def test_cut_one_of_three_is_left_out_and_two_are_enough():
    reply = tagged(sample_text(60), sample_text(60, 60)) + f"<p>{sample_text(30, 120)}"
    written = read(reply, "length")
    assert (len(written.products), written.failure) == (2, None)
    assert written.detail == "The last one was cut off, and is left out."


def test_prompt_may_have_opened_the_first_tag():
    written = read(f"{sample_text(60)}</p>\n<p>{sample_text(60, 60)}</p>")
    assert len(written.products) == 2
    assert written.products[0].flags == ("one of its tags is missing",)


def test_four_where_three_are_the_most():
    written = read(tagged(*(sample_text(50, start) for start in (0, 50, 100, 150))))
    assert [product.body for product in written.products] == [
        sample_text(50),
        sample_text(50, 50),
        sample_text(50, 100),
    ]
    assert written.detail == "4 were written, of which the first 3 were taken."


@pytest.mark.parametrize(
    ("second", "failure", "reason"),
    [
        (sample_text(39), Failure.TOO_SHORT, "it has 39 words, and 40 are the fewest."),
        (sample_text(401), Failure.TOO_LONG, "it has 401 words, and 400 are the most."),
        (
            " ".join(["The ferry was lost."] * 20),
            Failure.LOOPS,
            "it says again and again “The ferry was lost.”",
        ),
        (
            "I'm sorry, but I cannot write another one. " + sample_text(60),
            Failure.REFUSED,
            "it says “I'm sorry, but I cannot write another one.”",
        ),
    ],
)
def test_passage_out_of_bounds_is_left_out(second, failure, reason):
    written = read(tagged(sample_text(60), second))
    assert [product.body for product in written.products] == [sample_text(60)]
    assert (written.failure, written.missing) == (failure, 1)
    assert written.detail == f"Passage 2 was left out: {reason}"
    # With a third that is none, two are enough.
    assert read(tagged(sample_text(60), second, sample_text(60, 60))).failure is None


def test_40_and_400_words_are_within():
    assert read(tagged(sample_text(40), sample_text(400))).failure is None


def test_of_a_short_document_one_is_enough():
    short = sample_text(79)
    assert read(tagged(short), document=short).failure is None
    assert read(tagged(sample_text(20)), document=sample_text(20)).failure is None
    assert read(tagged(sample_text(80)), document=sample_text(80)).failure is Failure.TOO_FEW


def test_same_twice_is_one():
    written = read(tagged(sample_text(60), sample_text(60).upper()))
    assert (len(written.products), written.failure, written.missing) == (1, Failure.TOO_FEW, 1)


def test_unsupported_passage_is_flagged():
    """24 of 50 words of the passage are in the document, then 25: half is enough."""
    document = sample_text(100)
    foreign = " ".join(f"x{number}" for number in range(26))
    flags = [
        read(tagged(f"{sample_text(n)} {foreign}", sample_text(60)), document=document)
        .products[0]
        .flags
        for n in (24, 26)
    ]
    assert flags == [
        ("says things that the document does not: 24 of its 50 content words are there",),
        (),
    ]


@pytest.mark.parametrize(
    ("reply", "finish_reason", "failure"),
    [
        ("", "stop", Failure.EMPTY),
        (sample_text(100), "stop", Failure.NO_TAGS),
        (f"<p>{sample_text(100)}", "length", Failure.CUT),
        ("I cannot summarise this document.", "stop", Failure.REFUSED),
    ],
)
def test_reply_without_items_has_its_failure(reply, finish_reason, failure):
    written = read(reply, finish_reason)
    assert (written.products, written.failure, written.missing) == ((), failure, 2)


def test_numbers_of_passages_go():
    written = read(f"<p>Passage 1: {sample_text(50)}</p><p>2. {sample_text(50, 50)}</p>")
    assert [product.body for product in written.products] == [sample_text(50), sample_text(50, 50)]


def test_wherever_it_is_cut_what_is_taken_is_whole():
    three = [sample_text(45), sample_text(45, 45), sample_text(45, 90)]
    reply = tagged(*three)
    for end in range(0, len(reply), 7):
        written = read(reply[:end], "length")
        assert [product.body for product in written.products] == three[
            : reply.count("</p>", 0, end)
        ]
