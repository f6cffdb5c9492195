"""A writer at a server that speaks OpenAI's chat completions: what is sent, and what comes of each answer."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building.writers.base import Ask
from building.writers.letters import Letters
from building.writers.openai_writer import OpenAIWriter
from building.writers.spec import WriterSpec
from building.writing.tasks import TASKS, Source
from judging.graders import openai_asking
from judging.graders.base import GraderError, Unavailable
from judging.graders.openai_reply import read
from judging.graders.openai_server import Address
from judging.grading.pairs import RAW_LIMIT, Sampling
from tests.any_text import any_text
from tests.clock import HANGS
from tests.judging.graders.scripted_server import (
    MODEL,
    ScriptedServer,
    as_body,
    as_json,
    completion,
    drip,
    reset,
    said,
    status,
    torn,
)

SAMPLING = Sampling(0.7, 0.95, 600, seed=None, logprobs=False)


def spec(**fields) -> WriterSpec:
    values = {"task": "questions", "backend": "openai", "model": MODEL, "sampling": SAMPLING}
    return WriterSpec(**values | fields)


def ask(words: str, number: int = 1, max_tokens: int = 0) -> Ask:
    messages = [{"role": "system", "content": "You write."}, {"role": "user", "content": words}]
    return Ask(number, 1, TASKS["questions"], Source(document=words), messages, max_tokens, 7)


def written(server, *asks, spec_=None, key=None, **options):
    """Outcomes by what was asked, all of them once."""
    options = {"concurrency": 4, "timeout": 60, "patience": 120} | options
    writer = OpenAIWriter(spec_ or spec(), [Address(server.url, key)], **options)
    came = [outcome for outcome in writer.outcomes(iter(asks)) if outcome is not None]
    assert len(came) == len({id(outcome.ask) for outcome in came}) == len(asks)
    return {outcome.ask.messages[-1]["content"]: outcome for outcome in came}


def test_what_is_sent(server):
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


def test_what_the_writer_says_itself_holds_and_null_leaves_it_out(server):
    sampling = Sampling(
        0.7, 0.95, 600, logprobs=False, extra={"seed": None, "max_tokens": 9, "top_k": 5}
    )
    written(server, ask("Q1", max_tokens=195), spec_=spec(sampling=sampling))
    body = server.bodies["Q1"][0]
    assert "seed" not in body
    assert (body["max_tokens"], body["top_k"]) == (9, 5)


def test_what_comes_of_an_answer(server):
    server.script("Q1", said("<q>A?</q>", reasoning_content="Hm."))
    outcome = written(server, ask("Q1"))["Q1"]
    assert (outcome.raw, outcome.reasoning, outcome.finish_reason) == ("<q>A?</q>", "Hm.", "stop")
    assert (outcome.failure, outcome.detail) == ("", "")
    assert (outcome.prompt_tokens, outcome.completion_tokens) == (40, 1)
    assert len(outcome.prompt_hash) == 16


@pytest.mark.parametrize(
    ("answer", "failure", "raw"),
    [
        (said("<q>A", finish_reason="length"), "", "<q>A"),
        (said(None), "", ""),
        (said(None, refusal="No."), "refused", "No."),
        (said("Words.", refusal="No."), "", "Words."),
        (said([{"type": "text", "text": "<q>A?</q>"}]), "", "<q>A?</q>"),
        (said({"a": 1}), "malformed", None),
        (as_json({"choices": []}), "malformed", None),
        (as_json({"choices": [None]}), "malformed", None),
        (as_json(completion("A") | {"usage": {"prompt_tokens": -3}}), "", "A"),
        (as_json(completion("A") | {"model": f"somebody/{MODEL}"}), "", "A"),
        (said("x" * (RAW_LIMIT + 1)), "oversized", None),
        (status(400, "maximum context length is 9"), "too_long", ""),
        (status(413, "too large"), "too_long", ""),
        (status(422, "nonsense"), "request", ""),
    ],
)
def test_every_answer_comes_to_one_outcome(server, answer, failure, raw):
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
def test_what_passes_is_asked_again(server, trouble):
    server.script("Q1", trouble, trouble, said("<q>A?</q>"))
    assert written(server, ask("Q1"))["Q1"].raw == "<q>A?</q>"
    assert server.asked["Q1"] == 3


def test_one_that_always_fails_is_given_up_while_others_are_answered(server):
    server.script("Q1", status(500, "boom"))
    outcome = written(server, ask("Q1"), *(ask(f"Q{n}", n) for n in range(2, 9)))["Q1"]
    assert outcome.failure == "server"
    assert "boom" in outcome.detail


def test_a_server_that_is_silent_for_too_long_is_of_no_use(server):
    server.script("Q1", drip)
    server.script("Reply with 0.", drip)  # what it is asked to see whether Q1 is at fault
    with pytest.raises(Unavailable, match="has not answered"):
        written(server, ask("Q1"), timeout=0.05, patience=0)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (status(401, "who?"), "key"),
        (status(404, "The model tiny does not exist"), "does not serve tiny"),
        (status(404, "nothing here"), "There are no chat completions"),
        (status(400, "Unknown parameter: 'seed'"), "does not take a parameter of this writer"),
        (status(429, "no", code="insufficient_quota"), "no quota left"),
    ],
)
def test_what_would_be_so_for_everything_ends_it(server, answer, says):
    server.script("Q1", answer)
    with pytest.raises(GraderError, match=says):
        written(server, ask("Q1"))


def test_a_key_is_in_no_words(server):
    key = "sk-0123456789abcdef"
    server.script("Q1", said(f"Your key is {key}.", reasoning=key))
    server.script("Q2", status(422, f"bad key {key}"))
    came = written(server, ask("Q1"), ask("Q2"), key=key)
    assert server.headers[-1]["Authorization"] == f"Bearer {key}"
    assert all(key not in f"{each.raw}{each.reasoning}{each.detail}" for each in came.values())


def test_nobody_is_asked_anything_where_there_is_nothing_to_write(server):
    assert written(server) == {}
    assert server.headers == []


def test_of_two_servers_one_that_serves_another_model_is_put_aside(server):
    aside = {}
    with ScriptedServer() as other:
        for question in ("Q1", "Q2"):
            other.script(question, as_json(completion("A") | {"model": "huge"}))
        writer = OpenAIWriter(
            spec(),
            [Address(server.url, None), Address(other.url, None)],
            on_aside=aside.__setitem__,
            concurrency=4,
        )
        came = [each for each in writer.outcomes(iter([ask("Q1"), ask("Q2")])) if each]
    assert {each.raw for each in came} == {"3"}
    assert list(aside) == [other.url]
    assert "answers as huge. If that is the model you mean, make a new writer" in aside[other.url]


def test_name_in_replies_may_be_the_revision_of_a_writer(server):
    server.script("Q1", as_json(completion("A") | {"model": "huge"}))
    assert written(server, ask("Q1"), spec_=spec(revision="huge"))["Q1"].raw == "A"


def test_prompt_that_a_content_filter_refuses_is_refused(server):
    server.script("Q1", status(400, "Filtered.", code="content_filter"))
    outcome = written(server, ask("Q1"))["Q1"]
    assert (outcome.failure, server.asked["Q1"]) == ("refused", 1)


def test_a_writer_that_is_left_lets_go_of_what_is_under_way(server, monkeypatch):
    monkeypatch.setattr(openai_asking, "FIRST_REPLY_SECONDS", 0)
    server.script("Q1", said("A", after=60))
    server.script("Q2", said("B"))
    outcomes = OpenAIWriter(spec(), [Address(server.url, None)]).outcomes(
        iter([ask("Q1"), ask("Q2")])
    )
    assert next(each for each in outcomes if each).raw == "B"
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
    outcome = read(Letters(spec()), ask("Q1"), "digest", json.dumps(body).encode(), lambda s: s)
    for words in (outcome.raw, outcome.reasoning, outcome.finish_reason, outcome.detail):
        assert "\x00" not in words
        words.encode()
    assert len(outcome.finish_reason) <= 40
    assert len(outcome.detail) <= 500


@settings(max_examples=40)
@given(st.binary(max_size=80) | any_text.map(str.encode))
def test_any_body_comes_to_an_outcome(body):
    outcome = read(Letters(spec()), ask("Q1"), "digest", body, lambda s: s)
    assert outcome.failure
    outcome.raw.encode()
