"""Asks a server one thing until there is an answer to it, or until none can be hoped for.

What is asked, and what an answer is read as, a Script says: here nobody knows of pairs.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic

from judging.graders import openai_probe, openai_reply
from judging.graders.base import AnotherJudge, OtherModelReplied, Unavailable
from judging.graders.concurrency import FIRST_REPLY_SECONDS, Concurrency
from judging.graders.openai_server import BODY_LIMIT, Answer, NoAnswerError, Server, decoded
from judging.graders.patience import Patience, in_words
from judging.graders.script import Came, Script, What
from judging.grading.pairs import Failure
from judging.grading.prompt import prompt_hash

TRIES = 4  # failures of one thing asked, while the server answers others, before they are its own
MAKES_WAY = 30.0  # seconds without an answer, after which others that answer are asked
TOO_MUCH = (429, 529)  # statuses of a server that has more requests than it takes
_BYTES_OF_A_TOKEN = 4_000  # of JSON, with its word and twenty others and their log-probabilities
# Parameters that hold a reply to a form, of OpenAI, vLLM and llama.cpp.
_FORMS = (
    *("response_format", "structured_outputs", "grammar", "json_schema"),
    *("guided_json", "guided_choice", "guided_regex", "guided_grammar"),
)
# Servers that have replied as a model, with that model: they need no first reply in a worker's next turn.
_known: set[tuple[str, str, str, str]] = set()


class Asking(Generic[What, Came]):
    """The questions of one session, which learn from each other.

    What one of them finds out about the server holds for all: that it is there, that it wants to be
    left alone for a while, which parameters it refuses, how many requests at once it answers in time
    (`load`). `others_answer` says whether another server of them does, or has answered since a moment of
    the monotonic clock.
    """

    def __init__(
        self,
        script: Script[What, Came],
        server: Server,
        patience: float,
        others_answer: Callable[[float], Awaitable[bool]],
        load: Concurrency,
    ) -> None:
        self.script = script
        self.spec = script.spec
        self.server = server
        self.patience = Patience(server.name, patience)
        self.load = load
        self.has_replied = False  # as the model that was asked for
        self.n_open = self.n_asked = 0  # messages, counted by who chooses among servers
        self._others_answer = others_answer
        self._key = (server.url, self.spec.model, self.spec.revision, self.spec.reply_model)
        self._address = f"{server.url}/chat/completions"
        self._questions = [_beginning(way) for way in script.ways]
        tokens = self.spec.sampling.max_tokens * self.spec.sampling.samples
        self._limit = BODY_LIMIT + _BYTES_OF_A_TOKEN * tokens
        self._way = 0  # into _questions: the first that the server has not refused
        self._gives_one = False  # reply to a message, whatever `n` says
        self._successes = 0
        self._ready_at = 0.0
        self._listing = ""  # what the server lists instead of the model
        self._test: asyncio.Task[bool] | None = None
        self._form_test: asyncio.Task[bool | None] | None = None

    @property
    def room(self) -> int:
        """Limit of concurrent requests: one until the first reply names its model, or is slow."""
        is_known = self.has_replied or self._key in _known
        if not is_known and time.monotonic() - self._ready_at < FIRST_REPLY_SECONDS:
            return 1
        return int(self.load.limit)

    async def start(self) -> None:
        """Raises AnotherJudge if the server says so, Unavailable if it does not answer."""
        began = time.monotonic()
        tries = 0
        while True:
            try:
                self._listing = await openai_probe.check(self.server, self.spec, self.script.who)
            except NoAnswerError as trouble:
                tries += 1
                if tries >= TRIES and await self._others_answer(began):
                    raise self._silent(trouble) from trouble
                await self._wait_after(trouble, tries)
            else:
                self._ready_at = time.monotonic()
                self.patience.succeeded()
                return

    def put_aside(self) -> None:
        """Let what waits for this server raise Unavailable: other servers are asked."""
        self.patience.put_aside()
        self.load.close()

    async def answer(self, what: What) -> Came:
        """What the server's answer comes to. Raises GraderError if none can be had any more."""
        messages = self.script.messages(what)
        digest = prompt_hash(messages)
        own = {"messages": messages, **self.script.of_its_own(what)}
        # Half a surrogate pair, which no server takes, becomes a question mark.
        encoded = json.dumps(own, ensure_ascii=False).encode("utf-8", "replace").removeprefix(b"{")
        if self.spec.sampling.samples > 1:
            got = await self._samples(what, digest, encoded)
        else:
            got = await self._completion(what, digest, encoded)
        if not isinstance(got, Answer):
            return got
        came = openai_reply.read(self.script, what, digest, got.body, self.server.hushed)
        if self.script.is_of_another(came):
            raise self._other_model(got.body)
        if not self.has_replied:
            self.has_replied = True
            _known.add(self._key)
        return came

    async def _samples(self, what: What, digest: str, encoded: bytes) -> Came | Answer:
        """Answer with all samples, joined from several requests if the server gives one sample at a time."""
        bodies: list[bytes] = []
        missing = self.spec.sampling.samples
        while missing > 0:
            number = len(bodies) if bodies or self._gives_one else None
            got = await self._completion(what, digest, encoded, number)
            if not isinstance(got, Answer):
                return got
            n = openai_reply.n_choices(got.body)
            if n == 0 or (not bodies and n >= missing):
                return got
            self._gives_one = self._gives_one or n == 1
            bodies.append(got.body)
            missing -= n
        return Answer(200, openai_reply.joined(bodies))

    async def _completion(
        self, what: What, digest: str, encoded: bytes, number: int | None = None
    ) -> Came | Answer:
        """The completion of a message, or what it comes to that there is none.

        `number`, from 0, asks for one sample, each with a seed of its own; None for all at once.
        """
        began = time.monotonic()
        tries = its_own = 0
        others = self._successes
        failing_since = 0.0
        while True:
            sent = await self._place()
            way = self._way
            if number is None and self._gives_one:
                number = 0
            question = self._questions[way] if number is None else self._single(way, number)
            try:
                answer = await self._posted(question + encoded, sent)
                came = await self._settled(what, digest, answer, way, number)
            except NoAnswerError as trouble:
                if openai_reply.says_too_long(trouble.words):
                    return self._failed(what, digest, Failure.TOO_LONG, trouble.words)
                if trouble.status == 500 and await self._refuses_form():
                    raise self._held_to_form(trouble.words) from trouble
                tries += 1
                failing_since = failing_since or time.monotonic()
                is_load = self._note(trouble, sent)
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
                    its_own += self._successes > others and not is_load
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
                    self.load.replied(sent)
                    return came

    async def _place(self) -> float:
        """Wait until the server may be asked, and return the moment. Raises Unavailable."""
        while True:
            await self.patience.before()
            sent = await self.load.acquire()
            if self.patience.is_aside:
                self.load.release()
                raise self.patience.aside()
            if not self.patience.has_to_wait:
                return sent
            self.load.release()

    async def _posted(self, body: bytes, sent: float) -> Answer:
        def goes_on() -> bool:
            queued = self.load.is_queued(sent, self.server.timeout)
            if (
                queued
            ):  # waited for, as it would be paid for twice, but no more are sent than it takes
                self.load.timed_out(sent)
            return queued

        try:
            return await self.server.post(self._address, body, self._limit, goes_on)
        finally:
            self.load.release()

    def _note(self, trouble: NoAnswerError, sent: float) -> bool:
        """Ask less at once where that was too much, and return whether a timeout is due to it."""
        if trouble.status in TOO_MUCH:
            self.load.has_too_much(sent)
        return trouble.failure is Failure.TIMEOUT and self.load.timed_out(sent)

    async def _settled(
        self, what: What, digest: str, answer: Answer, way: int, number: int | None
    ) -> Came | Answer | None:
        """An answer that is a completion, or what it comes to; None to ask the same in another way.

        Raises NoAnswerError for a status 200 with a page of HTML, an error or half of an answer.
        """
        status = answer.status
        if 200 <= status < 300:
            if not answer.whole:
                raw = self.server.hushed_beginning(answer.body)
                why = f"The answer is longer than {self._limit:,} bytes."
                return self.script.failed(what, digest, Failure.OVERSIZED, why, raw)
            broken = openai_reply.broken(answer.body)
            if broken is None:
                return answer
            words = f"{status} {broken} {self.server.words(answer.body)}".strip()
            if openai_reply.is_filtered(decoded(answer.body)):
                return openai_reply.refused(self.script, what, digest, words)
            raise NoAnswerError(Failure.MALFORMED, words, status=status, body=answer.body)
        words = self.server.words(answer.body)
        if openai_reply.is_filtered(decoded(answer.body)):
            return openai_reply.refused(self.script, what, digest, f"{status} {words}")
        if status != 403 or not await self.answers_something_else():
            self._check_status(status, words)
        if status == 413 or openai_reply.says_too_long(words):
            return self._failed(what, digest, Failure.TOO_LONG, words)
        if openai_reply.names_logprobs(words) and way < len(self._questions) - 1:
            self._way = max(self._way, way + 1)
            return None
        several = self.spec.sampling.samples > 1 and number is None
        if several and openai_reply.names_several_samples(words):
            self._gives_one = True
            return None
        if openai_reply.names_a_parameter(words):
            who = self.script.who
            raise Unavailable(
                f"{self.server.name} does not take a parameter of this {who}: {words} Another {who} may leave "
                f"it out, rename it or take the preset of this kind of server: copy this one to a new {who}."
            )
        if await self._refuses_form():
            raise self._held_to_form(f"{status} {words}")
        return self._failed(what, digest, Failure.REQUEST, f"{status} {words}")

    def _check_status(self, status: int, words: str) -> None:
        """Raises GraderError for an answer that every question would get."""
        nothing = f"There are no chat completions at {self._address}"
        try:
            openai_probe.check_status(self.server, self.spec.model, status, words, nothing)
        except AnotherJudge as error:
            raise AnotherJudge(f"{error} {self._listing}".strip()) from None

    def _other_model(self, body: bytes) -> OtherModelReplied:
        named = self.server.hushed(openai_reply.model_named(body))[: openai_probe.NAME_LIMIT]
        asked = self.spec.reply_model or self.spec.model
        if self.has_replied:
            words = (
                f"{self.server.name} answers by turns with different models: now as {named}, before as "
                f"{asked}. Ask a server, or under a name, that stands for one model alone."
            )
        else:
            advice = self.script.rename_advice.format(named=named)
            words = (
                f"{self.server.name} answers as {named}. If that is the model you mean, {advice}. "
                f"It was asked for {self.spec.model}."
            )
        return OtherModelReplied(f"{words} {self._listing}".strip(), named)

    def _single(self, way: int, number: int) -> bytes:
        """The beginning of a request for one of several samples."""
        parameters = {name: value for name, value in self.script.ways[way].items() if name != "n"}
        seed = parameters.get("seed")
        if isinstance(seed, int):
            parameters["seed"] = seed + number  # or else all samples were the same
        return _beginning(parameters)

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
        status = await self._status_of(self.script.ways[-1])
        if status == 200:
            self._succeeded()
        return status == 200

    async def _status_of(self, parameters: Mapping[str, object]) -> int:
        """The status of the answer to a question that nothing can be wrong with; 0 where there is none."""
        messages = json.dumps({"messages": [{"role": "user", "content": "Reply with 0."}]}).encode()
        try:
            answer = await self.server.post(
                self._address, _beginning(parameters) + messages.removeprefix(b"{"), self._limit
            )
        except NoAnswerError as trouble:
            return trouble.status if trouble.status >= 400 else 0
        except Unavailable:
            return 0
        return 0 if answer.status == 200 and openai_reply.broken(answer.body) else answer.status

    async def _refuses_form(self) -> bool:
        """Return True if the server answers only requests that are not held to a form of reply.

        It is asked once. A reply to a request that is held to a form says that it does not refuse.
        """
        if self._successes or not self._forms:
            return False
        if self._form_test is None or (self._form_test.done() and self._form_test.result() is None):
            self._form_test = asyncio.create_task(self._test_form())
        return bool(await asyncio.shield(self._form_test))

    async def _test_form(self) -> bool | None:
        """None where the server answers nothing, and so cannot tell."""
        held = self.script.ways[-1]
        free = {name: value for name, value in held.items() if name not in _FORMS}
        if await self._status_of(free) != 200:
            return None
        # In this order: a server that recovers meanwhile answers this one, too.
        return await self._status_of(held) in (400, 422, 500, 501)

    @property
    def _forms(self) -> list[str]:
        return [name for name in _FORMS if name in self.script.ways[-1]]

    def _held_to_form(self, words: str) -> Unavailable:
        who = self.script.who
        return Unavailable(
            f"{self.server.name} answers, but not where a reply is held to a form ({', '.join(self._forms)}): "
            f"{words} Copy this {who} to a new {who}, and choose the form of this kind of server, or none."
        )

    def _succeeded(self) -> None:
        self._successes += 1
        self.patience.succeeded()

    def _failed(self, what: What, digest: str, failure: Failure, words: str) -> Came:
        return self.script.failed(what, digest, failure, f"The server said: {words}")


def _beginning(parameters: Mapping[str, object]) -> bytes:
    """The beginning of a request, without its messages."""
    return json.dumps(parameters).removesuffix("}").encode() + b", "
