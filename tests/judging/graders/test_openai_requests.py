"""Requests of the client: their content, their concurrency, and no leaked key."""

import asyncio
import itertools
import logging
import math
from dataclasses import asdict

import pytest

from judging.graders.chat import OpenAIGrader
from judging.grading.pairs import State
from judging.llm.errors import BackendError, BackendUnavailableError, Failure
from judging.llm.sampling import Sampling
from tests.judging.graders import material
from tests.toolbox.clock import HANGS
from tests.toolbox.scripted_server import (
    LABEL_IDS,
    as_body,
    drip,
    logprobs_of,
    models,
    reply_with,
    reset,
    status,
)

KEY = "sk-secret-0123456789"


def test_request_holds_what_the_judge_is(server, ask):
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=7, seed=11, extra={"min_p": 0.1})
    ask("Q", spec=material.spec(sampling=sampling, system="You grade."))
    assert server.bodies["Q"] == [
        {
            "model": "tiny",
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 7,
            "seed": 11,
            "logprobs": True,
            "top_logprobs": 20,
            "min_p": 0.1,
            "messages": [
                {"role": "system", "content": "You grade."},
                {"role": "user", "content": "Q\nText: Some words."},
            ],
        }
    ]


def test_unwanted_parameters_are_not_sent(server, ask):
    ask("Q", spec=material.spec(sampling=Sampling(seed=None, logprobs=False)))
    assert set(server.bodies["Q"][0]) == {"model", "temperature", "top_p", "max_tokens", "messages"}


def test_unicode_arrives_unchanged(server, ask):
    question = 'Ψ "quoted" \N{CROSS MARK} {text} \\ é'
    assert ask(question)[question].grade == 3


def test_probabilities_come_from_the_likeliest_tokens(server, ask):
    shares = {"4": math.log(0.6), " 3": math.log(0.2), "Q": math.log(0.1)}
    server.script("Q", reply_with("4", logprobs=logprobs_of(shares)))
    reply = ask("Q")["Q"]
    assert reply.probabilities == pytest.approx((None, None, None, 0.2, 0.6, None))
    assert reply.label_mass == pytest.approx(0.8)
    assert reply.expected_grade == pytest.approx((3 * 0.2 + 4 * 0.6) / 0.8)


def test_known_label_ids_give_each_grade_its_probability(server, ask):
    shares = dict(
        zip(map(str, LABEL_IDS), map(math.log, (0.1, 0.1, 0.1, 0.1, 0.5, 0.05)), strict=True)
    )
    # The chosen token is written "4" as well, with a space in front: another token, no label.
    logprobs = logprobs_of({"99": math.log(0.02), **shares}, as_ids=True)
    server.script("Q", reply_with(" 4", logprobs=logprobs))
    reply = ask("Q", spec=material.spec(label_ids=LABEL_IDS))["Q"]
    assert reply.probabilities == pytest.approx((0.1, 0.1, 0.1, 0.1, 0.5, 0.05))
    body = server.bodies["Q"][0]
    assert body["logprob_token_ids"] == list(LABEL_IDS)
    assert body["logprobs"] is body["return_tokens_as_token_ids"] is True


def test_server_that_knows_no_label_ids_is_read_by_its_words(server, ask):
    server.script("Q", reply_with("4", logprobs=logprobs_of({"4": math.log(0.6)})))
    reply = ask("Q", spec=material.spec(label_ids=LABEL_IDS))["Q"]
    assert reply.probabilities == pytest.approx((None, None, None, None, 0.6, None))


def test_chosen_token_counts_where_no_others_are_told(server, ask):
    server.script(
        "Q", reply_with("4", logprobs={"content": [{"token": "4", "logprob": math.log(0.6)}]})
    )
    assert ask("Q")["Q"].label_mass == pytest.approx(0.6)


def test_server_that_tells_no_probabilities_gives_grades_alone(server, ask):
    reply = ask("Q")["Q"]
    assert (reply.grade, reply.probabilities, reply.expected_grade, reply.label_mass) == (
        3,
        None,
        None,
        None,
    )


def test_refused_logprobs_are_asked_for_in_other_ways_and_then_left_out_for_good(server, ask):
    refused = [
        status(400, "Unrecognized request argument supplied: logprob_token_ids"),
        status(422, "top_logprobs must be at most 5"),
        status(400, "logprobs is not supported with this model"),
    ]
    server.script("Q1", *refused, reply_with("4"))
    replies = ask("Q1", "Q2", "Q3", spec=material.spec(label_ids=LABEL_IDS), concurrency=1)
    assert [reply.grade for reply in replies.values()] == [4, 3, 3]
    sent = [(body.get("top_logprobs"), "logprob_token_ids" in body) for body in server.bodies["Q1"]]
    assert sent == [(20, True), (20, False), (5, False), (None, False)]
    assert [len(server.bodies[question]) for question in ("Q2", "Q3")] == [1, 1]
    assert not {"logprobs", "top_logprobs"} & set(server.bodies["Q2"][0])


def test_server_that_refuses_logprobs_without_having_been_asked_refuses_the_pair(server, ask):
    server.script("Q", status(400, "logprobs must be set"))
    reply = ask("Q", spec=material.spec(sampling=Sampling(logprobs=False)))["Q"]
    assert (reply.state, reply.failure) == (State.ERROR, Failure.REQUEST)


def test_concurrency_is_bounded_and_pairs_are_asked_once(server):
    async def answer_with_others(request, body):
        while server.most_at_once < 7:  # or the first would be answered before the seventh comes
            await asyncio.sleep(0.01)
        return await reply_with("4", delay=0.01)(request, body)

    questions = [f"Q{number}" for number in range(100)]
    for question in questions:
        server.script(question, answer_with_others)
    n_taken = 0

    def pairs():
        nonlocal n_taken
        for pair in material.pairs(*questions):
            n_taken += 1
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()  # Django would refuse the database beside one
            yield pair

    grader = OpenAIGrader(material.spec(), server.url, key=None, concurrency=7)
    n_replies = 0
    for reply in grader.replies(pairs()):
        n_replies += reply is not None
        assert n_taken - n_replies < 2 * 7
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
    assert n_replies == 100
    assert server.most_at_once == 7
    assert set(server.asked.values()) == {1}


def test_without_pairs_the_server_is_left_alone(server, ask):
    server.stop()
    assert ask() == {}
    server.start()


@pytest.mark.timing
def test_slow_server_gives_signs_of_life(server):
    server.script("Q", reply_with("4", delay=2.2))
    grader = OpenAIGrader(material.spec(), server.url, key=None)
    replies = list(grader.replies(iter(material.pairs("Q"))))
    assert [reply and reply.grade for reply in replies][-1] == 4
    assert replies.count(None) >= 2


def test_whoever_stops_early_leaves_nothing_behind(server, caplog):
    for number in range(2, 9):
        server.script(f"Q{number}", reply_with("4", delay=30))
    grader = OpenAIGrader(material.spec(), server.url, key=None, concurrency=8)
    replies = grader.replies(iter(material.pairs(*(f"Q{number}" for number in range(1, 30)))))
    assert next(reply for reply in replies if reply).pair.question == "Q1"
    with caplog.at_level(logging.DEBUG):
        replies.close()
    assert not caplog.records
    assert sum(server.asked.values()) <= 8
    assert not server.under_way_after(HANGS)
    with pytest.raises(StopIteration):
        next(replies)


def test_iterator_that_fails_is_no_matter_of_the_server(server):
    def pairs():
        yield material.pairs("Q")[0]
        raise LookupError("The database is gone.")

    grader = OpenAIGrader(material.spec(), server.url, key=None, concurrency=1)
    replies = []
    with pytest.raises(LookupError):
        replies.extend(grader.replies(pairs()))
    assert [reply.grade for reply in replies if reply] == [3]


def test_key_is_sent_as_a_bearer_token(server, ask):
    ask("Q", key=KEY)
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}


def test_without_a_key_none_is_sent(server, ask):
    ask("Q", key=None)
    assert not any("Authorization" in headers for headers in server.headers)


@pytest.mark.timing
@pytest.mark.parametrize(
    "answer",
    [
        status(400, f"You sent {KEY} and bad words."),
        status(500, f"Bearer {KEY} crashed."),
        reply_with(f"Your key is {KEY}."),
        reply_with(f"Your key is {KEY}." + "x" * 300_000),
        as_body(KEY.encode()),
        reset,
        drip,
    ],
)
def test_key_that_comes_back_is_not_kept(server, ask, caplog, answer):
    server.script("Q", answer)
    with caplog.at_level(logging.DEBUG):
        reply = ask("Q", key=KEY, timeout=0.3)["Q"]
    assert reply.grade is None
    assert KEY not in str(asdict(reply))
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("number", "key", "sentence"),
    [
        (401, KEY, "refuses the key that it was sent. Check the environment variable"),
        (403, KEY, "refuses the key that it was sent. Check the environment variable"),
        (401, None, "wants a key, and none is set. Set the environment variable"),
    ],
)
def test_refused_key_ends_the_work_with_a_sentence(server, ask, number, key, sentence):
    for question in ("Q", "Reply with 0."):
        server.script(question, status(number, f"Incorrect API key provided: {KEY}."))
    with pytest.raises(BackendUnavailableError, match=sentence) as caught:
        ask("Q", key=key)
    assert all(KEY not in f"{error!r} {error}" for error in chain_of(caught.value))


def test_pairs_that_are_forbidden_among_others_that_are_not_are_errors(server, ask):
    for question in ("Q1", "Q2"):
        server.script(question, status(403, "Blocked by the firewall."))
    replies = ask("Q1", "Q2", "Q3")
    assert [reply.failure for reply in replies.values()].count(Failure.REQUEST) == 2
    assert replies["Q3"].grade == 3


@pytest.mark.timing
@pytest.mark.parametrize("trouble", [reset, status(500, f"{KEY}?"), drip])
def test_errors_do_not_name_the_key(server, ask, trouble):
    for question in ("Q", "Reply with 0."):
        server.script(question, trouble)
    with pytest.raises(BackendError) as caught:
        ask("Q", key=KEY, retry_seconds=0.3, timeout=0.1)
    assert all(KEY not in f"{error!r} {error}" for error in chain_of(caught.value))


def test_key_with_a_line_break_is_refused_without_being_named(server, ask):
    with pytest.raises(BackendUnavailableError, match="holds a line break") as caught:
        ask("Q", key=f"{KEY}\nX-Admin: 1")
    assert KEY not in str(caught.value)
    assert ask("Q", key=f"{KEY}\n")["Q"].grade == 3  # as files of keys end


def test_redirect_does_not_carry_the_key_away(server, ask):
    location = server.url.replace("127.0.0.1", "localhost") + "/elsewhere"
    server.script("Q", status(307, headers={"Location": location}))
    with pytest.raises(BackendUnavailableError):
        ask("Q", key=KEY)
    assert {headers["Host"].split(":")[0] for headers in server.headers} == {"127.0.0.1"}


def test_server_that_serves_the_model_among_others_is_used(server, ask):
    server.answers["/v1/models"] = models("large", "tiny")
    assert ask("Q")["Q"].grade == 3


def chain_of(error):
    following = itertools.takewhile(bool, iterate(lambda e: e.__cause__ or e.__context__, error))
    return list(following)


def iterate(function, value):
    while True:
        yield value
        value = value and function(value)
