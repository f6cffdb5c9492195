"""Replies and errors that only one service writes in its way."""

import pytest

from judging.grading.pairs import State
from judging.llm.errors import BackendUnavailableError, Failure, ModelMismatchError
from judging.llm.sampling import Sampling
from tests.judging.graders import material
from tests.toolbox.scripted_server import as_json, completion, reply_with, status


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "content_filter: PROHIBITED_CONTENT"])
def test_filter_of_gemini_is_a_refusal(server, ask, reason):
    server.script("Q", reply_with(None, finish_reason=reason))
    assert ask("Q")["Q"].state == State.REFUSED


@pytest.mark.parametrize(
    "reason", ["refusal", "content_filtered", "guardrail_intervened", "sensitive", "CONTENT_FILTER"]
)
def test_filter_under_another_name_is_a_refusal(server, ask, reason):
    server.script("Q", reply_with("4", finish_reason=reason))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.grade) == (State.REFUSED, None)


@pytest.mark.parametrize(
    "reason",
    [
        "model_length",
        "MAX_TOKENS",
        "max_output_tokens",
        "model_context_window_exceeded",
        "insufficient_system_resource",
    ],
)
def test_reply_that_was_cut_for_a_reason_of_another_name_has_no_grade(server, ask, reason):
    judge = material.spec(parser="reason-2", sampling=Sampling(max_tokens=50))
    server.script("Q", reply_with("It names the mill.\nRating: 4", finish_reason=reason))
    reply = ask("Q", spec=judge)["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.TRUNCATED, Failure.CUT, None)


def test_reply_of_one_token_under_another_name_of_its_limit_is_graded(server, ask):
    server.script("Q", reply_with("4", finish_reason="MAX_TOKENS"))
    assert ask("Q")["Q"].grade == 4


def test_reply_that_ends_with_an_error_of_the_network_is_asked_for_again(server, ask):
    server.script("Q", reply_with("3", finish_reason="network_error"), reply_with("4"))
    assert ask("Q")["Q"].grade == 4


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (
            400,
            "You passed 4097 input tokens and requested 1 output tokens. However, the model's "
            "context length is only 4096 tokens, resulting in a maximum input length of 4095 tokens.",
        ),
        (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
        (400, "prompt is too long: 208310 tokens > 200000 maximum"),
        (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
        (
            400,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        (
            400,
            "This model's maximum prompt length is 131072 but the request contains 134543 tokens.",
        ),
        (400, "Input is too long for requested model."),
        (400, "the model is loaded with context length of only 4096 tokens, which is not enough."),
        (400, "Invalid request: Your request exceeded model token limit: 8192"),
        (400, "Range of input length should be [1, 30720]"),
        (400, "total number of tokens in the prompt cannot exceed 4081"),
        (400, "Please reduce the length of the messages or completion."),
        (
            429,
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.",
        ),
    ],
)
def test_prompt_that_is_too_long_in_other_words_is_too_long(server, ask, number, message):
    server.script("Q", status(number, message))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure) == (State.ERROR, Failure.TOO_LONG)
    assert message in reply.detail
    assert server.asked["Q"] == 1


def test_too_many_tokens_at_once_are_sent_again(server, ask):
    message = "Too many tokens, please wait before trying again."
    server.script("Q", status(429, message), reply_with("4"))
    assert ask("Q")["Q"].grade == 4


def test_error_within_a_choice_that_the_prompt_is_too_long_is_no_reply(server, ask):
    error = {"code": 400, "message": "This endpoint's maximum context length is 4096 tokens."}
    answer = completion("4", finish_reason="error")
    answer["choices"][0]["error"] = error
    server.script("Q", as_json(answer))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.ERROR, Failure.TOO_LONG, None)
    assert server.asked["Q"] == 1


def test_error_within_a_later_sample_is_asked_for_again(server, ask):
    two = completion("3")
    two["choices"] += completion("5", finish_reason="error")["choices"]
    whole = completion("4")
    whole["choices"] *= 2
    server.script("Q", as_json(two), as_json(whole))
    sampling = Sampling(temperature=0.7, logprobs=False, extra={"n": 2})
    reply = ask("Q", spec=material.spec(sampling=sampling))["Q"]
    assert (reply.grade, server.asked["Q"]) == (4, 2)


@pytest.mark.parametrize("message", [{}, {"message": None}, {"message": {"role": "assistant"}}])
def test_filtered_choice_without_a_message_is_a_refusal(server, ask, message):
    choice = {"index": 0, "finish_reason": "content_filter: PROHIBITED_CONTENT", **message}
    server.script("Q", as_json({"choices": [choice]}))
    assert ask("Q")["Q"].state == State.REFUSED


@pytest.mark.parametrize(
    ("number", "body"),
    [
        (400, {"error": {"message": "Inappropriate content.", "code": "data_inspection_failed"}}),
        (400, {"error": {"message": "Considered high risk.", "type": "content_filter"}}),
        (400, {"error": {"message": "x", "code": "InputTextSensitiveContentDetected"}}),
        (400, {"error": {"message": "Content Exists Risk", "code": "invalid_request_error"}}),
        (400, {"error": {"message": "Output blocked by content filtering policy"}}),
        (400, {"error": {"message": "Invalid prompt: your prompt was flagged as potentially ..."}}),
        (
            403,
            {"code": "permission", "error": "Content violates usage guidelines. Failed check: X"},
        ),
    ],
)
def test_filter_that_answers_with_an_error_of_its_own_is_a_refusal(server, ask, number, body):
    server.script("Q", as_json(body, status=number))
    reply = ask("Q")["Q"]
    assert (reply.state, reply.failure, reply.grade) == (State.REFUSED, Failure.REFUSAL, None)
    assert server.asked["Q"] == 1


def test_moderation_of_openrouter_is_a_refusal_of_the_pair(server, ask):
    details = {"reasons": ["violence"], "flagged_input": "Some words.", "provider_name": "Some"}
    message = "The model requires moderation, and your input was flagged."
    server.script("Q1", status(403, message, code=403, metadata=details))
    replies = ask("Q1", "Q2")
    assert replies["Q1"].state == State.REFUSED
    assert message in replies["Q1"].raw
    assert replies["Q2"].grade == 3
    assert server.asked["Q1"] == 1


def test_reasoning_in_parts_of_the_content_is_stored_as_reasoning(server, ask):
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Is it a 3? No."}]},
        {"type": "text", "text": "4"},
    ]
    server.script("Q", as_json(completion(parts)))
    reply = ask("Q")["Q"]
    assert (reply.grade, reply.raw, reply.reasoning) == (4, "4", "Is it a 3? No.")


def test_route_that_a_router_does_not_have_is_told_in_its_words(server, ask):
    message = "No endpoints found that can handle the requested parameters."
    server.script("Q", status(404, message, code=404))
    with pytest.raises(BackendUnavailableError, match="No endpoints found that can handle"):
        ask("Q")


@pytest.mark.parametrize(
    ("key", "problem"), [("sk-0123456789", "refuses the key"), (None, "wants a key")]
)
def test_reason_of_a_server_that_refuses_access_is_reported(server, ask, key, problem):
    message = "Country, region, or territory not supported"
    for question in ("Q", "Reply with 0."):
        server.script(question, status(403, message))
    with pytest.raises(BackendUnavailableError, match=f"{problem}.* It says: {message}"):
        ask("Q", key=key)


def test_path_that_lm_studio_does_not_have_stops_the_run(server, ask):
    message = "Unexpected endpoint or method. (POST /chat/completions)"
    server.script("Q", as_json({"error": message}))
    with pytest.raises(BackendUnavailableError, match="usually ends with /v1"):
        ask("Q", retry_seconds=1)


@pytest.mark.parametrize("number", [301, 302, 307, 308])
def test_address_that_redirects_stops_the_run_and_names_the_other(server, ask, number):
    location = "https://gpu.example.org/v1/chat/completions"
    server.script("Q", status(number, headers={"Location": location}))
    with pytest.raises(
        BackendUnavailableError, match="enter the address that it leads to"
    ) as caught:
        ask("Q")
    assert location in str(caught.value)


def test_budget_of_a_proxy_that_is_used_up_stops_the_run(server, ask):
    message = "Budget has been exceeded! Current cost: 1.01, Max budget: 1.0"
    server.script("Q", status(400, message, type="budget_exceeded", code="400"))
    with pytest.raises(BackendUnavailableError, match="wants to be paid"):
        ask("Q")


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (400, "Your credit balance is too low to access the Anthropic API."),
        (400, "You have reached your specified API usage limits."),
        (400, "Billing hard limit has been reached (billing_hard_limit_reached)"),
        (400, "Make sure your account is in good standing. (Arrearage)"),
        (403, "Key limit exceeded (total limit)."),
        (403, "Your newly created team doesn't have any credits yet."),
        (412, "Account is suspended, possibly due to reaching the monthly spending limit."),
    ],
)
def test_account_without_money_stops_the_run(server, ask, number, message):
    for question in ("Q", "Reply with 0."):
        server.script(question, status(number, message))
    with pytest.raises(BackendUnavailableError, match="wants to be paid") as caught:
        ask("Q", key="sk-0123456789")
    assert message in str(caught.value)
    assert server.asked["Q"] == 1


def test_quota_of_moonshot_that_is_used_up_stops_the_run(server, ask):
    server.script("Q", status(429, "Suspended.", type="exceeded_current_quota_error"))
    with pytest.raises(BackendUnavailableError, match="has no quota left: 429 Suspended"):
        ask("Q")


@pytest.mark.parametrize(
    ("number", "message", "code"),
    [
        (400, "Model Not Exist", "invalid_request_error"),
        (400, "The model `tiny` is no longer supported.", "model_decommissioned"),
        (400, "Unknown model: tiny", "unknown_model"),
        (400, "The requested model 'tiny' does not exist", "model_not_found"),
        (
            400,
            "The requested model 'tiny' is not supported by any provider.",
            "model_not_supported",
        ),
        (400, 'Invalid model identifier "tiny".', None),
        (403, "Project `p` does not have access to model `tiny`", "model_not_found"),
        (410, "The model 'tiny' has reached its end of life.", None),
    ],
)
def test_model_that_a_service_does_not_know_stops_the_run(server, ask, number, message, code):
    for question in ("Q", "Reply with 0."):
        server.script(question, status(number, message, code=code))
    with pytest.raises(ModelMismatchError, match="does not serve tiny") as caught:
        ask("Q", key="sk-0123456789")
    assert message in str(caught.value)
    assert server.asked["Q"] == 1


@pytest.mark.parametrize(
    "message",
    [
        "Malformed input request: #: extraneous key [seed] is not permitted",
        "Model grok-4 does not support parameter presencePenalty.",
        "`reasoning_format` is not supported with this model",
        "unknown field: parameter 'seed' is not a valid field",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
        "`max_tokens` must be less than or equal to `8192`",
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.",
        "it has a maxOutputTokens value of 100000 but the supported range is from 1 to 65537.",
    ],
)
def test_parameter_that_a_service_refuses_in_its_words_stops_the_run(server, ask, message):
    server.script("Q", status(400, message))
    with pytest.raises(BackendUnavailableError, match="does not take a parameter") as caught:
        ask("Q")
    assert message in str(caught.value)
    assert server.asked["Q"] == 1


def test_other_words_about_a_model_are_an_error_of_the_pair(server, ask):
    server.script("Q1", status(400, "The model's output was invalid. Model: retry."))
    assert ask("Q1", "Q2")["Q1"].failure is Failure.REQUEST


@pytest.mark.parametrize("number", [400, 500])
@pytest.mark.parametrize(
    "message",
    [
        "n: must be 1",
        "Multiple candidates is not enabled for this model",
        "Only one completion choice is allowed",
        "n_cmpl cannot be greater than the number of slots, please increase -np",
        "Unable to submit request because candidateCount must be 1 but the entered value was 3.",
    ],
)
def test_samples_that_are_refused_are_asked_for_one_by_one(server, ask, number, message):
    server.script("Q", status(number, message), *[reply_with(grade) for grade in "343"])
    sampling = Sampling(temperature=0.7, logprobs=False, extra={"n": 3, "random_seed": 5})
    reply = ask("Q", spec=material.spec(sampling=sampling))["Q"]
    assert reply.grade == 3
    assert [body.get("n") for body in server.bodies["Q"]] == [3, None, None, None]
    assert [body["random_seed"] for body in server.bodies["Q"]] == [5, 5, 6, 7]


@pytest.mark.parametrize("number", [409, 498, 507, 530, 599])
def test_trouble_of_a_proxy_that_may_pass_is_asked_again(server, ask, number):
    server.script("Q", status(number, "Tunnel error"), reply_with("4"))
    assert ask("Q")["Q"].grade == 4


@pytest.mark.parametrize("number", [501, 511])
def test_status_that_will_not_pass_is_an_error_at_once(server, ask, number):
    server.script("Q", status(number))
    assert ask("Q", "Q2")["Q"].failure is Failure.REQUEST
    assert server.asked["Q"] == 1


def test_delay_that_comes_in_the_body_is_waited_for(server, ask):
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}]
    error = {"code": 429, "message": "Quota exceeded.", "details": details}
    server.script("Q", as_json([{"error": error}], status=429), reply_with("4"))
    assert ask("Q")["Q"].grade == 4
    first, second = server.times["Q"]
    assert second - first >= 0.3


@pytest.mark.parametrize("delay", ["soon", 3, None, "-1s", "1e9s"])
def test_delay_in_the_body_that_is_none_is_certified_over(server, ask, delay):
    error = {"code": 429, "message": "Quota exceeded.", "details": [{"retryDelay": delay}, "x"]}
    server.script("Q", as_json([{"error": error}], status=429), reply_with("4"))
    assert ask("Q")["Q"].grade == 4
