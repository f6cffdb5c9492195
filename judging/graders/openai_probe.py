"""Asks a server what it serves, and whether that is the judge that was meant."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judging.graders import base
from judging.graders.base import AnotherJudge, Unavailable
from judging.graders.openai_reply import has_logprobs, model_named
from judging.graders.openai_server import Answer, NoAnswerError, Server, decoded
from judging.graders.route import PLAIN, Route
from judging.grading.spec import Asked

PROBE_SECONDS = 20.0
NAME_LIMIT = 250  # characters of a model's name, as many as a judge keeps

# Where Hugging Face's cache keeps a model, and so a path that names its revision.
_SNAPSHOT = re.compile(r"/snapshots/([0-9a-f]{40})(?:/|$)")


@dataclass(frozen=True)
class Probe:
    """What a server tells about itself and a model, as far as it does.

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
    """What of `model` at the server at `url` can be pinned; takes seconds, and one token.

    `labels` are the rubric's grades as they are written, ascending. `template_kwargs` are those that
    a judge sends as `chat_template_kwargs`, which change what the template makes of a conversation.
    Raises Unavailable where the server does not answer or refuses the key.
    """
    return asyncio.run(
        _probe(Server(url, key, PROBE_SECONDS, route), model, labels, template_kwargs)
    )


async def check(server: Server, spec: Asked, who: str) -> str:
    """Return a remark on what the server lists, "" where it lists the model of `spec` or nothing.

    `who` asks, such as a judge. Deployments and names with a router's suffix are in no list, so that none is
    refused for it: whose reply comes, the reply says. Raises AnotherJudge where the chat template is another,
    NoAnswerError while the server does not answer.
    """
    cards = await _cards(server)
    remark = _not_listed(spec.model, tuple(cards)) if cards and spec.model not in cards else ""
    if not spec.template_hash:
        return remark
    kwargs = spec.sampling.extra.get("chat_template_kwargs")
    template_hash = await _template_hash(server, spec.model, kwargs)
    if template_hash and template_hash != spec.template_hash:
        raise AnotherJudge(
            f"The chat template of {spec.model} at {server.url} is not the one of this {who}: another "
            "version of the model or the server, or a template that writes the date of the day."
        )
    return remark


def _not_listed(model: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"The server lists {shown}, and not {model}."


def _check_key(server: Server, status: int) -> None:
    """Raises Unavailable where a server does not take the key that it was sent."""
    if status not in (401, 403):
        return
    if server.has_key:
        why = (
            "refuses the key that it was sent. Check the environment variable, or the page, with it"
        )
    else:
        why = "wants a key, and none is set. Set the environment variable for it, or enter it on its page"
    raise Unavailable(f"{server.name} {why} (status {status}).")


def check_status(server: Server, model: str, status: int, words: str, nothing: str) -> None:
    """Raises GraderError for an answer that every question would get.

    `words` are the server's own, and `nothing` says what is not at its address.
    """
    _check_key(server, status)
    if status == 402:
        raise Unavailable(f"{server.name} wants to be paid (status 402): {words}")
    if status == 404 and "model" in words.lower():
        raise AnotherJudge(f"{server.name} does not serve {model}: {words}")
    if status in (404, 405) or 300 <= status < 400:
        why = "The address of a server usually ends with /v1."
        raise Unavailable(f"{nothing} (status {status}). {why}")


async def _probe(
    server: Server,
    model: str,
    labels: Sequence[str],
    template_kwargs: Mapping[str, object] | None,
) -> Probe:
    await server.open()
    try:
        answer = await server.get(f"{server.url}/models")
        _check_key(server, answer.status)
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
        logprobs, named, note = await _tells_logprobs(server, model)
        notes += [note] if note else []
    except NoAnswerError as trouble:
        raise Unavailable(f"{server.name} does not answer: {trouble}.") from trouble
    finally:
        await server.close()
    return Probe(
        models=tuple(cards),
        revision=snapshot[1] if snapshot else "",
        max_model_len=length if isinstance(length, int) else None,
        label_ids=label_ids,
        template_hash=template_hash,
        has_logprobs=logprobs,
        named=named,
        notes=tuple(notes),
    )


async def card_of(server: Server, model: str) -> dict[str, Any]:
    """Return what a server lists of a model, nothing where it does not list it. Raises NoAnswerError."""
    return (await _cards(server)).get(model, {})


async def _cards(server: Server) -> dict[str, dict[str, Any]]:
    return cards_in(await server.get(f"{server.url}/models"))


def cards_in(answer: Answer) -> dict[str, dict[str, Any]]:
    """The models of an answer to /models, by name; empty where it is no such list."""
    body = decoded(answer.body) if answer.status == 200 else None
    cards = body.get("data") if isinstance(body, dict) else None
    if not isinstance(cards, list):
        return {}
    return {str(card["id"]): card for card in cards if isinstance(card, dict) and card.get("id")}


async def _label_ids(
    server: Server, model: str, labels: Sequence[str]
) -> tuple[tuple[int, ...], str]:
    """The token ids of the grades, or none and a sentence why."""
    ids: list[int] = []
    for label in labels:
        tokens = await token_ids_of(
            server, {"model": model, "prompt": label, "add_special_tokens": False}
        )
        if tokens is None:
            return (
                (),
                "The server has no /tokenize: probabilities are read from its likeliest tokens.",
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
    """That of the server's template; empty if the server cannot tell."""
    tokenized = []
    for messages in base.CONVERSATIONS:
        question: dict[str, object] = {
            "model": model,
            "messages": messages,
            "add_generation_prompt": True,
        }
        if template_kwargs:
            question["chat_template_kwargs"] = template_kwargs
        tokenized.append(await token_ids_of(server, question))
    return base.template_hash(tokenized)


async def token_ids_of(server: Server, question: Mapping[str, object]) -> list[int] | None:
    """What vLLM's /tokenize answers; None where a server has no such thing. Raises NoAnswerError."""
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


async def _tells_logprobs(server: Server, model: str) -> tuple[bool, str, str]:
    """Ask for log-probabilities: (whether they come, the model that the reply names, a note if not)."""
    question = {
        "model": model,
        "messages": base.PLAIN,
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 5,
    }
    answer = await server.post(f"{server.url}/chat/completions", json.dumps(question).encode())
    named = server.hushed(model_named(answer.body))[:NAME_LIMIT] if answer.status == 200 else ""
    if answer.status == 200 and has_logprobs(answer.body):
        return True, named, ""
    _check_key(server, answer.status)
    why = "" if answer.status == 200 else f" ({answer.status} {server.words(answer.body)})"
    note = f"The server tells no log-probabilities{why}: there will be no expected grades."
    return False, named, note
