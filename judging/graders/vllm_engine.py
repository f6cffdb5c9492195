"""vLLM in this process: a model that is loaded once, and asked many things at once.

What is asked, and what a reply is read as, a Script says, as at a server; only the way there is shorter.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, NamedTuple

from judging.graders import base
from judging.graders.base import AnotherJudge, GraderError, Unavailable
from judging.graders.script import (
    TOO_MANY_CHARACTERS,
    Came,
    Script,
    What,
    oversized,
)
from judging.grading.pairs import Failure, storable
from judging.grading.probabilities import TOKEN_ID
from judging.grading.prompt import prompt_hash
from judging.grading.said import Said

MOST_LOGPROBS = 20  # of the likeliest tokens, where a script names no token ids: vLLM's own limit
# What decides which model it is: that is for who asks to say, and not for this machine.
OF_THE_MODEL = frozenset(
    {
        *("model", "revision", "tokenizer", "tokenizer_revision", "code_revision", "hf_overrides"),
        *("quantization", "generation_config", "override_generation_config"),
    }
)
TEMPLATE_KWARGS = "chat_template_kwargs"  # of the template, not of the sampling
HELD_TO = "structured_outputs"  # a form of reply
_SIGN_OF_LIFE = 1.0  # seconds after which the caller hears something
_TOO_LONG = re.compile(r"maximum (?:context|model) length", re.IGNORECASE)
_loaded: dict[str, Any] = {}  # one engine: a second one would not fit beside it


class Engine(Generic[What, Came]):
    """The model of a script, which is a folder or a name that vLLM can load.

    `engine_args` are those of vllm.LLM, such as tensor_parallel_size. `in_flight` messages are queued
    at once: a crash loses them. The model is loaded before anything is taken to be asked, once for all
    of this process that want the same.
    """

    def __init__(
        self,
        script: Script[What, Came],
        *,
        engine_args: Mapping[str, Any] | None = None,
        in_flight: int,
    ) -> None:
        self.script = script
        self.engine_args = dict(engine_args or {})
        self.in_flight = max(1, in_flight)

    def answers(self, next_one: Callable[[], What | None]) -> Generator[Came | None]:
        """What comes of each thing asked, in any order, and None about once a second while nothing does.

        `next_one` says what to ask next, None if nothing, for now or for good; this ends where nothing is
        queued and it has nothing. Raises AnotherJudge where this is another model than the script's or
        has another template, GraderError where vLLM does not take its sampling, Unavailable where vLLM is
        not installed, cannot load the model, or dies.
        """
        session = _Session(self.script, loaded(self.script, self.engine_args))
        heard = time.monotonic()
        try:
            while True:
                while len(session.asked) < self.in_flight:
                    what = next_one()
                    if what is None:
                        break
                    yield from session.ask(what)
                if not session.asked:
                    return
                for came in session.step():
                    heard = time.monotonic()
                    yield came
                if time.monotonic() - heard >= _SIGN_OF_LIFE:
                    heard = time.monotonic()
                    yield None
        finally:
            session.abort()


class _Asked(NamedTuple, Generic[What]):
    """Something that is queued, with the hash of its message and the engine's key."""

    what: What
    digest: str
    key: str


class _Session(Generic[What, Came]):
    """The messages that are queued in the engine, by the number that it gave each."""

    def __init__(self, script: Script[What, Came], llm: Any) -> None:
        self.script, self.spec, self.llm = script, script.spec, llm
        self.asked: dict[str, _Asked[What]] = {}
        _check_labels(script, llm.get_tokenizer())
        _check_template(script, llm.get_tokenizer())
        self.template_kwargs = self.spec.sampling.extra.get(TEMPLATE_KWARGS)
        self.parameters = parameters_of(script, llm)
        self.sampling = sampling_of(script, self.parameters)

    def ask(self, what: What) -> Iterator[Came]:
        """Queue a message; what comes of it at once if vLLM does not take it."""
        messages = self.script.messages(what)
        digest = prompt_hash(messages)
        own = self.script.of_its_own(what)
        try:
            [key] = self.llm.enqueue_chat(
                [[{**message, "content": _clean(message)} for message in messages]],
                sampling_of(self.script, self.parameters | own) if own else self.sampling,
                use_tqdm=False,
                chat_template_kwargs=self.template_kwargs,
            )
        except _refusals() as error:
            failure = Failure.TOO_LONG if _TOO_LONG.search(str(error)) else Failure.REQUEST
            yield self.script.failed(what, digest, failure, f"vLLM said: {error}")
        else:
            self.asked[_number(key)] = _Asked(what, digest, key)

    def step(self) -> Iterator[Came]:
        """What the engine's next step finishes."""
        try:
            outputs = self.llm.llm_engine.step()
        except Exception as error:
            self.asked.clear()
            _loaded.clear()
            raise Unavailable(f"vLLM has stopped: {error or type(error).__name__}.") from error
        for output in outputs:
            if output.finished:
                yield self.read(self.asked.pop(_number(output.request_id)), output)

    def read(self, asked: _Asked[What], output: Any) -> Came:
        """What a reply comes to, in its samples."""
        samples = output.outputs
        tokens = (
            len(output.prompt_token_ids or ()),
            sum(len(sample.token_ids) for sample in samples),
        )
        if longest := oversized(each.text for each in samples):
            failure = Failure.OVERSIZED, TOO_MANY_CHARACTERS
            return self.script.failed(asked.what, asked.digest, *failure, longest, tokens)
        said = [Said(storable(each.text), finish_reason=each.finish_reason) for each in samples]
        logprobs = _Logprobs(samples[0], by_id=bool(self.script.label_ids))
        return self.script.replied(asked.what, asked.digest, said, logprobs, tokens)

    def abort(self) -> None:
        if self.asked:
            self.llm.llm_engine.abort_request(
                [asked.key for asked in self.asked.values()], internal=True
            )


def _clean(message: Mapping[str, str]) -> str:
    """A message's words without lone surrogates, which no tokenizer takes."""
    return message["content"].encode("utf-8", "replace").decode("utf-8")


def _number(key: str) -> str:
    # It answers under the number alone, and queues under the number with random letters behind.
    return key.partition("-")[0]


class _Logprobs:
    """The log-probabilities of a sample of vLLM's engine: at each position a mapping by token id."""

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


def loaded(script: Script[Any, Any], engine_args: Mapping[str, Any]) -> Any:
    """vLLM with the model of a script, loaded once.

    Raises GraderError for engine arguments that would make it another model, and Unavailable where it
    cannot be had.
    """
    spec = script.spec
    if foreign := sorted(OF_THE_MODEL & engine_args.keys()):
        raise GraderError(
            f"{foreign[0]} cannot be an engine argument: it would make another {script.who} of this one."
        )
    try:
        vllm = import_module("vllm")
    except ImportError as error:
        raise Unavailable(
            'vLLM is not installed in this environment. Install it (pip install "vllm>=0.32"), or let the '
            f"{script.who} ask a server."
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
            raise Unavailable(f"vLLM cannot load {spec.model}: {error}") from error
    return _loaded[key]


def _refusals() -> tuple[type[Exception], ...]:
    """What vLLM raises about a request that it does not take."""
    return ValueError, import_module("vllm.exceptions").VLLMClientError


def _check_labels(script: Script[Any, Any], tokenizer: Any) -> None:
    for grade, label in script.label_ids.items():
        tokens = tokenizer.encode(grade, add_special_tokens=False)
        if tokens != [label]:
            raise AnotherJudge(
                f"{script.spec.model} writes the grade {grade} with the tokens {tokens}, and this "
                f"{script.who} knows it as the token {label}: this is another model, or another tokenizer."
            )


def _check_template(script: Script[Any, Any], tokenizer: Any) -> None:
    spec = script.spec
    if not spec.template_hash:
        return
    kwargs: Any = spec.sampling.extra.get(TEMPLATE_KWARGS) or {}
    tokenized = []
    for messages in base.CONVERSATIONS:
        try:
            tokens = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=False, **kwargs
            )
        except Exception:  # noqa: BLE001 - a template raises what it likes about what it cannot do
            tokens = None
        tokenized.append(tokens)
    if base.template_hash(tokenized) not in ("", spec.template_hash):
        raise AnotherJudge(
            f"The chat template of {spec.model} is not the one of this {script.who}: another version of "
            "the model, or a template that writes the date of the day."
        )


def parameters_of(script: Script[Any, Any], llm: Any) -> dict[str, Any]:
    """The parameters of vLLM's sampling: those of a script, and the model's own where it says nothing."""
    wanted = script.spec.sampling
    sent = {name: value for name, value in wanted.sent.items() if name != TEMPLATE_KWARGS}
    # What a server takes from the model's own settings where a request says nothing.
    parameters: dict[str, Any] = {**llm.model_config.get_diff_sampling_param(), **sent}
    if wanted.logprobs and script.label_ids:
        parameters["logprob_token_ids"] = list(script.label_ids.values())
    elif wanted.logprobs:
        parameters["logprobs"] = MOST_LOGPROBS
    return parameters


def sampling_of(script: Script[Any, Any], parameters: Mapping[str, Any]) -> Any:
    """Parameters as vLLM takes them. Raises GraderError where it knows no such parameter."""
    options = dict(parameters)
    try:
        if isinstance(held := options.get(HELD_TO), dict):
            # What a server makes of a request, the engine takes made.
            options[HELD_TO] = import_module("vllm.sampling_params").StructuredOutputsParams(**held)
        return import_module("vllm").SamplingParams(**options)
    except (TypeError, ValueError, import_module("vllm.exceptions").VLLMClientError) as error:
        raise GraderError(f"vLLM does not take this {script.who}'s sampling: {error}") from error
