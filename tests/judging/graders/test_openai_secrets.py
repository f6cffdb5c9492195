"""Redaction of keys that a server repeats; placeholders for "no key" are no secrets."""

import json

import pytest

from judging.grading.pairs import State
from judging.llm.completion import RAW_LIMIT
from judging.llm.errors import Failure
from judging.llm.server import WORDS_LIMIT
from tests.toolbox.scripted_server import as_body, as_json, completion, reply_with, status

KEY = "sk-secret-0123456789-0123456789"


@pytest.mark.parametrize("before", range(WORDS_LIMIT - len(KEY) - 9, WORDS_LIMIT + 2, 5))
def test_key_in_a_cut_message_is_redacted(server, ask, before):
    server.script("Q", status(400, "x" * before + KEY + " is no good"))
    assert "sk-secret" not in ask("Q", key=KEY)["Q"].detail


@pytest.mark.parametrize("before", [0, RAW_LIMIT - 12, RAW_LIMIT + 5])
def test_key_in_an_oversized_reply_is_redacted(server, ask, before):
    server.script("Q", reply_with("y" * before + KEY + "y" * RAW_LIMIT))
    reply = ask("Q", key=KEY)["Q"]
    assert reply.failure is Failure.OVERSIZED
    assert "sk-secret" not in reply.raw


def test_key_in_a_cut_body_is_redacted(server, ask):
    server.script("Q", as_body(KEY.encode() * 20_000))
    reply = ask("Q", key=KEY)["Q"]
    assert reply.failure is Failure.OVERSIZED
    assert "sk-secret" not in reply.raw
    assert reply.raw.startswith("[key][key]")


@pytest.mark.parametrize("key", ["token", "a", "0", "3", "EMPTY"])
def test_word_in_the_place_of_a_key_changes_no_reply(server, ask, key):
    reply = ask("Q", key=key)["Q"]
    assert (reply.state, reply.grade, reply.raw) == (State.GRADED, 3, "3")
    assert (reply.prompt_tokens, reply.completion_tokens) == (40, 1)


def test_key_that_is_a_name_in_the_answer_takes_nothing_from_it(server, ask):
    reply = ask("Q", key="completion_tokens")["Q"]
    assert (reply.grade, reply.completion_tokens) == (3, 1)


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (reply_with("z" * (RAW_LIMIT + 1)), Failure.OVERSIZED),
        (as_json({**completion("4"), "choices": []}), Failure.MALFORMED),
    ],
)
def test_tokens_of_unreadable_replies_are_counted(server, ask, answer, failure):
    server.script("Q", answer)
    reply = ask("Q")["Q"]
    assert reply.failure is failure
    assert (reply.prompt_tokens, reply.completion_tokens) == (40, 1)


def test_key_in_a_broken_body_is_redacted(server, ask):
    server.script("Q", as_body(json.dumps({"odd": KEY}).encode()))
    reply = ask("Q", key=KEY)["Q"]
    assert (reply.failure, reply.raw) == (Failure.MALFORMED, '{"odd": "[key]"}')
