"""Servers that take and refuse what those of four families do, by their documentation.

Each is an answer of ScriptedServer for /v1/chat/completions: it refuses a request as the real one does,
and grades every question 4 otherwise.
"""

from aiohttp import web

from tests.toolbox.scripted_server import completion, logprobs_of

THOUGHT = "The harbour is named. Is it a 3? No, all is there."


def _error(status, message, **more):
    return web.json_response({"error": {"message": message, **more}}, status=status)


def _completion(body, message="4", **more):
    return web.json_response({**completion(message, **more), "model": body["model"]})


async def gpt_5(request, body):
    """Fake a server of GPT-5: no max_tokens, no temperature or top_p but 1.

    It gives no probabilities, and counts hidden reasoning.
    """
    wrong = {"type": "invalid_request_error"}
    if "max_tokens" in body:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead."
        )
        return _error(400, message, param="max_tokens", code="unsupported_parameter", **wrong)
    for name in ("temperature", "top_p"):
        if body.get(name, 1) != 1:
            message = (
                f"Unsupported value: '{name}' does not support {body[name]} with this model. Only the "
                "default (1) value is supported."
            )
            return _error(400, message, param=name, code="unsupported_value", **wrong)
    if body.get("logprobs"):
        return _error(403, "You are not allowed to request logprobs from this model.", **wrong)
    if body["max_completion_tokens"] < 100:  # all of it goes to reasoning
        return _completion(body, "", finish_reason="length")
    answer = {**completion("4"), "model": f"{body['model']}-2025-08-07"}
    return web.json_response(answer)


async def claude(request, body):
    """Ignores seed, probabilities and response_format; not temperature and top_p both."""
    if "temperature" in body and "top_p" in body:
        message = "`temperature` and `top_p` cannot both be specified for this model."
        return _error(400, message, type="invalid_request_error")
    message = "4" if body.get("max_tokens", 0) >= 4 else ""
    answer = {**completion(message, finish_reason="stop" if message else "length")}
    return web.json_response({**answer, "model": f"{body['model']}-20250929"})


def qwen(parser):
    """Thinks between tags, or beside the reply where the server has a parser for that."""

    async def answer(request, body):
        kwargs = body.get("chat_template_kwargs") or {}
        if not kwargs.get("enable_thinking", True):
            return _completion(body, "4", logprobs=logprobs_of({"4": -0.1, "3": -2.4}))
        if body["max_tokens"] < 100:
            return _completion(body, "<think>\nThe", finish_reason="length")
        if parser:
            return _completion(body, "\n\n4", **{parser: THOUGHT})
        return _completion(body, f"<think>\n{THOUGHT}\n</think>\n\n4")

    return answer


async def tgi(request, body):
    """Top p below 1, five probabilities at most, and its own name whatever it is asked for."""

    def refused(message):
        error = {"error": f"Input validation error: {message}", "error_type": "validation"}
        return web.json_response(error, status=422)

    if not 0 < body.get("top_p", 0.5) < 1:
        return refused("`top_p` must be > 0.0 and < 1.0")
    if body.get("top_logprobs", 0) > 5:
        return refused("`top_n_tokens` must be >= 0 and <= 5")
    logprobs = logprobs_of({"4": -0.1, "3": -2.4}) if body.get("logprobs") else None
    answer = {**completion("4", logprobs=logprobs), "model": "owner/real-name"}
    return web.json_response(answer)
