"""Errors and refusals of model services, each in the words and form of its own."""

import json

from aiohttp import web


def openai_error(message, *, status=400, headers=None, **more):
    return web.json_response(
        {"error": {"message": message, **more}}, status=status, headers=headers
    )


def rate_limited(message="Rate limit reached", *, status=429, **headers):
    return lambda: openai_error(
        message, status=status, headers=headers, type="requests", code="rate_limit"
    )


# Wrong keys: a function of no argument.


def openai_key():
    message = "Incorrect API key provided: sk-wron*****6789."
    return openai_error(message, status=401, type="invalid_request_error", code="invalid_api_key")


def azure_key():
    message = "Access denied due to invalid subscription key or wrong API endpoint."
    return openai_error(message, status=401, code="401")


def anthropic_key():
    error = {"type": "authentication_error", "message": "invalid x-api-key"}
    return web.json_response({"type": "error", "error": error}, status=401)


def gemini_key():
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    return gemini_error(400, "API key not valid. Please pass a valid API key.", details=details)


def mistral_key():
    return web.json_response({"detail": "Unauthorized"}, status=401)


def openrouter_key():
    return openai_error("User not found.", status=401, code=401)


def sglang_key():
    return web.json_response({"error": "Unauthorized"}, status=401)


def litellm_key():
    message = "Authentication Error, Invalid proxy server token passed."
    return openai_error(message, status=401, type="auth_error", param="None", code="401")


def llamacpp_key():
    return openai_error("Invalid API Key", status=401, code=401, type="authentication_error")


# Models that are not there: a function of the name.


def openai_model(name):
    message = f"The model `{name}` does not exist or you do not have access to it."
    return openai_error(message, status=404, type="invalid_request_error", code="model_not_found")


def anthropic_model(name):
    error = {"type": "not_found_error", "message": f"model: {name}"}
    return web.json_response({"type": "error", "error": error}, status=404)


def gemini_model(name):
    return gemini_error(404, f"{name} is not found for API version v1main", code="NOT_FOUND")


def mistral_model(name):
    error = {"message": f"Invalid model: {name}", "type": "invalid_model", "code": "1500"}
    return web.json_response({"object": "error", "param": None, **error}, status=400)


def openrouter_model(name):
    return openai_error(f"{name} is not a valid model ID", code=400)


def ollama_model(name):
    message = f'model "{name}" not found, try pulling it first'
    return openai_error(message, status=404, type="api_error", param=None, code=None)


def vllm_model(name):
    message = f"The model `{name}` does not exist."
    return openai_error(message, status=404, type="NotFoundError", param="model", code=404)


def litellm_model(name):
    message = (
        f"/chat/completions: Invalid model name passed in model={name}. Call `/v1/models` to view "
        "available models for your key."
    )
    return openai_error(message, type="None", param="None", code="400")


# Refused parameters: a function of the request's body, None for a request that is taken.


def gemini_error(status, message, *, code="INVALID_ARGUMENT", details=()):
    error = {"code": status, "message": message, "status": code, "details": list(details)}
    return web.json_response([{"error": error}], status=status)


def reasoning_model(body):
    for name in ("max_tokens", "top_p", "logprobs", "top_logprobs"):
        if name in body:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            return openai_error(message, code="unsupported_parameter")
    if body.get("temperature", 1) != 1:
        message = "Unsupported value: 'temperature' does not support 0 with this model."
        return openai_error(message, code="unsupported_value")
    return loose_schema(body)


def new_openai(body):
    if "max_tokens" in body:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead."
        )
        return openai_error(message, code="unsupported_parameter")
    return loose_schema(body)


def loose_schema(body):
    """Refuse a schema that is not strict, as OpenAI's structured outputs do."""
    if not (form := body.get("response_format")):
        return None
    schema = form["json_schema"]["schema"]
    is_strict = schema.get("additionalProperties") is False and set(schema["properties"]) == set(
        schema["required"]
    )
    if is_strict:
        return None
    return openai_error("Invalid schema for response_format 'rating'.", param="response_format")


def anthropic(body):
    if "temperature" in body and "top_p" in body:
        return openai_error("`temperature` and `top_p` cannot both be specified for this model.")
    return None


def anthropic_without_sampling(body):
    for name in ("temperature", "top_p"):
        if name in body:
            error = {"message": f"`{name}` is deprecated for this model."}
            error |= {"type": "invalid_request_error"}
            return web.json_response({"type": "error", "error": error}, status=400)
    return None


def gemini(body):
    unknown = [name for name in ("seed", "logprobs", "top_logprobs") if name in body]
    if not unknown:
        return None
    messages = [f'Invalid JSON payload received. Unknown name "{name}".' for name in unknown]
    return gemini_error(400, "\n".join(messages))


def mistral(body):
    accepted = {
        *("model", "messages", "temperature", "top_p", "max_tokens", "random_seed", "n", "stop"),
        "response_format",
    }
    detail = [
        {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}
        for name in sorted(body.keys() - accepted)
    ]
    if not detail:
        return None
    error = {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}
    return web.json_response(error, status=422)


def tgi(body):
    form = body.get("response_format")
    if not 0 < body.get("top_p", 0.5) < 1:
        message = "Input validation error: `top_p` must be > 0.0 and < 1.0"
    elif body.get("top_logprobs", 0) > 5:
        message = "Input validation error: `top_n_tokens` must be >= 0 and <= 5"
    elif form and "value" not in form:
        message = "Failed to deserialize the JSON body: response_format: missing field `value`"
    else:
        return None
    return web.json_response({"error": message, "error_type": "validation"}, status=422)


def litellm(body):
    if "logprobs" in body:
        message = (
            "litellm.UnsupportedParamsError: the provider does not support parameters: "
            "['logprobs', 'top_logprobs']. To drop these, set `litellm.drop_params=True`"
        )
        return openai_error(message, type="None", code="400")
    return None


# Several samples: how many choices come for `n`, or a refusal.


def ignores_samples(n):
    return 1


def anthropic_samples(n):
    return n if n == 1 else openai_error("n: must be 1", type="invalid_request_error")


def gemini_samples(n):
    if n == 1:
        return n
    return gemini_error(400, "Multiple candidates is not enabled for this model")


def llamacpp_samples(n):
    """Refuse as older versions do: with status 500, which looks as if it might pass."""
    error = {"code": 500, "message": "Only one completion choice is allowed"}
    error |= {"type": "server_error"}
    return n if n == 1 else web.json_response({"error": error}, status=500)


def sglang_error():
    error = {"object": "error", "message": "The request queue is full.", "code": 503}
    return web.json_response(error, status=503)


# What the first request about a pair may meet: no time for it.


def openrouter_busy():
    """An error with status 200, behind white space that keeps a connection open."""
    error = {
        "message": "Provider returned error",
        "code": 429,
        "metadata": {"raw": "temporarily rate-limited upstream", "provider_name": "Some"},
    }
    body = "\n\n         \n" + json.dumps({"error": error, "user_id": "u"})
    return web.Response(text=body, content_type="application/json")


def gemini_busy():
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}]
    message = "You exceeded your current quota. Please retry in 20ms."
    return gemini_error(429, message, code="RESOURCE_EXHAUSTED", details=details)


def anthropic_busy():
    error = {"type": "overloaded_error", "message": "Overloaded"}
    return web.json_response({"type": "error", "error": error}, status=529)


def mistral_busy():
    error = {"message": "Service tier capacity exceeded for this model.", "code": "3505"}
    return web.json_response({"object": "error", **error}, status=429)


def ollama_busy():
    message = "server busy, please try again.  maximum pending requests exceeded"
    return openai_error(message, status=503, type="api_error")


def tgi_busy():
    error = {"error": "Model is overloaded", "error_type": "overloaded"}
    return web.json_response(error, status=429)


def litellm_busy():
    message = "No deployments available for selected model, Try again in 1 seconds."
    return openai_error(message, status=429, type="None", code="429")


def llamacpp_busy():
    return openai_error("Loading model", status=503, type="unavailable_error", code=503)
