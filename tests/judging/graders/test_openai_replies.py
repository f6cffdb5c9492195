"""Answers of a server about a pair: each becomes a state, and none a silent 0."""

import pytest

from judging.grading.pairs import State
from judging.llm.completion import RAW_LIMIT
from judging.llm.errors import Failure
from judging.llm.sampling import Sampling
from tests.judging.graders import material
from tests.toolbox.scripted_server import (
    as_body,
    as_json,
    completion,
    drip,
    reply_with,
    status,
    torn,
)

TOO_LONG_BY_VLLM = (
    "This model's maximum context length is 2048 tokens. However, your prompt contains 2300 tokens."
)


@pytest.mark.parametrize("text", ["0", "4", " 4 ", "Rating: 4"])
def test_grade_is_graded(server, ask, text):
    server.script("Q", reply_with(text))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.grade) == (State.GRADED, int(text.strip()[-1]))
    assert (reply.raw, reply.detail, reply.failure) == (text, "", None)
    assert (reply.prompt_tokens, reply.completion_tokens) == (40, 1)
    assert len(reply.prompt_hash) == 16


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("10", Failure.OUT_OF_RANGE),
        ("-1", Failure.OUT_OF_RANGE),
        ("4/5", Failure.SEVERAL_INTEGERS),
        ("3 or 4", Failure.SEVERAL_INTEGERS),
        ("no idea", Failure.NO_GRADE),
        ("", Failure.EMPTY),
        ("  \n", Failure.EMPTY),
        (None, Failure.EMPTY),
    ],
)
def test_reply_without_a_grade_is_kept_and_unparseable(server, ask, text, failure):
    server.script("Q", reply_with(text))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.UNPARSEABLE, failure, None)
    assert reply.raw == (text or "")
    assert server.asked["Q"] == 1


@pytest.mark.parametrize(
    "answer",
    [
        reply_with(None, refusal="I won't grade this."),
        reply_with("I'm sorry, but I cannot help with that."),
        reply_with("", finish_reason="content_filter"),
        reply_with("4", finish_reason="content_filter"),
    ],
)
def test_refusal_is_refused(server, ask, answer):
    server.script("Q", answer)
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.REFUSED, Failure.REFUSAL, None)


FILTERED = {"message": "The response was filtered.", "code": "content_filter"}
BY_AZURE = {"message": "Filtered.", "innererror": {"code": "ResponsibleAIPolicyViolation"}}


@pytest.mark.parametrize("error", [FILTERED, BY_AZURE, FILTERED | BY_AZURE])
@pytest.mark.parametrize("number", [400, 200])
def test_prompt_that_a_content_filter_refuses_is_a_refusal_and_asked_once(
    server, ask, error, number
):
    server.script("Q", as_json({"error": error}, status=number))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.REFUSED, Failure.REFUSAL, None)
    assert error["message"] in reply.raw
    assert server.asked["Q"] == 1


def test_content_filter_refuses_all_samples(server, ask):
    server.script("Q", as_json({"error": FILTERED}, status=400))
    sampling = Sampling(temperature=0.7, logprobs=False, extra={"n": 3})
    reply = ask("Q", spec=material.spec(sampling=sampling))["Q"]
    assert (reply.state, reply.failure) == (State.REFUSED, Failure.REFUSAL)


def test_other_words_of_a_400_about_a_filter_are_no_refusal(server, ask):
    server.script("Q", status(400, "There is no content_filter here.", code="invalid"))
    assert ask("Q")["Q"].failure is Failure.REQUEST


def test_refusal_text_is_kept(server, ask):
    server.script("Q", reply_with(None, refusal="I won't grade this."))
    assert ask("Q")["Q"].raw == "I won't grade this."


def test_reply_that_was_cut_is_truncated(server, ask):
    judge = material.spec(parser="evidence-1", sampling=Sampling(max_tokens=50))
    server.script("Q", reply_with('4\n"Some wo', finish_reason="length"))
    reply = ask("Q", spec=judge)["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.TRUNCATED, Failure.CUT, None)


def test_evidence_comes_with_its_grade(server, ask):
    judge = material.spec(parser="evidence-1", sampling=Sampling(max_tokens=50))
    server.script("Q", reply_with('4\n"Some words."'))
    reply = ask("Q", spec=judge)["Q"]
    assert (reply.grade, reply.evidence) == (4, ("Some words.",))


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"4",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": {"message": 4}}',
        b'{"choices": [{"message": {"content": 4}}]}',
        b'{"choices": [{"message": {"content": ["4"]}}]}',
        b'{"choices": [{"message": {"content": [{"text": 4}]}}]}',
    ],
)
def test_unexpected_body_is_malformed_and_kept(server, ask, body):
    server.script("Q", as_body(body))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.ERROR, Failure.MALFORMED, None)
    assert reply.raw == body.decode("utf-8", "replace")[:RAW_LIMIT]
    assert reply.detail
    assert server.asked["Q"] == 1


BROKEN = [
    b"",
    b"<html>Welcome to the gateway</html>",
    b'{"choices": [{"message": {"content": "4"',
    b'{"error": {"message": "no"}}',
    b'{"error": "overloaded", "choices": [{"message": {"content": "4"}}]}',
    b'{"choices": [{"finish_reason": "error", "message": {"content": "4"}}]}',
    b"\xff\xfe",
    b"[" * 100_000,
]


@pytest.mark.parametrize("body", BROKEN)
def test_status_200_without_an_answer_is_tried_again_like_a_500(server, ask, body):
    server.script("Q", as_body(body), as_body(body), reply_with("4"))
    assert ask("Q")["Q"].grade == 4
    assert server.asked["Q"] == 3


@pytest.mark.parametrize("body", BROKEN)
def test_pair_that_never_gets_an_answer_is_malformed_and_what_came_is_kept(server, ask, body):
    server.script("Q", as_body(body))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.ERROR, Failure.MALFORMED, None)
    assert reply.raw == body.decode("utf-8", "replace")[:RAW_LIMIT]
    assert reply.detail.startswith("After ")
    assert server.asked["Q"] >= 4


@pytest.mark.parametrize(
    "odd",
    [
        {"logprobs": "no"},
        {"logprobs": {"content": [None]}},
        {"logprobs": {"content": [{"token": 4, "logprob": "a"}]}},
        {"logprobs": {"content": [{"token": "4", "logprob": None, "top_logprobs": 4}]}},
        {"finish_reason": 7},
        {"refusal": 0},
        {"refusal": []},
    ],
)
def test_odd_things_beside_a_grade_do_not_cost_the_grade(server, ask, odd):
    server.script("Q", reply_with("4", **odd))
    assert ask("Q")["Q"].grade == 4


@pytest.mark.parametrize(
    "usage", [None, "much", {}, {"prompt_tokens": -3}, {"prompt_tokens": 2**40}]
)
def test_unusable_counts_of_tokens_do_not_cost_the_grade(server, ask, usage):
    server.script("Q", as_json({**completion("4"), "usage": usage}))
    reply = ask("Q")["Q"]
    assert (reply.grade, reply.prompt_tokens) == (4, 0)


def test_reply_in_parts_is_put_together(server, ask):
    server.script("Q", reply_with([{"type": "thinking"}, {"type": "text", "text": "4"}]))
    assert ask("Q")["Q"].grade == 4


@pytest.mark.parametrize("content", ["4" * 1_000_000, "4 " + " " * RAW_LIMIT])
def test_reply_too_large_for_a_grade_is_oversized(server, ask, content):
    server.script("Q", reply_with(content))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.ERROR, Failure.OVERSIZED, None)
    assert len(reply.raw) == RAW_LIMIT
    assert "longer than" in reply.detail
    assert server.asked["Q"] == 1


@pytest.mark.parametrize(
    "answer",
    [
        status(400, TOO_LONG_BY_VLLM),
        status(400, "Too many tokens.", code="context_length_exceeded"),
        status(400, "The input (3000 tokens) is longer than the model's context length (2048)."),
        status(500, "the request is too large", type="exceed_context_size_error"),
        as_json({"error": {"code": 400, "type": "exceed_context_size_error"}}),
        status(413, "Payload Too Large"),
    ],
)
def test_prompt_that_does_not_fit_is_too_long(server, ask, answer):
    server.script("Q", answer)
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.ERROR, Failure.TOO_LONG, None)
    assert server.asked["Q"] == 1


def test_refused_request_has_the_message_of_the_server(server, ask):
    server.script("Q", status(400, "Bad roles. " + "x" * 1000))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure) == (State.ERROR, Failure.REQUEST)
    assert reply.detail.startswith("The server said: 400 Bad roles.")
    assert len(reply.detail) <= 500
    assert server.asked["Q"] == 1


@pytest.mark.soak
@pytest.mark.parametrize(
    ("answer", "failure", "options"),
    [(drip, "timeout", {"timeout": 0.5}), (torn, "connection", {})],
)
def test_answer_that_does_not_end_is_an_error(server, ask, answer, failure, options):
    server.script("Q", answer)
    reply = ask("Q", **options)["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.ERROR, Failure(failure), None)


def test_unstorable_characters_are_replaced(server, ask):
    server.script("Q", as_body(rb'{"choices": [{"message": {"content": "a\u0000b\ud800c"}}]}'))
    reply = ask("Q")["Q"]
    assert reply.raw == "a\N{REPLACEMENT CHARACTER}b?c"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_beside_a_reply_is_kept_apart_from_it(server, ask, field):
    server.script("Q", reply_with("4", **{field: "Is it a 2? No."}))
    reply = ask("Q")["Q"]
    assert (reply.grade, reply.raw, reply.reasoning) == (4, "4", "Is it a 2? No.")


def test_reasoning_between_tags_stays_in_the_reply(server, ask):
    text = "<think>Is it a 2?</think>\n4"
    server.script("Q", reply_with(text))
    judge = material.spec(parser="after-think-1", sampling=Sampling(max_tokens=500))
    for spec, grade in ((judge, 4), (material.spec(), None)):
        reply = ask("Q", spec=spec)["Q"]
        assert (reply.grade, reply.raw, reply.reasoning) == (grade, text, "")
