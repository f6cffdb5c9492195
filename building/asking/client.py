"""Questions to the servers of a model, several at once, until there are answers or none can be hoped for."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from judging.graders.base import AnotherJudge, GraderError, Unavailable
from judging.graders.model_names import names_model
from judging.graders.openai_probe import card_of, check_status, token_ids_of
from judging.graders.openai_server import (
    BODY_LIMIT,
    WORDS_LIMIT,
    Address,
    Answer,
    NoAnswerError,
    Server,
    decoded,
)
from judging.graders.patience import Patience
from judging.grading.pairs import Failure

AT_ONCE = 8  # questions that are out
TIMEOUT = 120.0  # seconds that one answer may take
PATIENCE = 300.0  # seconds for which a question may fail before nothing is hoped for

Question = Mapping[str, Any]
Asked = TypeVar("Asked")
Got = TypeVar("Got")


class Refused(GraderError):
    """The server took the question for a wrong one, or its answer cannot be read."""


class Client:
    """The servers at some addresses, of one model; the questions go round among them.

    Each call opens a session of its own and closes it, so nothing is held between calls.
    """

    def __init__(self, addresses: Sequence[Address], model: str) -> None:
        self.model = model
        self._addresses = addresses
        self._servers: list[Server] = []
        self._patience: dict[str, Patience] = {}

    def check(self) -> int | None:
        """The longest prompt of the model in tokens, where a server tells; of several the shortest.

        Raises Unavailable where one is silent.
        """
        return asyncio.run(self._opened(self._check))

    def answers(
        self, path: str, questions: Sequence[Question], limit: int = BODY_LIMIT
    ) -> list[dict[str, Any]]:
        """The JSON object that answers each question at `path` below /v1, in their order.

        `limit` are the bytes of an answer that are read. What may be right a moment later (429, 500, no
        connection, a page of HTML, half of an answer) is asked again. Raises Unavailable, AnotherJudge
        where an answer names another model, Refused.
        """
        return asyncio.run(self._opened(lambda: self._all(path, questions, limit)))

    def n_tokens(self, texts: Sequence[str]) -> list[int | None]:
        """How many tokens each text has; None where the server does not count. Raises Unavailable."""
        return asyncio.run(self._opened(lambda: self._counts(texts)))

    def hushed(self, words: str) -> str:
        """Words of an answer as they may be shown: a server may repeat the key that it was sent."""
        for each in self._addresses:
            words = Server(each.url, each.key, TIMEOUT).hushed(words)
        return words

    async def _opened(self, work: Callable[[], Awaitable[Got]]) -> Got:
        self._servers = [
            Server(each.url, each.key, TIMEOUT, each.route) for each in self._addresses
        ]
        self._patience = {server.url: Patience(server.name, PATIENCE) for server in self._servers}
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
            card = await self._patiently([server], partial(card_of, model=self.model))
            lengths.append(card.get("max_model_len"))
        told = [length for length in lengths if isinstance(length, int) and length > 0]
        return min(told, default=None)

    async def _all(
        self, path: str, questions: Sequence[Question], limit: int
    ) -> list[dict[str, Any]]:
        async def ask(server: Server, question: Question) -> dict[str, Any]:
            # Half a surrogate pair, which no server takes, becomes a question mark.
            body = json.dumps(question, ensure_ascii=False).encode("utf-8", "replace")
            answer = await server.post(f"{server.url}/{path}", body, limit)
            return self._read(server, path, answer, limit)

        return await self._together(ask, questions)

    async def _counts(self, texts: Sequence[str]) -> list[int | None]:
        async def count(server: Server, text: str) -> int | None:
            clean = text.encode("utf-8", "replace").decode()
            ids = await token_ids_of(server, {"model": self.model, "prompt": clean})
            return None if ids is None else len(ids)

        first = await self._together(count, texts[:1])
        if first == [None]:  # nor does it count the others
            return [None] * len(texts)
        return first + await self._together(count, texts[1:])

    async def _together(
        self, ask: Callable[[Server, Asked], Awaitable[Got]], questions: Sequence[Asked]
    ) -> list[Got]:
        """`ask` of each question, of servers in turn, a few at once."""

        async def one(place: int, question: Asked) -> Got:
            n = len(self._servers)
            servers = [self._servers[(place + step) % n] for step in range(n)]
            async with self._places:
                return await self._patiently(servers, lambda server: ask(server, question))

        tasks = [asyncio.create_task(one(*numbered)) for numbered in enumerate(questions)]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _patiently(
        self, servers: Sequence[Server], ask: Callable[[Server], Awaitable[Got]]
    ) -> Got:
        """What `ask` gets of one of the servers, each in turn, while patience lasts."""
        began = time.monotonic()
        tries = 0
        while True:
            server = servers[tries % len(servers)]
            patience = self._patience[server.url]
            await patience.before()
            try:
                got = await ask(server)
            except NoAnswerError as trouble:
                tries += 1
                if not await patience.after(trouble, tries, time.monotonic() - began):
                    said = f"{server.name} gave no answer in {tries} tries: {trouble}."
                    raise Unavailable(said) from trouble
            else:
                patience.succeeded()
                return got

    def _read(self, server: Server, path: str, answer: Answer, limit: int) -> dict[str, Any]:
        """Raises NoAnswerError for what may be right when it is asked again."""
        status = answer.status
        if 200 <= status < 300:
            if not answer.whole:
                raise Refused(f"{server.name} answered with more than {limit:,} bytes.")
            body = decoded(answer.body)
            if not isinstance(body, dict) or body.get("error"):
                words = f"{status} {server.words(answer.body)}".strip()
                raise NoAnswerError(Failure.MALFORMED, words, status=status)
            named = body.get("model")
            if isinstance(named, str) and named and not names_model(self.model, named):
                named = server.hushed(named)[:WORDS_LIMIT]
                raise AnotherJudge(
                    f"{server.name} was asked for {self.model}, and {named} answered."
                )
            return body
        words = server.words(answer.body)
        nothing = f"{server.name} has nothing at /{path}, which not every server or model can do"
        check_status(server, self.model, status, words, nothing)
        raise Refused(f"{server.name} refuses what it was asked (status {status}): {words}")
