"""A key that a server repeats is kept nowhere, and a word that stands for no key is no secret."""

import json

import pytest

from judging.graders.openai_server import WORDS_LIMIT
from judging.grading.pairs import RAW_LIMIT, Failure, State
from tests.judging.graders.scripted_server import as_body, as_json, completion, said, status

KEY = "sk-secret-0123456789-0123456789"


@pytest.mark.parametrize("before", range(WORDS_LIMIT - len(KEY) - 9, WORDS_LIMIT + 2, 5))
def test_no_part_of_a_key_is_left_where_words_are_cut(server, ask, before):
    server.script("Q", status(400, "x" * before + KEY + " is no good"))
    assert "sk-secret" not in ask("Q", key=KEY)["Q"].detail


@pytest.mark.parametrize("before", [0, RAW_LIMIT - 12, RAW_LIMIT + 5])
def test_no_part_of_a_key_is_left_of_a_reply_that_is_too_long(server, ask, before):
    server.script("Q", said("y" * before + KEY + "y" * RAW_LIMIT))
    reply = ask("Q", key=KEY)["Q"]
    assert reply.failure is Failure.OVERSIZED
    assert "sk-secret" not in reply.raw


def test_no_part_of_a_key_is_left_of_a_body_that_was_not_read_to_its_end(server, ask):
    server.script("Q", as_body(KEY.encode() * 20_000))
    reply = ask("Q", key=KEY)["Q"]
    assert reply.failure is Failure.OVERSIZED
    assert "sk-secret" not in reply.raw
    assert reply.raw.startswith("[key][key]")


@pytest.mark.parametrize("key", ["token", "a", "0", "3", "EMPTY"])
def test_a_word_in_the_place_of_a_key_changes_no_reply(server, ask, key):
    reply = ask("Q", key=key)["Q"]
    assert (reply.state, reply.grade, reply.raw) == (State.GRADED, 3, "3")
    assert (reply.prompt_tokens, reply.completion_tokens) == (40, 1)


def test_a_key_that_is_a_name_in_the_answer_takes_nothing_from_it(server, ask):
    reply = ask("Q", key="completion_tokens")["Q"]
    assert (reply.grade, reply.completion_tokens) == (3, 1)


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (said("z" * (RAW_LIMIT + 1)), Failure.OVERSIZED),
        (as_json({**completion("4"), "choices": []}), Failure.MALFORMED),
    ],
)
def test_what_cannot_be_read_was_paid_for_all_the_same(server, ask, answer, failure):
    server.script("Q", answer)
    reply = ask("Q")["Q"]
    assert reply.failure is failure
    assert (reply.prompt_tokens, reply.completion_tokens) == (40, 1)


def test_words_of_a_broken_body_are_hushed(server, ask):
    server.script("Q", as_body(json.dumps({"odd": KEY}).encode()))
    reply = ask("Q", key=KEY)["Q"]
    assert (reply.failure, reply.raw) == (Failure.MALFORMED, '{"odd": "[key]"}')
