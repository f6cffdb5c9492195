"""Concurrency of requests: fewer after timeouts and 429, more while replies come."""

import asyncio
import time

import pytest

from judging.grading.pairs import State
from judging.grading.presets import PRESETS
from judging.llm.concurrency import Concurrency
from judging.llm.errors import Failure
from judging.llm.sampling import Sampling
from judging.llm.timeouts import LONGEST, SHORTEST, reply_seconds
from tests.toolbox.scripted_server import reply_with, status

QUESTIONS = [f"Q{number}" for number in range(64)]
LOCAL, PUBLIC = "http://127.0.0.1:8001/v1", "https://api.example.org/v1"


def one_at_a_time(seconds):
    """An answer of a server of one slot, which others wait for in their order."""
    slot = asyncio.Lock()

    async def answer(request, body):
        async with slot:
            return await reply_with("4", delay=seconds)(request, body)

    return answer


@pytest.mark.timing
def test_server_of_one_slot_is_paid_once_for_each_reply_and_gets_fewer_at_once(server, ask):
    limits = []
    answer = one_at_a_time(0.02)
    for question in [*QUESTIONS, "Reply with 0."]:
        server.script(question, answer)
    # All of them take 1.3 seconds, and one may take 0.3.
    replies = ask(*QUESTIONS, concurrency=64, timeout=0.3, on_concurrency=limits.append)
    assert {reply.grade for reply in replies.values()} == {4}
    assert server.asked == dict.fromkeys(QUESTIONS, 1)
    assert min(limits) < 64


@pytest.mark.timing
def test_server_that_lets_others_go_first_ends_in_no_livelock(server, ask):
    waiting = []

    async def newest_first(request, body):
        mine = object()
        waiting.append(mine)
        while waiting[-1] is not mine:
            await asyncio.sleep(0.002)
        try:
            return await reply_with("4", delay=0.02)(request, body)
        finally:
            waiting.remove(mine)

    for question in [*QUESTIONS, "Reply with 0."]:
        server.script(question, newest_first)
    replies = ask(*QUESTIONS, concurrency=64, timeout=0.5)
    assert {reply.grade for reply in replies.values()} == {4}


@pytest.mark.timing
def test_reply_that_takes_longer_than_others_is_asked_for_again_while_those_come(server, ask):
    server.script("Q0", reply_with("1", delay=60), reply_with("4"))
    for question in QUESTIONS[1:]:
        server.script(question, reply_with("3", delay=0.1))
    replies = ask(*QUESTIONS, concurrency=2, timeout=1)
    assert (replies["Q0"].grade, server.asked["Q0"]) == (4, 2)


@pytest.mark.timing
def test_429_halves_what_is_asked_at_once(server, ask):
    limits = []

    async def at_most_four(request, body):
        busy = len(server._under_way) > 4
        return await (status(429) if busy else reply_with("4", delay=0.05))(request, body)

    for question in QUESTIONS:
        server.script(question, at_most_four)
    # Told about once a second, and at the end.
    replies = ask(*QUESTIONS, concurrency=32, on_concurrency=limits.append)
    assert {reply.grade for reply in replies.values()} == {4}
    assert limits
    assert limits[-1] <= 16


def test_run_begins_where_it_was(server, ask):
    for question in QUESTIONS:
        server.script(question, reply_with("4", delay=0.02))
    ask(*QUESTIONS[:24], concurrency=64, start_concurrency=3)
    assert server.most_at_once <= 10  # one more with each round


def limit_after(load, *steps):
    """Return the limit after steps in order: "reply", "timeout" or "429".

    All requests were sent before the steps.
    """
    sent = time.monotonic()
    for step in steps:
        {"reply": load.replied, "timeout": load.timed_out, "429": load.has_too_much}[step](sent)
    return load.limit


def test_limit_by_hand():
    load = Concurrency(8)
    load.n_out = 7  # beside the one that failed
    assert limit_after(load, "429") == 4
    # Sent before the decrease, and so no sign that 4 are too many.
    assert limit_after(load, *["reply"] * 4) == pytest.approx(4.92, abs=0.01)
    assert limit_after(load, *["reply"] * 40) == 8
    assert limit_after(Concurrency(1), "429", "timeout") == 1


def test_single_timeout_in_many_replies_does_not_lower_the_limit():
    load = Concurrency(8)
    load.n_out = 7
    for _ in range(20):
        load.replied(0.0)
    assert limit_after(load, "timeout") == 8
    assert limit_after(load, "timeout") == 4


@pytest.mark.parametrize(
    ("n_replies", "sent", "timeout", "is_queued"),
    [
        (0, 0, 1, False),  # a server that answers nothing is silent
        (1, 0, 1, True),
        (1, -1, 1, False),  # what was sent a second later was answered
        (1, 0, 0, False),
    ],
)
def test_request_is_queued_where_others_are_answered_and_none_sent_later(
    n_replies, sent, timeout, is_queued
):
    load, now = Concurrency(8), time.monotonic()
    for _ in range(n_replies):
        load.replied(now)
    assert load.is_queued(now + sent, timeout) is is_queued


def test_place_of_one_that_is_cancelled_goes_to_the_next():
    async def main():
        load = Concurrency(1)
        await load.acquire()
        first, second = (asyncio.create_task(load.acquire()) for _ in range(2))
        await asyncio.sleep(0)
        load.release()
        first.cancel()
        await asyncio.wait_for(second, 5)
        assert load.n_out == 1

    asyncio.run(main())


@pytest.mark.parametrize(
    ("sampling", "url", "seconds"),
    [
        (Sampling(), PUBLIC, SHORTEST),
        (Sampling(), LOCAL, SHORTEST),
        (Sampling(max_tokens=1_000), PUBLIC, 230),
        (Sampling(max_tokens=1_000), LOCAL, 280),
        (Sampling(max_tokens=1_000), "http://gpu1:8001/v1", 280),
        (Sampling(max_tokens=1_000, extra={"n": 3}), PUBLIC, 330),
        (Sampling(max_tokens=16, extra={"reasoning_effort": "high"}), PUBLIC, 600),
        (PRESETS["openai-reasoning"].sampling(1), PUBLIC, 600),
        (PRESETS["vllm-think"].sampling(1), LOCAL, 980),
        (Sampling(max_tokens=100_000), LOCAL, LONGEST),
    ],
)
def test_default_timeout_by_hand(sampling, url, seconds):
    assert reply_seconds(sampling, [url]) == seconds


def test_pair_that_always_times_out_is_an_error_where_others_are_graded(server, ask):
    server.script("Q0", reply_with("4", delay=60))
    for question in QUESTIONS[1:40]:
        server.script(question, reply_with("3", delay=0.1))
    replies = ask(*QUESTIONS[:40], concurrency=2, timeout=0.3)
    assert (replies["Q0"].state, replies["Q0"].failure) == (State.ERROR, Failure.TIMEOUT)
    assert {replies[question].grade for question in QUESTIONS[1:40]} == {3}
