"""Two servers of one judge: they share the pairs, and what one cannot do the other does."""

import asyncio
import re
import threading

import pytest

from judging.graders import openai_asking, openai_pool, patience
from judging.graders.base import AnotherJudge, Unavailable
from judging.graders.openai_api import OpenAIGrader
from judging.graders.openai_server import Address
from judging.grading.pairs import Failure
from tests.clock import HANGS
from tests.judging.graders import material
from tests.judging.graders.scripted_server import (
    ScriptedServer,
    as_json,
    completion,
    models,
    said,
    status,
)

QUESTIONS = [f"Q{number}" for number in range(24)]


@pytest.fixture
def other(server):
    with ScriptedServer() as other:
        yield other


@pytest.fixture
def aside():
    return {}


@pytest.fixture
def pool(server, other, aside, monkeypatch):
    """A grader of both servers: `pool(concurrency=8)`. It waits for nobody while another answers."""
    monkeypatch.setattr(openai_asking, "MAKES_WAY", 0)
    monkeypatch.setattr(openai_pool, "SILENCE", HANGS)  # all have answered before the first pair

    def pool(**options):
        values = {"key": None, "concurrency": 8, "patience": 120}
        others = [Address(other.url, options.pop("other_key", None))]
        return OpenAIGrader(
            material.spec(),
            server.url,
            others=others,
            on_aside=aside.__setitem__,
            **values | options,
        )

    return pool


def answers_all(server, answer):
    for question in [*QUESTIONS, "Reply with 0."]:
        server.script(question, answer)


def grades(replies):
    return {reply.grade for reply in replies.values()}


def test_both_are_asked_what_they_serve_and_share_the_pairs(server, other, pool, aside):
    async def together(request, body):
        while min(server.most_at_once, other.most_at_once) < 4:
            await asyncio.sleep(0.01)
        return await said("4")(request, body)

    for each in (server, other):
        answers_all(each, together)
    replies = material.graded(pool(), *QUESTIONS)
    assert (len(replies), grades(replies), aside) == (24, {4}, {})
    # Eight at once are never more than four at one of them.
    assert (server.most_at_once, other.most_at_once) == (4, 4)
    assert server.asked + other.asked == dict.fromkeys(QUESTIONS, 1)
    assert [len(each.headers) - each.asked.total() for each in (server, other)] == [1, 1]


def test_one_pair_at_a_time_goes_to_them_in_turn(server, other, pool):
    material.graded(pool(concurrency=1), *QUESTIONS)
    assert (server.asked.total(), other.asked.total()) == (12, 12)


def test_the_faster_one_gets_more(server, other, pool):
    async def slow(request, body):
        while other.asked.total() < 16:
            await asyncio.sleep(0.01)
        return await said("4")(request, body)

    answers_all(server, slow)
    replies = material.graded(pool(concurrency=4), *QUESTIONS)
    assert len(replies) == 24
    # Two of four wait at the slow one, so that the other is always the freer, up to its sixteenth pair.
    assert server.asked.total() <= 2 + (24 - 2 - 16)
    assert other.asked.total() >= 16


def test_each_is_sent_its_own_key(server, other, pool):
    material.graded(pool(key="one-secret", other_key="another-secret"), *QUESTIONS)
    sent = [{headers.get("Authorization") for headers in each.headers} for each in (server, other)]
    assert sent == [{"Bearer one-secret"}, {"Bearer another-secret"}]


def test_one_that_lists_another_model_and_does_not_know_this_is_put_aside(
    server, other, pool, aside
):
    other.answers["/v1/models"] = models("large")
    answers_all(other, status(404, "The model `tiny` does not exist."))
    assert grades(material.graded(pool(), *QUESTIONS)) == {3}
    assert f"The server at {other.url} does not serve tiny" in aside[other.url]
    assert "The server lists large, and not tiny." in aside[other.url]


def test_one_that_does_not_list_the_model_and_has_it_is_asked(server, other, pool, aside):
    other.answers["/v1/models"] = models("large")
    material.graded(pool(concurrency=1), *QUESTIONS)
    assert (server.asked.total(), other.asked.total(), aside) == (12, 12, {})


def test_one_whose_replies_name_another_model_is_put_aside(server, other, pool, aside):
    answers_all(other, as_json(completion("4") | {"model": "large"}))
    replies = material.graded(pool(), *QUESTIONS)
    assert grades(replies) == {3}  # a reply of the other model would be an error
    assert "answers as large. If that is the model you mean" in aside[other.url]
    assert server.asked == dict.fromkeys(QUESTIONS, 1)


@pytest.mark.parametrize("concurrency", [1, 2])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (status(500, "CUDA error"), "has not answered any question for .*: 500 CUDA error"),
        (status(401), "wants a key"),
        (status(404, "The model `tiny` does not exist."), "does not serve tiny"),
        (status(402, "no money"), "wants to be paid"),
    ],
)
def test_one_that_answers_none_is_put_aside_and_the_other_does_its_pairs(
    server, other, pool, aside, answer, why, concurrency
):
    answers_all(other, answer)
    answers_all(server, said("3", after=0.01))
    replies = material.graded(pool(concurrency=concurrency), *QUESTIONS)
    assert (len(replies), grades(replies)) == (24, {3})
    assert list(aside) == [other.url]
    assert re.search(why, aside[other.url])


@pytest.mark.timing
def test_one_that_is_killed_loses_nothing(server, other, pool, aside):
    for each in (server, other):
        answers_all(each, said("4", after=0.05))
    grader, graded = pool(), []
    for reply in grader.replies(iter(material.pairs(*QUESTIONS))):
        if reply is not None:
            graded.append((reply.pair.question, reply.grade))
            if len(graded) == 6:
                other.stop()
    other.start()
    assert sorted(graded) == sorted((question, 4) for question in QUESTIONS)
    assert list(aside) == [other.url]
    assert "the connection failed" in aside[other.url]
    # What is put aside stays so: the next pairs of this grader go to the first server alone.
    before = len(other.headers)
    assert grades(material.graded(grader, "Q1", "Q2")) == {4}
    assert (len(other.headers), list(aside)) == (before, [other.url])


def test_one_that_is_not_there_is_put_aside_before_the_first_pair(server, other, pool, aside):
    other.stop()
    replies = material.graded(pool(), "Q1")
    other.start()
    assert (grades(replies), list(aside)) == ({3}, [other.url])


def test_one_that_answers_late_joins(server, other, pool, aside):
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
        return await said("3")(request, body)

    other.answers["/v1/models"] = late
    answers_all(server, until_ready)
    material.graded(pool(concurrency=1), *QUESTIONS)
    assert (other.asked.total() > 0, aside) == (True, {})


def test_pairs_that_wait_at_a_server_that_is_put_aside_go_at_once(
    server, other, pool, aside, monkeypatch
):
    # The waits are so long that only who is woken gets a reply here.
    monkeypatch.setattr(patience, "FIRST_WAIT", 10_000)
    monkeypatch.setattr(patience, "LONGEST_WAIT", 10_000)
    server.script("Q0", status(500))
    answers_all(other, said("3", after=0.05))
    server.script("Q2", status(401))
    replies = material.graded(pool(concurrency=3), "Q0", "Q1", "Q2")
    assert (len(replies), grades(replies), list(aside)) == (3, {3}, [server.url])


def test_a_pair_that_fails_everywhere_is_its_own_error_and_puts_nobody_aside(
    server, other, pool, aside
):
    for each in (server, other):
        answers_all(each, said("3", after=0.02))
        each.script("Q5", status(500, "tokenizer crashed"))
    replies = material.graded(pool(), *QUESTIONS)
    assert replies.pop("Q5").failure is Failure.SERVER
    assert (grades(replies), aside) == ({3}, {})


def test_where_none_serves_the_model_the_work_ends(server, other, pool, aside):
    for each in (server, other):
        answers_all(each, status(404, "The model `tiny` does not exist."))
    with pytest.raises(AnotherJudge, match="does not serve tiny"):
        material.graded(pool(), "Q1")
    assert len(aside) == 1  # the last is what the error is about


@pytest.mark.timing
def test_where_all_fall_silent_they_have_patience(server, other, pool, aside):
    for each in (server, other):
        answers_all(each, status(500))
    with pytest.raises(Unavailable, match="has not answered any question for"):
        material.graded(pool(patience=0.5), *QUESTIONS)
    assert len(aside) == 1


def test_the_last_one_left_ends_as_one_alone_does(server, other, pool, aside):
    other.stop()
    server.script("Q3", status(401))
    with pytest.raises(Unavailable, match="wants a key"):
        material.graded(pool(concurrency=1), *QUESTIONS)
    other.start()
    assert list(aside) == [other.url]


def test_one_address_twice_is_one_server(server):
    same = [Address(server.url, None), Address(f"{server.url}/", None)]
    grader = OpenAIGrader(material.spec(), server.url, key=None, others=same)
    assert grades(material.graded(grader, "Q1")) == {3}
    assert len(server.headers) == 2  # what it serves, and the pair
