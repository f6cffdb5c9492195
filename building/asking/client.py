"""Concurrent HTTP client for the servers of one model, with retries."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from judging.llm.errors import BackendError, BackendUnavailableError, Failure, ModelMismatchError
from judging.llm.model_names import names_model
from judging.llm.probe import card_of, check_status, token_ids_of
from judging.llm.retry import RetryPolicy
from judging.llm.server import (
    BODY_LIMIT,
    WORDS_LIMIT,
    Address,
    Answer,
    NoAnswerError,
    Server,
    decoded,
)

AT_ONCE = 8  # questions that are out
TIMEOUT = 120.0  # seconds that one answer may take
RETRY_SECONDS = 300.0  # seconds for which a question may fail before nothing is hoped for

Question = Mapping[str, Any]
Request = TypeVar("Request")
Answered = TypeVar("Answered")


class RejectedRequestError(BackendError):
    """The server rejected the request, or its answer cannot be read."""


class Client:
    """Client for the servers of one model; requests are distributed round-robin.

    Each call opens a session of its own and closes it, so nothing is held between calls.
    """

    def __init__(self, addresses: Sequence[Address], model: str) -> None:
        self.model = model
        self._addresses = addresses
        self._servers: list[Server] = []
        self._retry_policies: dict[str, RetryPolicy] = {}

    def check(self) -> int | None:
        """Return the longest prompt of the model in tokens, if a server reports it.

        Of several servers the shortest counts. Raises BackendUnavailableError where one is silent.
        """
        return asyncio.run(self._opened(self._check))

    def answers(
        self, path: str, questions: Sequence[Question], limit: int = BODY_LIMIT
    ) -> list[dict[str, Any]]:
        """Return the JSON answer to each question at `path` below /v1, in their order.

        `limit` are the bytes of an answer that are read. What may be right a moment later (429, 500, no
        connection, a page of HTML, half of an answer) is asked again. Raises BackendUnavailableError,
        ModelMismatchError where an answer names another model, RejectedRequestError.
        """
        return asyncio.run(self._opened(lambda: self._post_all(path, questions, limit)))

    def n_tokens(self, texts: Sequence[str]) -> list[int | None]:
        """Count the tokens of each text; None where the server does not count.

        Raises BackendUnavailableError.
        """
        return asyncio.run(self._opened(lambda: self._counts(texts)))

    def hushed(self, text: str) -> str:
        """Redact the servers' keys from a text of an answer: a server may repeat its key."""
        for address in self._addresses:
            text = Server(address.url, address.key, TIMEOUT).redacted(text)
        return text

    async def _opened(self, work: Callable[[], Awaitable[Answered]]) -> Answered:
        self._servers = [
            Server(address.url, address.key, TIMEOUT, address.route) for address in self._addresses
        ]
        self._retry_policies = {
            server.url: RetryPolicy(server.name, RETRY_SECONDS) for server in self._servers
        }
        self._places = asyncio.Semaphore(AT_ONCE)
        for server in self._servers:
            await server.open()
        try:
            return await work()
        finally:
            for server in self._servers:
                await server.close()

    async def _check(self) -> int | None:
        lengths = []
        for server in self._servers:
            card = await self._with_retries([server], partial(card_of, model=self.model))
            lengths.append(card.get("max_model_len"))
        limits = [length for length in lengths if isinstance(length, int) and length > 0]
        return min(limits, default=None)

    async def _post_all(
        self, path: str, questions: Sequence[Question], limit: int
    ) -> list[dict[str, Any]]:
        async def ask(server: Server, question: Question) -> dict[str, Any]:
            # Half a surrogate pair, which no server takes, becomes a question mark.
            body = json.dumps(question, ensure_ascii=False).encode("utf-8", "replace")
            answer = await server.post(f"{server.url}/{path}", body, limit)
            return self._read(server, path, answer, limit)

        return await self._gather(ask, questions)

    async def _counts(self, texts: Sequence[str]) -> list[int | None]:
        async def count(server: Server, text: str) -> int | None:
            clean = text.encode("utf-8", "replace").decode()
            ids = await token_ids_of(server, {"model": self.model, "prompt": clean})
            return None if ids is None else len(ids)

        first = await self._gather(count, texts[:1])
        if first == [None]:  # nor does it count the others
            return [None] * len(texts)
        return first + await self._gather(count, texts[1:])

    async def _gather(
        self, ask: Callable[[Server, Request], Awaitable[Answered]], questions: Sequence[Request]
    ) -> list[Answered]:
        """Run `ask` for each question, on servers in turn, AT_ONCE at a time."""

        async def ask_in_turn(index: int, question: Request) -> Answered:
            n = len(self._servers)
            servers = [self._servers[(index + step) % n] for step in range(n)]
            async with self._places:
                return await self._with_retries(servers, lambda server: ask(server, question))

        tasks = [asyncio.create_task(ask_in_turn(*numbered)) for numbered in enumerate(questions)]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _with_retries(
        self, servers: Sequence[Server], ask: Callable[[Server], Awaitable[Answered]]
    ) -> Answered:
        """Call `ask` on the servers in turn until one answers or the retry policy ends."""
        began = time.monotonic()
        tries = 0
        while True:
            server = servers[tries % len(servers)]
            policy = self._retry_policies[server.url]
            await policy.before()
            try:
                got = await ask(server)
            except NoAnswerError as trouble:
                tries += 1
                if not await policy.after(trouble, tries, time.monotonic() - began):
                    message = f"{server.name} gave no answer in {tries} tries: {trouble}."
                    raise BackendUnavailableError(message) from trouble
            else:
                policy.succeeded()
                return got

    def _read(self, server: Server, path: str, answer: Answer, limit: int) -> dict[str, Any]:
        """Parse an answer. Raises NoAnswerError for errors that may pass on a retry."""
        status = answer.status
        if 200 <= status < 300:
            if not answer.whole:
                raise RejectedRequestError(
                    f"{server.name} answered with more than {limit:,} bytes."
                )
            body = decoded(answer.body)
            if not isinstance(body, dict) or body.get("error"):
                detail = f"{status} {server.words(answer.body)}".strip()
                raise NoAnswerError(Failure.MALFORMED, detail, status=status)
            model = body.get("model")
            if isinstance(model, str) and model and not names_model(self.model, model):
                model = server.redacted(model)[:WORDS_LIMIT]
                raise ModelMismatchError(
                    f"The request to {server.name} was for {self.model}, but {model} answered."
                )
            return body
        detail = server.reason(answer)
        nothing = f"{server.name} has nothing at /{path}, which not every server or model can do"
        check_status(server, self.model, status, detail, nothing)
        raise RejectedRequestError(f"{server.name} refused the request (status {status}): {detail}")
