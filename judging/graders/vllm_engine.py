"""Grades with vLLM in this process: for one machine with a GPU and no server.

The prompts, the parser and the probabilities are those of a server; only the way there is shorter.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from judging.graders import base
from judging.graders.base import AnotherJudge, GraderError, Unavailable
from judging.grading.pairs import Failure, Pair, Reply, State, shares, storable, together
from judging.grading.probabilities import Labels, from_label_ids, from_logprobs
from judging.grading.prompt import prompt_hash, render
from judging.grading.said import Said, reply_of, with_tokens
from judging.grading.spec import Spec

DETAIL_LIMIT = 500  # characters, as many as an attempt keeps
MOST_LOGPROBS = 20  # of the likeliest tokens, where the judge names no token ids: vLLM's own limit
NOT_INSTALLED = (
    'vLLM is not installed in this environment. Install it (pip install "vllm>=0.32"), or let the '
    "judge ask a server."
)
# What decides which model it is: that is the judge's to say, and not this machine's.
OF_THE_JUDGE = frozenset(
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


class VllmGrader:
    """The judge `spec`, whose model is a folder or a name that vLLM can load.

    `engine_args` are those of vllm.LLM, such as tensor_parallel_size. `in_flight` messages are queued
    at once: a crash loses their pairs. The model is loaded before the first pair is taken, once for all
    graders of this process that want the same.
    """

    def __init__(
        self, spec: Spec, *, engine_args: Mapping[str, Any] | None = None, in_flight: int = 256
    ) -> None:
        self.spec = spec
        self.engine_args = dict(engine_args or {})
        self.in_flight = max(1, in_flight)

    def replies(self, pairs: Iterator[Pair]) -> Iterator[Reply | None]:
        """Grade pairs; see Grader.

        Raises AnotherJudge where this model does not write the grades with the judge's tokens,
        Unavailable where vLLM is not installed, cannot load the model, or dies.
        """
        session = _Session(self.spec, engine_of(self.spec, self.engine_args))
        messages = together(pairs)
        heard = time.monotonic()
        there_are_more = True
        try:
            while there_are_more or session.asked:
                while there_are_more and len(session.asked) < self.in_flight:
                    asked = next(messages, None)
                    if asked is None:
                        there_are_more = False
                    else:
                        yield from session.ask(asked)
                for reply in session.step():
                    heard = time.monotonic()
                    yield reply
                if time.monotonic() - heard >= _SIGN_OF_LIFE:
                    heard = time.monotonic()
                    yield None
        finally:
            session.abort()


class _Asked(NamedTuple):
    """A message that is queued: its pairs, its hash, the engine's key, and what they took before."""

    pairs: tuple[Pair, ...]
    digest: str
    key: str
    spent: tuple[int, int]


class _Session:
    """The messages that are queued in the engine, by the number that it gave each."""

    def __init__(self, spec: Spec, llm: Any) -> None:
        self.spec, self.llm = spec, llm
        self.asked: dict[str, _Asked] = {}
        _check_labels(spec, llm.get_tokenizer())
        _check_template(spec, llm.get_tokenizer())
        self.template_kwargs = spec.sampling.extra.get(TEMPLATE_KWARGS)
        self.sampling = sampling_of(spec, llm)

    def ask(self, pairs: tuple[Pair, ...], spent: tuple[int, int] = (0, 0)) -> Iterator[Reply]:
        """Queue the pairs of one message; their replies at once if vLLM does not take it."""
        messages = render(self.spec, pairs[0])
        digest = prompt_hash(messages)
        try:
            [key] = self.llm.enqueue_chat(
                [[{**message, "content": _clean(message)} for message in messages]],
                self.sampling,
                use_tqdm=False,
                chat_template_kwargs=self.template_kwargs,
            )
        except _refusals() as error:
            too_long = _TOO_LONG.search(str(error))
            for pair in pairs:
                refused = Reply(
                    pair=pair,
                    state=State.ERROR,
                    failure=Failure.TOO_LONG if too_long else Failure.REQUEST,
                    detail=storable(f"vLLM said: {error}")[:DETAIL_LIMIT],
                    prompt_hash=digest,
                )
                yield from self.settle(with_tokens(refused, spent))
        else:
            self.asked[_number(key)] = _Asked(pairs, digest, key, spent)

    def step(self) -> Iterator[Reply]:
        """The replies that the engine's next step finishes."""
        if not self.asked:
            return
        try:
            outputs = self.llm.llm_engine.step()
        except Exception as error:
            self.asked.clear()
            _loaded.clear()
            raise Unavailable(f"vLLM has stopped: {error or type(error).__name__}.") from error
        for output in outputs:
            if output.finished:
                asked = self.asked.pop(_number(output.request_id))
                for reply in _read(self.spec, asked, output):
                    yield from self.settle(with_tokens(reply, asked.spent))

    def settle(self, reply: Reply) -> Iterator[Reply]:
        """The reply; where one to several questions brought none for its pair, that is asked alone."""
        if reply.grade is None and reply.pair.is_of_several:
            spent = (reply.prompt_tokens, reply.completion_tokens)
            yield from self.ask((reply.pair.alone(),), spent)
        else:
            yield reply

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


def engine_of(spec: Spec, engine_args: Mapping[str, Any]) -> Any:
    """vLLM with the model of a judge, loaded once.

    Raises GraderError for engine arguments that would make it another model, and Unavailable where it
    cannot be had.
    """
    if foreign := sorted(OF_THE_JUDGE & engine_args.keys()):
        raise GraderError(
            f"{foreign[0]} cannot be an engine argument: it would make another judge of this one."
        )
    try:
        vllm = import_module("vllm")
    except ImportError as error:
        raise Unavailable(NOT_INSTALLED) from error
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


def _check_labels(spec: Spec, tokenizer: Any) -> None:
    if not spec.label_ids:
        return
    for grade, label in zip(spec.grades, spec.label_ids, strict=True):
        tokens = tokenizer.encode(str(grade), add_special_tokens=False)
        if tokens != [label]:
            raise AnotherJudge(
                f"{spec.model} writes the grade {grade} with the tokens {tokens}, and this judge knows "
                f"it as the token {label}: this is another model, or another tokenizer."
            )


def _check_template(spec: Spec, tokenizer: Any) -> None:
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
            f"The chat template of {spec.model} is not the one of this judge: another version of the "
            "model, or a template that writes the date of the day."
        )


def sampling_of(spec: Spec, llm: Any) -> Any:
    """A judge's sampling as vLLM takes it. Raises GraderError where vLLM knows no such parameter."""
    wanted = spec.sampling
    sent = {name: value for name, value in wanted.sent.items() if name != TEMPLATE_KWARGS}
    options: dict[str, Any] = {
        # What a server takes from the model's own settings where a request says nothing.
        **llm.model_config.get_diff_sampling_param(),
        **sent,
    }
    if wanted.logprobs and spec.label_ids:
        options["logprob_token_ids"] = list(spec.label_ids)
    elif wanted.logprobs:
        options["logprobs"] = MOST_LOGPROBS
    try:
        if isinstance(held := options.get(HELD_TO), dict):
            # What a server makes of a request, the engine takes made.
            options[HELD_TO] = import_module("vllm.sampling_params").StructuredOutputsParams(**held)
        return import_module("vllm").SamplingParams(**options)
    except (TypeError, ValueError, import_module("vllm.exceptions").VLLMClientError) as error:
        raise GraderError(f"vLLM does not take this judge's sampling: {error}") from error


def _read(spec: Spec, asked: _Asked, output: Any) -> list[Reply]:
    """The replies about the pairs of one message, which share its tokens."""
    samples = output.outputs
    read = shares(len(output.prompt_token_ids or ()), len(asked.pairs))
    written = shares(sum(len(sample.token_ids) for sample in samples), len(asked.pairs))
    said = [Said(storable(each.text), finish_reason=each.finish_reason) for each in samples]
    labels = _labels(spec, samples[0].logprobs)
    return [
        reply_of(spec, pair, asked.digest, said, labels, tokens)
        for pair, tokens in zip(asked.pairs, zip(read, written, strict=True), strict=True)
    ]


def _labels(spec: Spec, logprobs: Any) -> Labels | None:
    if not logprobs:
        return None
    first = logprobs[0]
    if spec.label_ids:
        by_id = {token: entry.logprob for token, entry in first.items()}
        return from_label_ids(by_id, spec.label_ids, spec.grades)
    tokens = [(entry.decoded_token or "", entry.logprob) for entry in first.values()]
    return from_logprobs(tokens, spec.grades)
