"""vLLM in this process: a model loaded once, with many requests in flight.

A chat task defines the messages and the reading of replies, as at a server.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, NamedTuple

from judging.llm import chat_template
from judging.llm.chat_task import TOO_MANY_CHARACTERS, ChatTask, Item, Result, oversized
from judging.llm.completion import TOKEN_ID, Completion, storable
from judging.llm.errors import BackendError, BackendUnavailableError, Failure, ModelMismatchError
from judging.llm.messages import prompt_hash

MOST_LOGPROBS = (
    20  # of the likeliest tokens, where a chat task names no token ids: vLLM's own limit
)
# What decides which model it is: that is for who asks to say, and not for this machine.
OF_THE_MODEL = frozenset(
    {
        *("model", "revision", "tokenizer", "tokenizer_revision", "code_revision", "hf_overrides"),
        *("quantization", "generation_config", "override_generation_config"),
    }
)
TEMPLATE_KWARGS = "chat_template_kwargs"  # of the template, not of the sampling
STRUCTURED_OUTPUTS = "structured_outputs"  # a form of reply
_SIGN_OF_LIFE = 1.0  # seconds after which the caller hears something
_TOO_LONG = re.compile(r"maximum (?:context|model) length", re.IGNORECASE)
_loaded: dict[str, Any] = {}  # one engine: a second one would not fit beside it


class Engine(Generic[Item, Result]):
    """Engine with the model of a chat task, a folder or a name that vLLM can load.

    `engine_args` are those of vllm.LLM, such as tensor_parallel_size. `in_flight` messages are queued
    at once: a crash loses them. The model is loaded before anything is taken to be asked, once for all
    of this process that want the same.
    """

    def __init__(
        self,
        chat_task: ChatTask[Item, Result],
        *,
        engine_args: Mapping[str, Any] | None = None,
        in_flight: int,
    ) -> None:
        self.chat_task = chat_task
        self.engine_args = dict(engine_args or {})
        self.in_flight = max(1, in_flight)

    def answers(self, next_one: Callable[[], Item | None]) -> Generator[Result | None]:
        """Yield the result of each item in any order, and None about once a second.

        `next_one` returns the next item, None if there is none, for now or for good; this ends where
        nothing is queued and it has nothing. Raises ModelMismatchError if this is another model than the
        task's or has another template, BackendError if vLLM does not take its sampling,
        BackendUnavailableError if vLLM is not installed, cannot load the model, or dies.
        """
        session = _Session(self.chat_task, loaded(self.chat_task, self.engine_args))
        heard = time.monotonic()
        try:
            while True:
                while len(session.queued) < self.in_flight:
                    item = next_one()
                    if item is None:
                        break
                    yield from session.ask(item)
                if not session.queued:
                    return
                for result in session.step():
                    heard = time.monotonic()
                    yield result
                if time.monotonic() - heard >= _SIGN_OF_LIFE:
                    heard = time.monotonic()
                    yield None
        finally:
            session.abort()


class _QueuedRequest(NamedTuple, Generic[Item]):
    """Queued item, with the hash of its message and the engine's key."""

    item: Item
    digest: str
    key: str


class _Session(Generic[Item, Result]):
    """Messages queued in the engine, by the number that it gave each."""

    def __init__(self, chat_task: ChatTask[Item, Result], llm: Any) -> None:
        self.chat_task, self.spec, self.llm = chat_task, chat_task.spec, llm
        self.queued: dict[str, _QueuedRequest[Item]] = {}
        _check_labels(chat_task, llm.get_tokenizer())
        _check_template(chat_task, llm.get_tokenizer())
        self.template_kwargs = self.spec.sampling.extra.get(TEMPLATE_KWARGS)
        self.parameters = parameters_of(chat_task, llm)
        self.sampling = sampling_of(chat_task, self.parameters)

    def ask(self, item: Item) -> Iterator[Result]:
        """Queue a message; yield its result at once if vLLM refuses it."""
        messages = self.chat_task.messages(item)
        digest = prompt_hash(messages)
        extra = self.chat_task.extra_parameters(item)
        try:
            [key] = self.llm.enqueue_chat(
                [[{**message, "content": _clean(message)} for message in messages]],
                sampling_of(self.chat_task, self.parameters | extra) if extra else self.sampling,
                use_tqdm=False,
                chat_template_kwargs=self.template_kwargs,
            )
        except _refusals() as error:
            failure = Failure.TOO_LONG if _TOO_LONG.search(str(error)) else Failure.REQUEST
            yield self.chat_task.failed(item, digest, failure, f"vLLM said: {error}")
        else:
            self.queued[_number(key)] = _QueuedRequest(item, digest, key)

    def step(self) -> Iterator[Result]:
        """Yield the results that the engine's next step finishes."""
        try:
            outputs = self.llm.llm_engine.step()
        except Exception as error:
            self.queued.clear()
            _loaded.clear()
            raise BackendUnavailableError(
                f"vLLM has stopped: {error or type(error).__name__}."
            ) from error
        for output in outputs:
            if output.finished:
                yield self.read(self.queued.pop(_number(output.request_id)), output)

    def read(self, request: _QueuedRequest[Item], output: Any) -> Result:
        """Return the result of a reply, from its samples."""
        samples = output.outputs
        tokens = (
            len(output.prompt_token_ids or ()),
            sum(len(sample.token_ids) for sample in samples),
        )
        if longest := oversized(sample.text for sample in samples):
            failure = Failure.OVERSIZED, TOO_MANY_CHARACTERS
            return self.chat_task.failed(request.item, request.digest, *failure, longest, tokens)
        completions = [
            Completion(storable(sample.text), finish_reason=sample.finish_reason)
            for sample in samples
        ]
        logprobs = _Logprobs(samples[0], by_id=bool(self.chat_task.label_ids))
        return self.chat_task.replied(request.item, request.digest, completions, logprobs, tokens)

    def abort(self) -> None:
        if self.queued:
            self.llm.llm_engine.abort_request(
                [request.key for request in self.queued.values()], internal=True
            )


def _clean(message: Mapping[str, str]) -> str:
    """Return a message's content without lone surrogates, which no tokenizer takes."""
    return message["content"].encode("utf-8", "replace").decode("utf-8")


def _number(key: str) -> str:
    # It answers under the number alone, and queues under the number with random letters behind.
    return key.partition("-")[0]


class _Logprobs:
    """Log-probabilities of a sample of vLLM's engine: by token id, at each position."""

    def __init__(self, sample: Any, *, by_id: bool) -> None:
        self._positions = sample.logprobs or []
        self._chosen = sample.token_ids
        self._by_id = by_id

    def tokens(self) -> list[str | bytes]:
        return [
            self._name(token, position.get(token))
            for token, position in zip(self._chosen, self._positions, strict=False)
        ]

    def alternatives(self, position: int) -> list[tuple[str, float]]:
        return [
            (self._name(token, entry), entry.logprob)
            for token, entry in self._positions[position].items()
        ]

    def _name(self, token: int, entry: Any) -> str:
        if self._by_id:
            return f"{TOKEN_ID}{token}"
        return (entry.decoded_token if entry else None) or ""


def loaded(chat_task: ChatTask[Any, Any], engine_args: Mapping[str, Any]) -> Any:
    """Return vLLM with the model of a chat task, loaded once.

    Raises BackendError for engine arguments that would make it another model, and
    BackendUnavailableError where it cannot be had.
    """
    spec = chat_task.spec
    if foreign := sorted(OF_THE_MODEL & engine_args.keys()):
        raise BackendError(
            f"{foreign[0]} cannot be an engine argument: it would make another {chat_task.role} of this one."
        )
    try:
        vllm = import_module("vllm")
    except ImportError as error:
        raise BackendUnavailableError(
            'vLLM is not installed in this environment. Install it (pip install "vllm>=0.32"), or let the '
            f"{chat_task.role} ask a server."
        ) from error
    options = {
        "model": spec.model,
        "revision": spec.revision or None,
        "tokenizer_revision": spec.revision or None,
        "enable_prefix_caching": True,
        **engine_args,
    }
    key = json.dumps(options, sort_keys=True, default=str)
    if key not in _loaded:
        _loaded.clear()
        try:
            _loaded[key] = vllm.LLM(**options)
        except Exception as error:
            raise BackendUnavailableError(f"vLLM cannot load {spec.model}: {error}") from error
    return _loaded[key]


def _refusals() -> tuple[type[Exception], ...]:
    """Return the exceptions that vLLM raises for a request that it refuses."""
    return ValueError, import_module("vllm.exceptions").VLLMClientError


def _check_labels(chat_task: ChatTask[Any, Any], tokenizer: Any) -> None:
    for grade, label in chat_task.label_ids.items():
        tokens = tokenizer.encode(grade, add_special_tokens=False)
        if tokens != [label]:
            raise ModelMismatchError(
                f"{chat_task.spec.model} writes the grade {grade} with the tokens {tokens}, and this "
                f"{chat_task.role} knows it as the token {label}: this is another model, or another tokenizer."
            )


def _check_template(chat_task: ChatTask[Any, Any], tokenizer: Any) -> None:
    spec = chat_task.spec
    if not spec.template_hash:
        return
    kwargs: Any = spec.sampling.extra.get(TEMPLATE_KWARGS) or {}
    tokenized = []
    for messages in chat_template.CONVERSATIONS:
        try:
            tokens = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=False, **kwargs
            )
        except Exception:  # noqa: BLE001 - a template raises what it likes about what it cannot do
            tokens = None
        tokenized.append(tokens)
    if chat_template.template_hash(tokenized) not in ("", spec.template_hash):
        raise ModelMismatchError(
            f"The chat template of {spec.model} is not the one of this {chat_task.role}: another version of "
            "the model, or a template that writes the date of the day."
        )


def parameters_of(chat_task: ChatTask[Any, Any], llm: Any) -> dict[str, Any]:
    """Return sampling parameters for vLLM: the task's, and the model's own defaults."""
    sampling = chat_task.spec.sampling
    sent = {name: value for name, value in sampling.sent.items() if name != TEMPLATE_KWARGS}
    # What a server takes from the model's own settings where a request says nothing.
    parameters: dict[str, Any] = {**llm.model_config.get_diff_sampling_param(), **sent}
    if sampling.logprobs and chat_task.label_ids:
        parameters["logprob_token_ids"] = list(chat_task.label_ids.values())
    elif sampling.logprobs:
        parameters["logprobs"] = MOST_LOGPROBS
    return parameters


def sampling_of(chat_task: ChatTask[Any, Any], parameters: Mapping[str, Any]) -> Any:
    """Return vLLM's SamplingParams.

    Raises BackendError for a parameter that vLLM does not know.
    """
    options = dict(parameters)
    try:
        if isinstance(constraint := options.get(STRUCTURED_OUTPUTS), dict):
            # What a server makes of a request, the engine takes made.
            options[STRUCTURED_OUTPUTS] = import_module(
                "vllm.sampling_params"
            ).StructuredOutputsParams(**constraint)
        return import_module("vllm").SamplingParams(**options)
    except (TypeError, ValueError, import_module("vllm.exceptions").VLLMClientError) as error:
        raise BackendError(
            f"vLLM does not take this {chat_task.role}'s sampling: {error}"
        ) from error
