"""The client keeps its event loop to itself, whichever loop the process uses."""

import asyncio
import gc
import signal

import pytest
import uvloop

from judging.llm import chat_client
from tests.toolbox.scripted_server import reply_with

AT_ONCE = 32
QUESTIONS = [f"Q{number}" for number in range(AT_ONCE)]


@pytest.fixture
def other_loop():
    """As in a worker of Ray, which makes uvloop the loop of the process where it is installed."""
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    yield
    asyncio.set_event_loop_policy(None)


@pytest.mark.usefixtures("other_loop")
@pytest.mark.parametrize("time", range(20))  # whether they meet is left to the network
def test_replies_that_come_all_at_once_stop_the_loop_once(server, ask, time):
    n_open = 0

    async def answer_with_others(request, body):
        nonlocal n_open
        n_open += 1
        while n_open < AT_ONCE:
            await asyncio.sleep(0.01)
        return await reply_with("3")(request, body)

    for question in QUESTIONS:
        server.script(question, answer_with_others)
    replies = ask(*QUESTIONS, concurrency=AT_ONCE)
    assert {replies[question].grade for question in QUESTIONS} == {3}
    assert set(server.asked.values()) == {1}


def test_ctrl_c_in_the_middle_of_a_reply_ends_it_and_no_more(monkeypatch):
    monkeypatch.setattr(chat_client, "_SIGN_OF_LIFE", 0.01)
    ended = []

    async def interrupted():
        signal.raise_signal(signal.SIGINT)

    async def slow_to_end():
        try:
            await asyncio.Future()
        finally:
            await asyncio.sleep(0.05)
            ended.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with asyncio.Runner() as runner:
            work = chat_client._Work(runner.get_loop())
            work.begin(slow_to_end())
            work.begin(interrupted())
            with pytest.raises(KeyboardInterrupt):
                list(work.results())
            work.cancel()
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == [True]


@pytest.mark.soak
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_ctrl_c_in_a_task_of_the_http_client_is_told_once(error, caplog):
    async def elsewhere():
        raise error

    async def wait_forever():
        asyncio.get_running_loop().create_task(elsewhere())
        await asyncio.Future()

    with asyncio.Runner() as runner:
        work = chat_client._Work(runner.get_loop())
        work.begin(wait_forever())
        if error is KeyboardInterrupt:
            with pytest.raises(KeyboardInterrupt):
                next(work.results())
        else:
            assert next(work.results()) is None
        work.cancel()
        gc.collect()
    reported = [record for record in caplog.records if record.name == "asyncio"]
    assert len(reported) == (error is ValueError)
