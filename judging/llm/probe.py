"""Probe of a server: the model that it serves, and whether that is the judge's."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judging.llm import chat_template
from judging.llm.errors import BackendUnavailableError, ModelMismatchError
from judging.llm.response import has_logprobs, model_named
from judging.llm.route import PLAIN, Route
from judging.llm.sampling import RequestedModel
from judging.llm.server import Answer, NoAnswerError, Server, decoded

PROBE_SECONDS = 20.0
REPLY_TOKENS = 16  # of a call that only shows whether and under which name a model replies
# Gemini, with status 400.
_WRONG_KEY = re.compile(r"API key not valid|API_KEY_INVALID|API key expired", re.IGNORECASE)
# Not with 402, but with 400: LiteLLM, Anthropic, OpenAI, DashScope; 403: OpenRouter, xAI; 412: Fireworks.
_OVER_BUDGET = re.compile(
    r"budget_exceeded|ExceededBudget|Budget has been exceeded"
    r"|credit balance is too low|reached your specified API usage limits|billing_hard_limit_reached"
    r"|Arrearage|Key limit exceeded|doesn't have any credits|used all (?:available |your )?credits"
    r"|monthly spending limit",
    re.IGNORECASE,
)
# Not with 404, but with 400: Mistral, LiteLLM, OpenRouter; Hugging Face; Groq; GitHub; DeepSeek; LM Studio;
# with 403: OpenAI.
_UNKNOWN_MODEL = re.compile(
    r"invalid_model\b|invalid model(?: name passed in model)? ?[:=]|is not a valid model ID"
    r"|model_not_found|model_not_supported|model_decommissioned|unknown_model|model not exist"
    r"|invalid model identifier",
    re.IGNORECASE,
)
NAME_LIMIT = 250  # characters of a model's name, as many as a judge keeps

# Where Hugging Face's cache keeps a model, and so a path that names its revision.
_SNAPSHOT = re.compile(r"/snapshots/([0-9a-f]{40})(?:/|$)")


@dataclass(frozen=True)
class Probe:
    """Facts that a server tells about itself and a model.

    `models` are the names that it serves. `revision` and `template_hash` are empty, `max_model_len`
    (tokens) is None and `label_ids` has no entries where they could not be learnt; `notes` then say
    why, a sentence each. `named` is how its reply names the model, "" where it does not.
    """

    models: tuple[str, ...] = ()
    revision: str = ""
    max_model_len: int | None = None
    label_ids: tuple[int, ...] = ()
    template_hash: str = ""
    has_logprobs: bool = False
    named: str = ""
    notes: tuple[str, ...] = ()


def probe(
    url: str,
    key: str | None,
    model: str,
    *,
    labels: Sequence[str],
    template_kwargs: Mapping[str, object] | None = None,
    route: Route = PLAIN,
) -> Probe:
    """Return what of `model` at the server at `url` can be pinned.

    This takes seconds, and one token. `labels` are the rubric's grades as they are written, ascending.
    `template_kwargs` are those that a judge sends as `chat_template_kwargs`, which change what the
    template makes of a conversation. Raises BackendUnavailableError where the server does not answer or
    refuses the key.
    """
    return asyncio.run(
        _probe(Server(url, key, PROBE_SECONDS, route), model, labels, template_kwargs)
    )


async def check(server: Server, spec: RequestedModel, role: str) -> str:
    """Check the model list and chat template of a server; return a remark on the list.

    The remark is "" if the list has the model of `spec`, or if there is no list. `role` asks, such as a
    judge. Deployments and names with a router's suffix are in no list, so that none is refused for it:
    whose reply comes, the reply says. Raises ModelMismatchError where the chat template is another,
    NoAnswerError while the server does not answer.
    """
    cards = await _cards(server)
    remark = _not_listed(spec.model, tuple(cards)) if cards and spec.model not in cards else ""
    if not spec.template_hash:
        return remark
    kwargs = spec.sampling.extra.get("chat_template_kwargs")
    template_hash = await _template_hash(server, spec.model, kwargs)
    if template_hash and template_hash != spec.template_hash:
        raise ModelMismatchError(
            f"The chat template of {spec.model} at {server.url} is not the one of this {role}: another "
            "version of the model or the server, or a template that writes the date of the day."
        )
    return remark


def _not_listed(model: str, names: Sequence[str]) -> str:
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"The server lists {listed}, and not {model}."


def _check_key(server: Server, status: int, message: str = "") -> None:
    """Raises BackendUnavailableError if the server refuses the key."""
    if status not in (401, 403) and not (status == 400 and _WRONG_KEY.search(message)):
        return
    if server.has_key:
        problem = (
            "refuses the key that it was sent. Check the environment variable, or the page, with it"
        )
    else:
        problem = "wants a key, and none is set. Set the environment variable for it, or enter it on its page"
    # With 401 it may repeat a part of the key.
    reason = _server_message(message) if status == 403 else ""
    raise BackendUnavailableError(f"{server.name} {problem} (status {status}).{reason}")


def _server_message(message: str) -> str:
    """Return the server's message as a sentence; "" for a page of HTML."""
    return f" It says: {message}" if message and not message.startswith("<") else ""


def check_status(server: Server, model: str, status: int, message: str, nothing: str) -> None:
    """Raises BackendError for a status that every request would get.

    `message` are the server's own, and `nothing` says what is not at its address.
    """
    if status == 402 or (status in (400, 403, 412) and _OVER_BUDGET.search(message)):
        raise BackendUnavailableError(
            f"{server.name} wants to be paid (status {status}): {message}"
        )
    is_unknown = status in (404, 410) and "model" in message.lower()
    if is_unknown or (status in (400, 403) and _UNKNOWN_MODEL.search(message)):
        raise ModelMismatchError(f"{server.name} does not serve {model}: {message}")
    _check_key(server, status, message)
    if status in (404, 405) or 300 <= status < 400:
        hint = "The address of a server usually ends with /v1."
        if status < 400:
            hint += " Redirects are not followed: enter the address that it leads to."
        raise BackendUnavailableError(
            f"{nothing} (status {status}). {hint}{_server_message(message)}"
        )


async def _probe(
    server: Server,
    model: str,
    labels: Sequence[str],
    template_kwargs: Mapping[str, object] | None,
) -> Probe:
    await server.open()
    try:
        answer = await server.get(f"{server.url}/models")
        _check_key(server, answer.status, server.words(answer.body))
        cards = cards_in(answer)
        notes = []
        if not cards:
            notes.append("The server does not list its models.")
        elif not model:
            return Probe(tuple(cards), notes=("Write down which of its models is meant.",))
        elif model not in cards:
            notes.append(f"{_not_listed(model, tuple(cards))} It is asked all the same.")
        card = cards.get(model, {})
        snapshot = _SNAPSHOT.search(str(card.get("root") or ""))
        if snapshot is None:
            notes.append("The server does not tell the model's revision: write it down yourself.")
        length = card.get("max_model_len")
        label_ids, note = await _label_ids(server, model, labels)
        notes += [note] if note else []
        template_hash = await _template_hash(server, model, template_kwargs)
        if not template_hash:
            notes.append("The server has no /tokenize for chats: its template cannot be pinned.")
        logprobs, reply_model, note = await _tells_logprobs(server, model)
        notes += [note] if note else []
    except NoAnswerError as trouble:
        raise BackendUnavailableError(f"{server.name} does not answer: {trouble}.") from trouble
    finally:
        await server.close()
    return Probe(
        models=tuple(cards),
        revision=snapshot[1] if snapshot else "",
        max_model_len=length if isinstance(length, int) else None,
        label_ids=label_ids,
        template_hash=template_hash,
        has_logprobs=logprobs,
        named=reply_model,
        notes=tuple(notes),
    )


async def card_of(server: Server, model: str) -> dict[str, Any]:
    """Return the entry of a model in a server's list, {} if it is missing.

    Raises NoAnswerError.
    """
    return (await _cards(server)).get(model, {})


async def _cards(server: Server) -> dict[str, dict[str, Any]]:
    return cards_in(await server.get(f"{server.url}/models"))


def cards_in(answer: Answer) -> dict[str, dict[str, Any]]:
    """Return the models of an answer to /models, by name; empty if it is no such list."""
    body = decoded(answer.body) if answer.status == 200 else None
    cards = body.get("data") if isinstance(body, dict) else None
    if not isinstance(cards, list):
        return {}
    return {str(card["id"]): card for card in cards if isinstance(card, dict) and card.get("id")}


async def _label_ids(
    server: Server, model: str, labels: Sequence[str]
) -> tuple[tuple[int, ...], str]:
    """Return the token ids of the grades, or none and the reason in a sentence."""
    ids: list[int] = []
    for label in labels:
        tokens = await token_ids_of(
            server, {"model": model, "prompt": label, "add_special_tokens": False}
        )
        if not tokens:  # llama.cpp has one of its own, which reads other fields
            return (
                (),
                "The server has no /tokenize as vLLM has it: probabilities are read from its likeliest "
                "tokens.",
            )
        if len(tokens) != 1:
            return (
                (),
                f"This model writes the grade {label} with {len(tokens)} tokens, not with one.",
            )
        ids += tokens
    if len(set(ids)) < len(ids):
        return (), "This model writes two grades with the same token."
    return tuple(ids), ""


async def _template_hash(server: Server, model: str, template_kwargs: object) -> str:
    """Return the hash of the server's chat template; "" if the server cannot tell."""
    tokenized = []
    for messages in chat_template.CONVERSATIONS:
        question: dict[str, object] = {
            "model": model,
            "messages": messages,
            "add_generation_prompt": True,
        }
        if template_kwargs:
            question["chat_template_kwargs"] = template_kwargs
        tokenized.append(await token_ids_of(server, question))
    return chat_template.template_hash(tokenized)


async def token_ids_of(server: Server, question: Mapping[str, object]) -> list[int] | None:
    """Return the token ids from vLLM's /tokenize; None if a server has no such endpoint.

    Raises NoAnswerError.
    """
    try:
        answer = await server.post(f"{server.root}/tokenize", json.dumps(question).encode())
    except NoAnswerError as trouble:
        if trouble.status == 500:  # some tokenizers fail at chats
            return None
        raise
    body = decoded(answer.body) if answer.status == 200 else None
    tokens = body.get("tokens") if isinstance(body, dict) else None
    if isinstance(tokens, list) and all(isinstance(token, int) for token in tokens):
        return tokens
    return None


# How a server is asked for one reply: some refuse log-probabilities, some a temperature or `max_tokens`.
_PROBES: tuple[dict[str, object], ...] = (
    {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 5},
    {"max_tokens": REPLY_TOKENS},
    {"max_completion_tokens": REPLY_TOKENS},
)


async def _tells_logprobs(server: Server, model: str) -> tuple[bool, str, str]:
    """Ask for log-probabilities.

    Returns whether they come, the model that the reply names, and a note if they do not.
    """
    reply_model = refusal = ""
    for parameters in _PROBES:
        question = {"model": model, "messages": chat_template.PLAIN, **parameters}
        answer = await server.post(f"{server.url}/chat/completions", json.dumps(question).encode())
        _check_key(server, answer.status, server.words(answer.body))
        if answer.status == 200:
            reply_model = server.redacted(model_named(answer.body))[:NAME_LIMIT]
            if has_logprobs(answer.body):
                return True, reply_model, ""
            break
        refusal = refusal or f" ({answer.status} {server.words(answer.body)})"
        if answer.status not in (400, 422):
            break
    note = f"The server tells no log-probabilities{refusal}: there will be no expected grades."
    return False, reply_model, note
