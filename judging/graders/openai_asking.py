"""Asks a server one thing until there is an answer to it, or until none can be hoped for.

What is asked, and what an answer is read as, a Script says: here nobody knows of pairs.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic

from judging.graders import openai_probe, openai_reply
from judging.graders.base import Unavailable
from judging.graders.openai_server import BODY_LIMIT, Answer, NoAnswerError, Server
from judging.graders.patience import Patience, in_words
from judging.graders.script import Came, Script, What
from judging.grading.pairs import Failure
from judging.grading.prompt import prompt_hash

TRIES = 4  # failures of one thing asked, while the server answers others, before they are its own
MAKES_WAY = 30.0  # seconds without an answer, after which others that answer are asked
_BYTES_OF_A_TOKEN = 4_000  # of JSON, with its word and twenty others and their log-probabilities


class Asking(Generic[What, Came]):
    """The questions of one session, which learn from each other.

    What one of them finds out about the server holds for all: that it is there, that it wants to be
    left alone for a while, which parameters it refuses. `others_answer` says whether another server of
    them does, or has answered since a moment of the monotonic clock.
    """

    def __init__(
        self,
        script: Script[What, Came],
        server: Server,
        patience: float,
        others_answer: Callable[[float], Awaitable[bool]],
    ) -> None:
        self.script = script
        self.spec = script.spec
        self.server = server
        self.patience = Patience(server.name, patience)
        self.n_open = self.n_asked = 0  # messages, counted by who chooses among servers
        self._others_answer = others_answer
        self._address = f"{server.url}/chat/completions"
        self._questions = _questions(script.ways)
        tokens = self.spec.sampling.max_tokens * self.spec.sampling.samples
        self._limit = BODY_LIMIT + _BYTES_OF_A_TOKEN * tokens
        self._way = 0  # into _questions: the first that the server has not refused
        self._successes = 0
        self._test: asyncio.Task[bool] | None = None

    async def start(self) -> None:
        """Raises AnotherJudge if the server says so, Unavailable if it does not answer."""
        began = time.monotonic()
        tries = 0
        while True:
            try:
                await openai_probe.check(self.server, self.spec, self.script.who)
            except NoAnswerError as trouble:
                tries += 1
                if tries >= TRIES and await self._others_answer(began):
                    raise self._silent(trouble) from trouble
                await self._wait_after(trouble, tries)
            else:
                self.patience.succeeded()
                return

    async def answer(self, what: What) -> Came:
        """What the server's answer comes to. Raises GraderError if none can be had any more."""
        messages = self.script.messages(what)
        digest = prompt_hash(messages)
        own = {"messages": messages, **self.script.of_its_own(what)}
        # Half a surrogate pair, which no server takes, becomes a question mark.
        encoded = json.dumps(own, ensure_ascii=False).encode("utf-8", "replace").removeprefix(b"{")
        began = time.monotonic()
        tries = its_own = 0
        others = self._successes
        failing_since = 0.0
        while True:
            await self.patience.before()
            way = self._way
            try:
                answer = await self.server.post(
                    self._address, self._questions[way] + encoded, self._limit
                )
                came = await self._settled(what, digest, answer, way)
            except NoAnswerError as trouble:
                if openai_reply.says_too_long(trouble.words):
                    return self._failed(what, digest, Failure.TOO_LONG, trouble.words)
                tries += 1
                failing_since = failing_since or time.monotonic()
                if trouble.status == 429 or trouble.wait is not None:
                    # That it has no time is nobody's fault, so this has as long as the server.
                    waited = time.monotonic() - began
                    given_up = waited > self.patience.seconds and self._successes > others
                else:
                    if (
                        tries >= TRIES
                        and self._successes == others
                        and not await self.answers_something_else()
                    ):
                        await self._make_way(trouble, failing_since)
                    its_own += self._successes > others
                    others = self._successes
                    given_up = its_own >= TRIES
                if given_up:
                    words = f"After {tries} tries: {trouble.words}"
                    raw = self.server.hushed(trouble.body.decode("utf-8", "replace"))
                    return self.script.failed(what, digest, trouble.failure, words, raw)
                await self._wait_after(trouble, tries)
            else:
                if came is not None:
                    self._succeeded()
                    return came

    async def _settled(self, what: What, digest: str, answer: Answer, way: int) -> Came | None:
        """What an answer comes to; None where the same is to be asked in another way.

        Raises NoAnswerError for a status 200 with a page of HTML, an error or half of an answer.
        """
        status = answer.status
        if 200 <= status < 300:
            if answer.whole:
                if why := openai_reply.broken(answer.body):
                    words = f"{status} {why} {self.server.words(answer.body)}".strip()
                    raise NoAnswerError(Failure.MALFORMED, words, status=status, body=answer.body)
                return openai_reply.read(self.script, what, digest, answer.body, self.server.hushed)
            raw = self.server.hushed_beginning(answer.body)
            why = f"The answer is longer than {self._limit:,} bytes."
            return self.script.failed(what, digest, Failure.OVERSIZED, why, raw)
        words = self.server.words(answer.body)
        if status != 403 or not await self.answers_something_else():
            nothing = f"There are no chat completions at {self._address}"
            openai_probe.check_status(self.server, self.spec.model, status, words, nothing)
        if status == 413 or openai_reply.says_too_long(words):
            return self._failed(what, digest, Failure.TOO_LONG, words)
        if openai_reply.names_logprobs(words) and way < len(self._questions) - 1:
            self._way = max(self._way, way + 1)
            return None
        if openai_reply.names_a_parameter(words):
            who = self.script.who
            raise Unavailable(
                f"{self.server.name} does not take a parameter of this {who}: {words} Another {who} may leave "
                f"it out, rename it or take the preset of this kind of server: copy this one to a new {who}."
            )
        return self._failed(what, digest, Failure.REQUEST, f"{status} {words}")

    async def _wait_after(self, trouble: NoAnswerError, tries: int) -> None:
        """Wait before the next try. Raises Unavailable when patience is at its end."""
        if not await self.patience.after(trouble, tries, self.patience.silence):
            raise self._silent(trouble) from trouble

    async def _make_way(self, trouble: NoAnswerError, since: float) -> None:
        """Raises Unavailable where this server has long been silent, and another one is not."""
        if self.patience.silence >= MAKES_WAY and await self._others_answer(since):
            raise self._silent(trouble) from trouble

    def _silent(self, trouble: NoAnswerError) -> Unavailable:
        silence = in_words(self.patience.silence)
        return Unavailable(
            f"{self.server.name} has not answered any question for {silence}: {trouble}."
        )

    async def answers_something_else(self) -> bool:
        """Whether the server answers a question that nothing can be wrong with.

        If it does, what it never answers is at fault, even where nothing else is asked beside it.
        """
        if self._test is None or self._test.done():
            self._test = asyncio.create_task(self._ask_something_else())
        return await asyncio.shield(self._test)  # which others may wait for as well

    async def _ask_something_else(self) -> bool:
        # With the parameters of the script, as some servers refuse others, and without probabilities.
        messages = json.dumps({"messages": [{"role": "user", "content": "Reply with 0."}]}).encode()
        try:
            answer = await self.server.post(
                self._address, self._questions[-1] + messages.removeprefix(b"{"), self._limit
            )
        except NoAnswerError:
            return False
        answers = answer.status == 200 and openai_reply.broken(answer.body) is None
        if answers:
            self._succeeded()
        return answers

    def _succeeded(self) -> None:
        self._successes += 1
        self.patience.succeeded()

    def _failed(self, what: What, digest: str, failure: Failure, words: str) -> Came:
        return self.script.failed(what, digest, failure, f"The server said: {words}")


def _questions(ways: Sequence[dict[str, object]]) -> list[bytes]:
    """The beginning of a request, without its messages, in the ways in which it may be put."""
    return [json.dumps(way).removesuffix("}").encode() + b", " for way in ways]
