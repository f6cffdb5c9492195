"""Requests to one server, repeated until there is an answer or no hope of one.

A chat task says what is asked and how an answer is read: nothing here knows of pairs.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic

from judging.llm import probe, response
from judging.llm.chat_task import ChatTask, Item, Result
from judging.llm.concurrency import FIRST_REPLY_SECONDS, Concurrency
from judging.llm.errors import (
    BackendUnavailableError,
    Failure,
    ModelMismatchError,
    ReplyModelMismatchError,
)
from judging.llm.messages import prompt_hash
from judging.llm.retry import RetryPolicy, duration_text
from judging.llm.server import BODY_LIMIT, PASSING, Answer, NoAnswerError, Server, decoded

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
_confirmed: set[tuple[str, str, str, str]] = set()


class ServerClient(Generic[Item, Result]):
    """Requests of one session to one server, which share what they learn about it.

    What one request finds out holds for all: that the server is there, that it wants to be left alone
    for a while, which parameters it refuses, how many requests at once it answers in time (`load`).
    `others_answer` says whether another server answers, or has done so since a moment of the monotonic
    clock.
    """

    def __init__(
        self,
        chat_task: ChatTask[Item, Result],
        server: Server,
        retry_seconds: float,
        others_answer: Callable[[float], Awaitable[bool]],
        load: Concurrency,
    ) -> None:
        self.chat_task = chat_task
        self.spec = chat_task.spec
        self.server = server
        self.retry_policy = RetryPolicy(server.name, retry_seconds)
        self.load = load
        self.has_replied = False  # as the model that was asked for
        self.n_open = self.n_asked = 0  # messages, counted by who chooses among servers
        self._others_answer = others_answer
        self._key = (server.url, self.spec.model, self.spec.revision, self.spec.reply_model)
        self._address = f"{server.url}/chat/completions"
        self._questions = [_beginning(way) for way in chat_task.request_variants]
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
        is_confirmed = self.has_replied or self._key in _confirmed
        if not is_confirmed and time.monotonic() - self._ready_at < FIRST_REPLY_SECONDS:
            return 1
        return int(self.load.limit)

    async def start(self) -> None:
        """Check that the server serves the model.

        Raises ModelMismatchError if it does not, BackendUnavailableError if it does not answer.
        """
        began = time.monotonic()
        tries = 0
        while True:
            try:
                self._listing = await probe.check(self.server, self.spec, self.chat_task.role)
            except NoAnswerError as trouble:
                tries += 1
                if tries >= TRIES and await self._others_answer(began):
                    raise self._silent(trouble) from trouble
                await self._wait_after(trouble, tries)
            else:
                self._ready_at = time.monotonic()
                self.retry_policy.succeeded()
                return

    def put_aside(self) -> None:
        """Make everything that waits for this server raise BackendUnavailableError.

        Other servers are asked.
        """
        self.retry_policy.put_aside()
        self.load.close()

    async def answer(self, item: Item) -> Result:
        """Return the result of an item.

        Raises BackendError if no answer can be had any more.
        """
        messages = self.chat_task.messages(item)
        digest = prompt_hash(messages)
        fields = {"messages": messages, **self.chat_task.extra_parameters(item)}
        # Half a surrogate pair, which no server takes, becomes a question mark.
        encoded = (
            json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace").removeprefix(b"{")
        )
        if self.spec.sampling.samples > 1:
            got = await self._samples(item, digest, encoded)
        else:
            got = await self._completion(item, digest, encoded)
        if not isinstance(got, Answer):
            return got
        result = response.read(self.chat_task, item, digest, got.body, self.server.redacted)
        if self.chat_task.other_model(result):
            raise self._other_model(got.body)
        if not self.has_replied:
            self.has_replied = True
            _confirmed.add(self._key)
        return result

    async def _samples(self, item: Item, digest: str, encoded: bytes) -> Result | Answer:
        """Return the answer with all samples.

        It is joined from several requests if the server gives one sample at a time.
        """
        bodies: list[bytes] = []
        missing = self.spec.sampling.samples
        while missing > 0:
            number = len(bodies) if bodies or self._gives_one else None
            got = await self._completion(item, digest, encoded, number)
            if not isinstance(got, Answer):
                return got
            n = response.n_choices(got.body)
            if n == 0 or (not bodies and n >= missing):
                return got
            self._gives_one = self._gives_one or n == 1
            bodies.append(got.body)
            missing -= n
        return Answer(200, response.joined(bodies))

    async def _completion(
        self, item: Item, digest: str, encoded: bytes, number: int | None = None
    ) -> Result | Answer:
        """Return the completion of a message, or the result for a failed one.

        `number`, from 0, asks for one sample, each with a seed of its own; None for all at once.
        """
        began = time.monotonic()
        tries = own_failures = 0
        successes_before = self._successes
        failing_since = 0.0
        while True:
            sent = await self._acquire()
            way = self._way
            if number is None and self._gives_one:
                number = 0
            question = self._questions[way] if number is None else self._single(way, number)
            try:
                answer = await self._posted(question + encoded, sent)
                result = await self._settled(item, digest, answer, way, number)
            except NoAnswerError as trouble:
                if response.says_too_long(trouble.words):
                    return self._failed(item, digest, Failure.TOO_LONG, trouble.words)
                if self._refuses_samples(number, trouble.words):
                    continue
                if trouble.status == 500 and await self._refuses_form():
                    raise self._held_to_form(trouble.words) from trouble
                tries += 1
                failing_since = failing_since or time.monotonic()
                is_load = self._note(trouble, sent)
                if trouble.status == 429 or trouble.wait is not None:
                    # That it has no time is nobody's fault, so this has as long as the server.
                    waited = time.monotonic() - began
                    given_up = (
                        waited > self.retry_policy.seconds and self._successes > successes_before
                    )
                else:
                    if (
                        tries >= TRIES
                        and self._successes == successes_before
                        and not await self.answers_something_else()
                    ):
                        await self._make_way(trouble, failing_since)
                    own_failures += self._successes > successes_before and not is_load
                    successes_before = self._successes
                    given_up = own_failures >= TRIES
                if given_up:
                    detail = f"After {tries} tries: {trouble.words}"
                    raw = self.server.redacted(trouble.body.decode("utf-8", "replace"))
                    return self.chat_task.failed(item, digest, trouble.failure, detail, raw)
                await self._wait_after(trouble, tries)
            else:
                if result is not None:
                    self._succeeded()
                    self.load.replied(sent)
                    return result

    async def _acquire(self) -> float:
        """Wait until the server may be asked, and return the time. Raises BackendUnavailableError."""
        while True:
            await self.retry_policy.before()
            sent = await self.load.acquire()
            if self.retry_policy.is_aside:
                self.load.release()
                raise self.retry_policy.aside()
            if not self.retry_policy.has_to_wait:
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
        """Lower the concurrency if necessary; return whether load caused a timeout."""
        if trouble.status in TOO_MUCH:
            self.load.has_too_much(sent)
        return trouble.failure is Failure.TIMEOUT and self.load.timed_out(sent)

    async def _settled(
        self, item: Item, digest: str, answer: Answer, way: int, number: int | None
    ) -> Result | Answer | None:
        """Return a completed answer or a final result; None to repeat the request in another way.

        Raises NoAnswerError for a status 200 with a page of HTML, an error or half of an answer.
        """
        status = answer.status
        if 200 <= status < 300:
            if not answer.whole:
                raw = self.server.hushed_beginning(answer.body)
                detail = f"The answer is longer than {self._limit:,} bytes."
                return self.chat_task.failed(item, digest, Failure.OVERSIZED, detail, raw)
            broken = response.broken(answer.body)
            if broken is None:
                return answer
            message = f"{status} {broken} {self.server.words(answer.body)}".strip()
            if response.is_filtered(decoded(answer.body)):
                return response.refused(self.chat_task, item, digest, message)
            code = response.status_named(answer.body)
            if not code:
                raise NoAnswerError(Failure.MALFORMED, message, status=status, body=answer.body)
            if code in PASSING:
                raise NoAnswerError(Failure.SERVER, message, status=code, body=answer.body)
            status = code
        message = self.server.reason(answer)
        if response.is_filtered(decoded(answer.body)):
            return response.refused(self.chat_task, item, digest, f"{status} {message}")
        if status != 403 or not await self.answers_something_else():
            self._check_status(status, message)
        if status == 413 or response.says_too_long(message):
            return self._failed(item, digest, Failure.TOO_LONG, message)
        if response.names_logprobs(message) and way < len(self._questions) - 1:
            self._way = max(self._way, way + 1)
            return None
        if self._refuses_samples(number, message):
            return None
        if response.names_a_parameter(message):
            role = self.chat_task.role
            raise BackendUnavailableError(
                f"{self.server.name} does not take a parameter of this {role}: {message} Another {role} "
                "may leave it out, rename it or take the preset of this kind of server: copy this one to a new "
                f"{role}."
            )
        if await self._refuses_form():
            raise self._held_to_form(f"{status} {message}")
        return self._failed(item, digest, Failure.REQUEST, f"{status} {message}")

    def _refuses_samples(self, number: int | None, message: str) -> bool:
        """Return whether `n` is refused, and remember it; llama.cpp did so with status 500.

        `number` is that of a single sample, None where all are asked for at once.
        """
        has_samples = self.spec.sampling.samples > 1 and number is None
        refuses = has_samples and response.names_several_samples(message)
        self._gives_one = self._gives_one or refuses
        return refuses

    def _check_status(self, status: int, message: str) -> None:
        """Raises BackendError for an answer that every request would get."""
        nothing = f"There are no chat completions at {self._address}"
        try:
            probe.check_status(self.server, self.spec.model, status, message, nothing)
        except ModelMismatchError as error:
            raise ModelMismatchError(f"{error} {self._listing}".strip()) from None

    def _other_model(self, body: bytes) -> ReplyModelMismatchError:
        reply_model = self.server.redacted(response.model_named(body))[: probe.NAME_LIMIT]
        requested = self.spec.reply_model or self.spec.model
        if self.has_replied:
            message = (
                f"{self.server.name} answers by turns with different models: now as {reply_model}, before as "
                f"{requested}. Ask a server, or under a name, that stands for one model alone."
            )
        else:
            advice = self.chat_task.rename_advice.format(named=reply_model)
            message = (
                f"{self.server.name} answers as {reply_model}. If that is the model you mean, {advice}. "
                f"It was asked for {self.spec.model}."
            )
        return ReplyModelMismatchError(f"{message} {self._listing}".strip(), reply_model)

    def _single(self, way: int, number: int) -> bytes:
        """Return the beginning of a request for one of several samples."""
        parameters = {
            name: value
            for name, value in self.chat_task.request_variants[way].items()
            if name != "n"
        }
        for name in ("seed", "random_seed"):  # Mistral's
            seed = parameters.get(name)
            if isinstance(seed, int):
                parameters[name] = seed + number  # or else all samples were the same
        return _beginning(parameters)

    async def _wait_after(self, trouble: NoAnswerError, tries: int) -> None:
        """Wait before the next try. Raises BackendUnavailableError at the retry time limit."""
        if not await self.retry_policy.after(trouble, tries, self.retry_policy.silence):
            raise self._silent(trouble) from trouble

    async def _make_way(self, trouble: NoAnswerError, since: float) -> None:
        """Raise BackendUnavailableError if this server is long silent and another is not."""
        if self.retry_policy.silence >= MAKES_WAY and await self._others_answer(since):
            raise self._silent(trouble) from trouble

    def _silent(self, trouble: NoAnswerError) -> BackendUnavailableError:
        silence = duration_text(self.retry_policy.silence)
        return BackendUnavailableError(
            f"{self.server.name} has not answered any question for {silence}: {trouble}."
        )

    async def answers_something_else(self) -> bool:
        """Return whether the server answers a request that is certainly valid.

        If it does, a request that it never answers is at fault itself, even where no other is in
        flight.
        """
        if self._test is None or self._test.done():
            self._test = asyncio.create_task(self._ask_something_else())
        return await asyncio.shield(self._test)  # which others may wait for as well

    async def _ask_something_else(self) -> bool:
        # With the parameters of the chat task, as some servers refuse others, and without probabilities.
        status = await self._status_of(self.chat_task.request_variants[-1])
        if status == 200:
            self._succeeded()
        return status == 200

    async def _status_of(self, parameters: Mapping[str, object]) -> int:
        """Return the status of the answer to a question that is certainly valid.

        0 where there is no answer.
        """
        messages = json.dumps({"messages": [{"role": "user", "content": "Reply with 0."}]}).encode()
        try:
            answer = await self.server.post(
                self._address, _beginning(parameters) + messages.removeprefix(b"{"), self._limit
            )
        except NoAnswerError as trouble:
            return trouble.status if trouble.status >= 400 else 0
        except BackendUnavailableError:
            return 0
        return 0 if answer.status == 200 and response.broken(answer.body) else answer.status

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
        """Return whether the server refuses a form of reply; None if it answers nothing."""
        constrained = self.chat_task.request_variants[-1]
        free = {name: value for name, value in constrained.items() if name not in _FORMS}
        if await self._status_of(free) != 200:
            return None
        # In this order: a server that recovers meanwhile answers this one, too.
        return await self._status_of(constrained) in (400, 422, 500, 501)

    @property
    def _forms(self) -> list[str]:
        return [name for name in _FORMS if name in self.chat_task.request_variants[-1]]

    def _held_to_form(self, message: str) -> BackendUnavailableError:
        role = self.chat_task.role
        return BackendUnavailableError(
            f"{self.server.name} answers, but not where a reply is held to a form ({', '.join(self._forms)}): "
            f"{message} Copy this {role} to a new {role}, and choose the form of this kind of server, or none."
        )

    def _succeeded(self) -> None:
        self._successes += 1
        self.retry_policy.succeeded()

    def _failed(self, item: Item, digest: str, failure: Failure, message: str) -> Result:
        return self.chat_task.failed(item, digest, failure, f"The server said: {message}")


def _beginning(parameters: Mapping[str, object]) -> bytes:
    """Return the beginning of a request, without its messages."""
    return json.dumps(parameters).removesuffix("}").encode() + b", "
