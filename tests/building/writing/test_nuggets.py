"""Replies to "write n nuggets", and what they become."""

import pytest

from building.writing.outputs import Failure, Source
from building.writing.parse import split_importance
from building.writing.tasks import TASKS, render

TASK = TASKS["nuggets"]


def read(reply: str, n: int = 2, finish_reason: str | None = "stop", have: tuple[str, ...] = ()):
    return TASK.read(reply, finish_reason, Source(document="A document.", n=n, existing=have))


def bodies(written) -> list[str]:
    return [product.body for product in written.products]


TWO = ["[vital] The ferry Aurora sank.", "[okay] It was built in 1931."]


@pytest.mark.parametrize(
    "reply",
    [
        "<n>[vital] The ferry Aurora sank.</n>\n<n>[okay] It was built in 1931.</n>",
        "<N>1. [Vital]  The ferry\nAurora sank.</N> <n>- [OKAY] It was built in 1931.</n>",
        "<think><n>[vital] No.</n></think><n>[vital] The ferry Aurora sank.</n>"
        "<n>[okay] It was built in 1931.</n><n>[okay] Nobody knows more.</n>",
    ],
)
def test_nuggets_are_parsed_with_importance(reply):
    written = read(reply)
    assert (bodies(written), written.failure, written.missing) == (TWO, None, 0)


def test_nugget_without_importance_is_left_out_and_reported():
    written = read("<n>The ferry Aurora sank.</n><n>[great] It sank.</n><n>[okay] It sank.</n>")
    assert bodies(written) == ["[okay] It sank."]
    assert (written.failure, written.missing) == (Failure.TOO_FEW, 1)
    assert "2 without [vital] or [okay] are left out." in written.detail


def test_existing_nugget_is_not_written_again():
    """With its importance, as from a draft, or without, as from the collection."""
    reply = "<n>[vital] It sank.</n><n>[okay] It burned.</n><n>[okay] IT SANK.</n>"
    for have in (("It sank.",), ("[okay] It sank.",)):
        assert bodies(read(reply, have=have)) == ["[okay] It burned."]


def test_flags_are_for_who_reviews():
    long = " ".join(f"word{n}" for n in range(31))
    reply = f"<n>[okay] {long}</n><n>[vital] The ferry Aurora sank off Halden.</n>" + (
        "<n>[okay] Off Halden sank the ferry Aurora.</n>"
    )
    first, second, third = read(reply, n=3).products
    assert first.flags == ("has 31 words, which is long for one fact",)
    assert second.flags == ()
    assert third.flags == ("nearly the same as nugget 2",)


@pytest.mark.parametrize(
    ("reply", "finish_reason", "failure"),
    [
        ("[vital] The ferry sank.", "stop", Failure.NO_TAGS),
        ("", "stop", Failure.EMPTY),
        ("<n>[vital] The ferry", "length", Failure.CUT),
        ("<n>[vital] It sank.</n>", "content_filter", Failure.REFUSED),
        ("I cannot write about a document without words.", "stop", Failure.REFUSED),
    ],
)
def test_invalid_reply_has_its_failure(reply, finish_reason, failure):
    written = read(reply, finish_reason=finish_reason)
    assert (written.products, written.failure) == ((), failure)


@pytest.mark.parametrize(
    ("nugget", "expected"),
    [
        ("[vital] It sank.", ("vital", "It sank.")),
        (" [Okay]It sank. ", ("okay", "It sank.")),
        ("It sank.", ("", "It sank.")),
        ("[vital]", ("", "[vital]")),
    ],
)
def test_importance_stands_before_the_words(nugget, expected):
    assert split_importance(nugget) == expected


def test_prompt_shows_request_document_and_what_is_there():
    source = Source(
        request="What of the ferry?", document="It sank.", existing=("It burned.",), n=3
    )
    _, message = render(TASK, TASK.system, TASK.prompt, source)
    for part in ("What of the ferry?", "It sank.", "1. It burned.", "Write 3 new nuggets"):
        assert part in message["content"]
