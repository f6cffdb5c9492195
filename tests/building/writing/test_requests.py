"""Replies to "write the request", and what they become."""

import pytest

from building.writing.outputs import Failure, Source
from building.writing.tasks import TASKS
from tests.toolbox.document_texts import DOCUMENT, sample_text

GOOD = (
    "Please report on the loss of the ferry Aurora: what failed, who came to help, what the inspectors "
    "had asked for {before}, and what became of the company's licence and of its other ferries."
)


def read(reply: str, finish_reason: str | None = "stop"):
    return TASKS["request"].read(reply, finish_reason, Source(document=DOCUMENT))


@pytest.mark.parametrize(
    ("reply", "flags"),
    [
        (f"<r>{GOOD}</r>", ()),
        ("Sure.\r\n<r>\r\n" + GOOD.replace(", ", ",\r\n") + "\r\n</r> Tell me if it helps.", ()),
        (f"<r>{GOOD}</r>\n<r> {GOOD} </r>", ()),
        (f"{GOOD}</r>", ("one of its tags is missing",)),
        (f"<r>{GOOD}", ("one of its tags is missing",)),
    ],
)
def test_request(reply, flags):
    written = read(reply)
    assert [(product.body, product.flags) for product in written.products] == [(GOOD, flags)]
    assert (written.failure, written.missing) == (None, 0)


@pytest.mark.parametrize(
    ("reply", "finish_reason", "failure"),
    [
        (GOOD, "stop", Failure.NO_TAGS),
        (f"<r>{GOOD}", "length", Failure.CUT),
        (f"<r>{GOOD}</r><r>{sample_text(30)}</r>", "stop", Failure.TOO_MANY),
        (f"<r>{sample_text(19)}</r>", "stop", Failure.TOO_SHORT),
        (f"<r>{sample_text(151)}</r>", "stop", Failure.TOO_LONG),
        # A sentence of the document, in other case and without its comma.
        (
            f"<r>{GOOD} THE captain Ida  Vold stayed on board with nine of her crew!</r>",
            "stop",
            Failure.COPIES,
        ),
        (f"<r>{'Write a report on it. ' * 5}</r>", "stop", Failure.LOOPS),
        (
            "<r>I'm sorry, but I can't write this request, as the document deals with an accident.</r>",
            "stop",
            Failure.REFUSED,
        ),
        ("", "stop", Failure.EMPTY),
    ],
)
def test_invalid_request_has_its_failure(reply, finish_reason, failure):
    written = read(reply, finish_reason)
    assert (written.products, written.failure, written.missing) == ((), failure, 1)
    assert written.detail[0].isupper()


def test_20_and_150_words_are_within():
    assert read(f"<r>{sample_text(20)}</r>").failure is None
    assert read(f"<r>{sample_text(150)}</r>").failure is None


def test_copied_sentence_is_reported():
    written = read(f"<r>{GOOD} The captain, Ida Vold, stayed on board with nine of her crew.</r>")
    assert written.detail == (
        "It holds this sentence of its source: "
        "“The captain, Ida Vold, stayed on board with nine of her crew.”"
    )
