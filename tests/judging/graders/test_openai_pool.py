"""Two servers of one judge: they share the pairs, and what one cannot do the other does."""

import asyncio
import re
import threading

import pytest

from judging.graders.chat import OpenAIGrader
from judging.llm import pool as llm_pool
from judging.llm import retry, server_client
from judging.llm.errors import BackendUnavailableError, Failure, ModelMismatchError
from judging.llm.server import Address
from tests.judging.graders import material
from tests.toolbox.clock import HANGS
from tests.toolbox.scripted_server import (
    ScriptedServer,
    as_json,
    completion,
    models,
    reply_with,
    status,
)

QUESTIONS = [f"Q{number}" for number in range(24)]


@pytest.fixture
def second(server):
    with ScriptedServer() as started:
        yield started


@pytest.fixture
def aside():
    return {}


@pytest.fixture
def pool(server, second, aside, monkeypatch):
    """Return a grader of both servers: `pool(concurrency=8)`.

    It waits for nobody while another answers.
    """
    monkeypatch.setattr(server_client, "MAKES_WAY", 0)
    monkeypatch.setattr(llm_pool, "SILENCE", HANGS)  # all have answered before the first pair

    def pool(**options):
        values = {"key": None, "concurrency": 8, "retry_seconds": 120}
        addresses = [Address(second.url, options.pop("other_key", None))]
        return OpenAIGrader(
            material.spec(),
            server.url,
            other_addresses=addresses,
            on_aside=aside.__setitem__,
            **values | options,
        )

    return pool


def answers_all(server, answer):
    for question in [*QUESTIONS, "Reply with 0."]:
        server.script(question, answer)


def grades(replies):
    return {reply.grade for reply in replies.values()}


def test_both_are_asked_what_they_serve_and_share_the_pairs(server, second, pool, aside):
    async def answer_with_others(request, body):
        while min(server.most_at_once, second.most_at_once) < 4:
            await asyncio.sleep(0.01)
        return await reply_with("4")(request, body)

    for host in (server, second):
        answers_all(host, answer_with_others)
    replies = material.graded(pool(), *QUESTIONS)
    assert (len(replies), grades(replies), aside) == (24, {4}, {})
    # Eight at once are never more than four at one of them.
    assert (server.most_at_once, second.most_at_once) == (4, 4)
    assert server.asked + second.asked == dict.fromkeys(QUESTIONS, 1)
    assert [len(host.headers) - host.asked.total() for host in (server, second)] == [1, 1]


def test_single_pairs_go_to_servers_in_turn(server, second, pool):
    material.graded(pool(concurrency=1), *QUESTIONS)
    assert (server.asked.total(), second.asked.total()) == (12, 12)


def test_faster_one_gets_more(server, second, pool):
    async def slow(request, body):
        while second.asked.total() < 16:
            await asyncio.sleep(0.01)
        return await reply_with("4")(request, body)

    answers_all(server, slow)
    replies = material.graded(pool(concurrency=4), *QUESTIONS)
    assert len(replies) == 24
    # Two of four wait at the slow one, so that the other is always the freer, up to its sixteenth pair.
    assert server.asked.total() <= 2 + (24 - 2 - 16)
    assert second.asked.total() >= 16


def test_servers_get_their_own_keys(server, second, pool):
    material.graded(pool(key="one-secret", other_key="another-secret"), *QUESTIONS)
    sent = [{headers.get("Authorization") for headers in host.headers} for host in (server, second)]
    assert sent == [{"Bearer one-secret"}, {"Bearer another-secret"}]


def test_server_with_another_model_is_put_aside(server, second, pool, aside):
    second.answers["/v1/models"] = models("large")
    answers_all(second, status(404, "The model `tiny` does not exist."))
    assert grades(material.graded(pool(), *QUESTIONS)) == {3}
    assert f"The server at {second.url} does not serve tiny" in aside[second.url]
    assert "The server lists large, and not tiny." in aside[second.url]


def test_server_with_an_unlisted_model_is_asked(server, second, pool, aside):
    second.answers["/v1/models"] = models("large")
    material.graded(pool(concurrency=1), *QUESTIONS)
    assert (server.asked.total(), second.asked.total(), aside) == (12, 12, {})


def test_server_with_replies_of_another_model_is_put_aside(server, second, pool, aside):
    answers_all(second, as_json(completion("4") | {"model": "large"}))
    replies = material.graded(pool(), *QUESTIONS)
    assert grades(replies) == {3}  # a reply of the other model would be an error
    assert "answers as large. If that is the model you mean" in aside[second.url]
    assert server.asked == dict.fromkeys(QUESTIONS, 1)


@pytest.mark.parametrize("concurrency", [1, 2])
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (status(500, "CUDA error"), "has not answered any question for .*: 500 CUDA error"),
        (status(401), "wants a key"),
        (status(404, "The model `tiny` does not exist."), "does not serve tiny"),
        (status(402, "no money"), "wants to be paid"),
    ],
)
def test_silent_server_is_put_aside_and_the_other_does_its_pairs(
    server, second, pool, aside, answer, reason, concurrency
):
    answers_all(second, answer)
    answers_all(server, reply_with("3", delay=0.01))
    replies = material.graded(pool(concurrency=concurrency), *QUESTIONS)
    assert (len(replies), grades(replies)) == (24, {3})
    assert list(aside) == [second.url]
    assert re.search(reason, aside[second.url])


@pytest.mark.timing
def test_killed_server_loses_nothing(server, second, pool, aside):
    for host in (server, second):
        answers_all(host, reply_with("4", delay=0.05))
    grader, graded = pool(), []
    for reply in grader.replies(iter(material.pairs(*QUESTIONS))):
        if reply is not None:
            graded.append((reply.pair.question, reply.grade))
            if len(graded) == 6:
                second.stop()
    second.start()
    assert sorted(graded) == sorted((question, 4) for question in QUESTIONS)
    assert list(aside) == [second.url]
    assert "the connection failed" in aside[second.url]
    # What is dropped stays so: the next pairs of this grader go to the first server alone.
    before = len(second.headers)
    assert grades(material.graded(grader, "Q1", "Q2")) == {4}
    assert (len(second.headers), list(aside)) == (before, [second.url])


def test_missing_server_is_put_aside_before_the_first_pair(server, second, pool, aside):
    second.stop()
    replies = material.graded(pool(), "Q1")
    second.start()
    assert (grades(replies), list(aside)) == ({3}, [second.url])


def test_late_server_joins(server, second, pool, aside):
    tries = iter([status(503), status(503)])
    is_ready = threading.Event()

    async def late(request, body):
        if busy := next(tries, None):
            return await busy(request, body)
        is_ready.set()
        return await models("tiny")(request, body)

    async def until_ready(request, body):
        while not is_ready.is_set():
            await asyncio.sleep(0.01)
        return await reply_with("3")(request, body)

    second.answers["/v1/models"] = late
    answers_all(server, until_ready)
    material.graded(pool(concurrency=1), *QUESTIONS)
    assert (second.asked.total() > 0, aside) == (True, {})


def test_pairs_that_wait_at_a_server_that_is_put_aside_go_at_once(
    server, second, pool, aside, monkeypatch
):
    # The waits are so long that only who is woken gets a reply here.
    monkeypatch.setattr(retry, "FIRST_WAIT", 10_000)
    monkeypatch.setattr(retry, "LONGEST_WAIT", 10_000)
    server.script("Q0", status(500))
    answers_all(second, reply_with("3", delay=0.05))
    server.script("Q2", status(401))
    replies = material.graded(pool(concurrency=3), "Q0", "Q1", "Q2")
    assert (len(replies), grades(replies), list(aside)) == (3, {3}, [server.url])


def test_pair_that_fails_everywhere_is_its_own_error_and_puts_nobody_aside(
    server, second, pool, aside
):
    for host in (server, second):
        answers_all(host, reply_with("3", delay=0.02))
        host.script("Q5", status(500, "tokenizer crashed"))
    replies = material.graded(pool(), *QUESTIONS)
    assert replies.pop("Q5").failure is Failure.SERVER
    assert (grades(replies), aside) == ({3}, {})


def test_servers_without_the_model_end_the_work(server, second, pool, aside):
    for host in (server, second):
        answers_all(host, status(404, "The model `tiny` does not exist."))
    with pytest.raises(ModelMismatchError, match="does not serve tiny"):
        material.graded(pool(), "Q1")
    assert len(aside) == 1  # the last is what the error is about


@pytest.mark.timing
def test_silence_of_all_servers_is_waited_out(server, second, pool, aside):
    for host in (server, second):
        answers_all(host, status(500))
    with pytest.raises(BackendUnavailableError, match="has not answered any question for"):
        material.graded(pool(retry_seconds=0.5), *QUESTIONS)
    assert len(aside) == 1


def test_last_one_left_ends_as_one_alone_does(server, second, pool, aside):
    second.stop()
    server.script("Q3", status(401))
    with pytest.raises(BackendUnavailableError, match="wants a key"):
        material.graded(pool(concurrency=1), *QUESTIONS)
    second.start()
    assert list(aside) == [second.url]


def test_duplicate_address_is_one_server(server):
    same = [Address(server.url, None), Address(f"{server.url}/", None)]
    grader = OpenAIGrader(material.spec(), server.url, key=None, other_addresses=same)
    assert grades(material.graded(grader, "Q1")) == {3}
    assert len(server.headers) == 2  # what it serves, and the pair
