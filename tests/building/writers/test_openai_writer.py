"""Writer at an OpenAI-compatible server: requests, and the outcome of each answer."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building.writers.chat_task import WriterChat
from building.writers.openai_writer import OpenAIWriter
from judging.llm import server_client
from judging.llm.completion import RAW_LIMIT
from judging.llm.errors import BackendError, BackendUnavailableError
from judging.llm.response import read
from judging.llm.sampling import Sampling
from judging.llm.server import Address
from tests.toolbox.clock import HANGS
from tests.toolbox.scripted_server import (
    MODEL,
    ScriptedServer,
    as_body,
    as_json,
    completion,
    drip,
    reply_with,
    reset,
    status,
    torn,
)
from tests.toolbox.text_strategies import any_text
from tests.toolbox.writer_requests import ask, writer_spec


def written(server, *asks, spec_=None, key=None, **options):
    """Outcomes by what was asked, all of them once."""
    options = {"concurrency": 4, "timeout": 60, "retry_seconds": 120} | options
    writer = OpenAIWriter(spec_ or writer_spec(), [Address(server.url, key)], **options)
    outcomes = [outcome for outcome in writer.outcomes(iter(asks)) if outcome is not None]
    assert len(outcomes) == len({id(outcome.ask) for outcome in outcomes}) == len(asks)
    return {outcome.ask.messages[-1]["content"]: outcome for outcome in outcomes}


def test_request_has_model_messages_and_sampling(server):
    written(server, ask("Q1"), ask("Q2", max_tokens=195))
    first, second = server.bodies["Q1"][0], server.bodies["Q2"][0]
    assert first == {
        "model": MODEL,
        "temperature": 0.7,
        "top_p": 0.95,
        "max_tokens": 600,
        "seed": 7,
        "messages": ask("Q1").messages,
    }
    assert second["max_tokens"] == 195


def test_extra_sampling_overrides_and_null_omits(server):
    sampling = Sampling(
        0.7, 0.95, 600, logprobs=False, extra={"seed": None, "max_tokens": 9, "top_k": 5}
    )
    written(server, ask("Q1", max_tokens=195), spec_=writer_spec(sampling=sampling))
    body = server.bodies["Q1"][0]
    assert "seed" not in body
    assert (body["max_tokens"], body["top_k"]) == (9, 5)


def test_answer_becomes_an_outcome(server):
    server.script("Q1", reply_with("<q>A?</q>", reasoning_content="Hm."))
    outcome = written(server, ask("Q1"))["Q1"]
    assert (outcome.raw, outcome.reasoning, outcome.finish_reason) == ("<q>A?</q>", "Hm.", "stop")
    assert (outcome.failure, outcome.detail) == ("", "")
    assert (outcome.prompt_tokens, outcome.completion_tokens) == (40, 1)
    assert len(outcome.prompt_hash) == 16


@pytest.mark.parametrize(
    ("answer", "failure", "raw"),
    [
        (reply_with("<q>A", finish_reason="length"), "", "<q>A"),
        (reply_with(None), "", ""),
        (reply_with(None, refusal="No."), "refused", "No."),
        (reply_with("Words.", refusal="No."), "", "Words."),
        (reply_with([{"type": "text", "text": "<q>A?</q>"}]), "", "<q>A?</q>"),
        (reply_with({"a": 1}), "malformed", None),
        (as_json({"choices": []}), "malformed", None),
        (as_json({"choices": [None]}), "malformed", None),
        (as_json(completion("A") | {"usage": {"prompt_tokens": -3}}), "", "A"),
        (as_json(completion("A") | {"model": f"somebody/{MODEL}"}), "", "A"),
        (reply_with("x" * (RAW_LIMIT + 1)), "oversized", None),
        (status(400, "maximum context length is 9"), "too_long", ""),
        (status(413, "too large"), "too_long", ""),
        (status(422, "nonsense"), "request", ""),
    ],
)
def test_answer_gives_one_outcome(server, answer, failure, raw):
    server.script("Q1", answer)
    outcome = written(server, ask("Q1"), ask("Q2"))["Q1"]
    assert outcome.failure == failure
    if raw is not None:
        assert outcome.raw == raw
    assert bool(outcome.detail) == bool(failure)


@pytest.mark.parametrize(
    "trouble",
    [
        status(500),
        status(429, headers={"Retry-After": "0"}),
        status(503),
        reset,
        torn,
        as_body(b"<html>"),
        as_body(b""),
    ],
)
def test_transient_error_is_retried(server, trouble):
    server.script("Q1", trouble, trouble, reply_with("<q>A?</q>"))
    assert written(server, ask("Q1"))["Q1"].raw == "<q>A?</q>"
    assert server.asked["Q1"] == 3


def test_failing_ask_is_given_up_while_others_are_answered(server):
    server.script("Q1", status(500, "boom"))
    outcome = written(server, ask("Q1"), *(ask(f"Q{n}", n) for n in range(2, 9)))["Q1"]
    assert outcome.failure == "server"
    assert "boom" in outcome.detail


def test_server_that_is_silent_for_too_long_is_of_no_use(server):
    server.script("Q1", drip)
    server.script("Reply with 0.", drip)  # what it is asked to see whether Q1 is at fault
    with pytest.raises(BackendUnavailableError, match="has not answered"):
        written(server, ask("Q1"), timeout=0.05, retry_seconds=0)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (status(401, "who?"), "key"),
        (status(404, "The model tiny does not exist"), "does not serve tiny"),
        (status(404, "nothing here"), "There are no chat completions"),
        (status(400, "Unknown parameter: 'seed'"), "does not take a parameter of this writer"),
        (status(429, "no", code="insufficient_quota"), "no quota left"),
    ],
)
def test_permanent_error_ends_the_work(server, answer, message):
    server.script("Q1", answer)
    with pytest.raises(BackendError, match=message):
        written(server, ask("Q1"))


def test_key_is_in_no_words(server):
    key = "sk-0123456789abcdef"
    server.script("Q1", reply_with(f"Your key is {key}.", reasoning=key))
    server.script("Q2", status(422, f"bad key {key}"))
    outcomes = written(server, ask("Q1"), ask("Q2"), key=key)
    assert server.headers[-1]["Authorization"] == f"Bearer {key}"
    assert all(
        key not in f"{outcome.raw}{outcome.reasoning}{outcome.detail}"
        for outcome in outcomes.values()
    )


def test_server_is_not_asked_without_orders(server):
    assert written(server) == {}
    assert server.headers == []


def test_of_two_servers_one_that_serves_another_model_is_put_aside(server):
    aside = {}
    with ScriptedServer() as second:
        for question in ("Q1", "Q2"):
            second.script(question, as_json(completion("A") | {"model": "huge"}))
        writer = OpenAIWriter(
            writer_spec(),
            [Address(server.url, None), Address(second.url, None)],
            on_aside=aside.__setitem__,
            concurrency=4,
        )
        outcomes = [outcome for outcome in writer.outcomes(iter([ask("Q1"), ask("Q2")])) if outcome]
    assert {outcome.raw for outcome in outcomes} == {"3"}
    assert list(aside) == [second.url]
    assert "answers as huge. If that is the model you mean, make a new writer" in aside[second.url]


def test_name_in_replies_may_be_the_revision_of_a_writer(server):
    server.script("Q1", as_json(completion("A") | {"model": "huge"}))
    assert written(server, ask("Q1"), spec_=writer_spec(revision="huge"))["Q1"].raw == "A"


def test_prompt_that_a_content_filter_refuses_is_refused(server):
    server.script("Q1", status(400, "Filtered.", code="content_filter"))
    outcome = written(server, ask("Q1"))["Q1"]
    assert (outcome.failure, server.asked["Q1"]) == ("refused", 1)


def test_writer_that_is_left_lets_go_of_what_is_under_way(server, monkeypatch):
    monkeypatch.setattr(server_client, "FIRST_REPLY_SECONDS", 0)
    server.script("Q1", reply_with("A", delay=60))
    server.script("Q2", reply_with("B"))
    outcomes = OpenAIWriter(writer_spec(), [Address(server.url, None)]).outcomes(
        iter([ask("Q1"), ask("Q2")])
    )
    assert next(outcome for outcome in outcomes if outcome).raw == "B"
    outcomes.close()
    assert server.under_way_after(HANGS) == 0


@settings(max_examples=60)
@given(
    st.builds(
        dict,
        content=any_text | st.just("\ud800") | st.none() | st.integers() | st.lists(st.none()),
        refusal=st.none() | any_text | st.integers(),
        reasoning=st.none() | any_text | st.just("\x00\udfff"),
    ),
    st.none() | any_text | st.integers(),
)
def test_any_message_is_kept_as_a_database_can_hold_it(message, finish_reason):
    body = {"choices": [{"message": message, "finish_reason": finish_reason}]}
    outcome = read(
        WriterChat(writer_spec()), ask("Q1"), "digest", json.dumps(body).encode(), lambda s: s
    )
    for stored in (outcome.raw, outcome.reasoning, outcome.finish_reason, outcome.detail):
        assert "\x00" not in stored
        stored.encode()
    assert len(outcome.finish_reason) <= 40
    assert len(outcome.detail) <= 500


@settings(max_examples=40)
@given(st.binary(max_size=80) | any_text.map(str.encode))
def test_any_body_comes_to_an_outcome(body):
    outcome = read(WriterChat(writer_spec()), ask("Q1"), "digest", body, lambda s: s)
    assert outcome.failure
    outcome.raw.encode()
