"""Check of the connection to a model server: its model list and one short chat completion."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from judging.llm.probe import REPLY_TOKENS, cards_in, check_status
from judging.llm.response import broken
from judging.llm.server import Address, NoAnswerError, Server, decoded

TIMEOUT = 20.0  # seconds for one answer: somebody waits for the page
MODELS_SHOWN = 200
_PROMPT = "Reply with the word OK."


@dataclass(frozen=True)
class ConnectionCheck:
    """Models that the server lists, and the reply of one; `problem` where the call failed.

    `list_problem` says why there is no list. Tokens are 0 where the server does not count them.
    """

    models: tuple[str, ...] = ()
    list_problem: str = ""
    model: str = ""
    reply: str = ""
    problem: str = ""
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0


def check_connection(address: Address, model: str, limit: str) -> ConnectionCheck:
    """List the models of a server, and ask `model` for one word.

    An empty `model` stands for the first of the list. `limit` is the request parameter that bounds the
    reply's tokens. Raises BackendUnavailableError for an address or a key that cannot be used.
    """
    return asyncio.run(_test(address, model, limit))


async def _test(address: Address, model: str, limit: str) -> ConnectionCheck:
    server = Server(address.url, address.key, TIMEOUT, address.route)
    await server.open()
    try:
        models, list_problem = await _models(server)
        model = model or next(iter(models), "")
        if not model:
            return ConnectionCheck(
                list_problem=list_problem,
                problem="No call was made: enter the name of a model, as the server lists none.",
            )
        return await _call(server, models, list_problem, model, limit)
    finally:
        await server.close()


async def _models(server: Server) -> tuple[tuple[str, ...], str]:
    try:
        answer = await server.get(f"{server.url}/models")
    except NoAnswerError as trouble:
        return (), f"The model list failed: {trouble}."
    names = tuple(server.redacted(name)[:250] for name in cards_in(answer))
    if names:
        return names[:MODELS_SHOWN], ""
    reason = server.reason(answer) if answer.status != 200 else "it names no model"
    return (), f"The server gives no model list (status {answer.status}): {reason}"


async def _call(
    server: Server, models: tuple[str, ...], list_problem: str, model: str, limit: str
) -> ConnectionCheck:
    def result(**fields: Any) -> ConnectionCheck:
        seconds = time.monotonic() - began
        return ConnectionCheck(models, list_problem, model, seconds=seconds, **fields)

    began = time.monotonic()
    body = {
        "model": model,
        "messages": [{"role": "user", "content": _PROMPT}],
        limit: REPLY_TOKENS,
    }
    try:
        answer = await server.post(f"{server.url}/chat/completions", json.dumps(body).encode())
    except NoAnswerError as trouble:
        return result(problem=f"The call failed: {trouble}.")
    excerpt = server.reason(answer)
    if answer.status != 200:
        nothing = f"{server.name} has nothing at /chat/completions"
        check_status(server, model, answer.status, excerpt, nothing)
        return result(problem=f"The server refused the call (status {answer.status}): {excerpt}")
    if reason := broken(answer.body):
        return result(problem=f"The call failed: {reason} {excerpt}")
    reply = decoded(answer.body)
    choices: Any = reply.get("choices") if isinstance(reply, dict) else None
    message = choices[0].get("message") if _is_dicts(choices) else None
    if not isinstance(message, dict):
        return result(problem=f"The server's answer is no chat completion: {excerpt}")
    usage = reply.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return result(
        reply=server.redacted(str(message.get("content") or ""))[:200],
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _is_dicts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0
