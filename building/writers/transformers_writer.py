"""Writer backend with transformers in process, for small encoder-decoders."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from building.tuning.errors import InputTooLongError, TuningError
from building.writers.base import Ask, Outcome
from building.writers.chat_task import WriterChat
from building.writers.spec import WriterSpec
from building.writing.tasks import Message
from judging.llm.completion import Completion
from judging.llm.errors import BackendError, BackendUnavailableError, Failure
from judging.llm.messages import prompt_hash

_SIGN_OF_LIFE = 1.0  # seconds between two yields
_loaded: dict[str, Any] = {}  # one model, by the fingerprint of its writer
Result = TypeVar("Result")


class TransformersWriter:
    """The writer `spec`, whose model is a folder or a name that transformers can load."""

    def __init__(self, spec: WriterSpec) -> None:
        self.spec, self.chat_task = spec, WriterChat(spec)
        [way] = self.chat_task.request_variants
        self.parameters = {name: value for name, value in way.items() if name != "model"}

    def outcomes(self, asks: Iterator[Ask]) -> Generator[Outcome | None]:
        """See WriterBackend: one ask at a time; the model is loaded when needed.

        Raises BackendUnavailableError where a package is missing or torch gives up, BackendError where the
        model cannot be loaded, is not the writer's, or does not take its sampling.
        """
        first = next(asks, None)
        if first is None:
            return
        # In a separate thread, so that this one still yields during a long generation.
        with ThreadPoolExecutor(1) as pool:
            tuned = yield from _await_result(pool.submit(load_model, self.spec))
            for ask in itertools.chain([first], asks):
                yield (yield from _await_result(pool.submit(self._outcome, tuned, ask)))

    def _outcome(self, tuned: Any, ask: Ask) -> Outcome:
        digest = prompt_hash(ask.messages)
        call: dict[str, Any] = {**self.chat_task.extra_parameters(ask)}
        max_tokens, seed = (
            call.get("max_tokens", self.spec.sampling.max_tokens),
            call.get("seed", ask.seed),
        )
        try:
            wrote = tuned.write(join_messages(ask.messages), max_tokens, seed, self.parameters)
        except InputTooLongError as error:
            return self.chat_task.failed(ask, digest, Failure.TOO_LONG, str(error))
        except (ValueError, TypeError) as error:
            reason = " ".join(str(error).split())[:300]
            raise BackendError(
                f"transformers does not take this writer's sampling: {reason}"
            ) from error
        except RuntimeError as error:  # of torch: most often memory
            raise BackendUnavailableError(
                f"transformers has stopped: {str(error)[:300]}"
            ) from error
        sample = Completion(wrote.words, finish_reason="length" if wrote.is_cut else "stop")
        return self.chat_task.replied(ask, digest, [sample], None, wrote.tokens)


def join_messages(messages: list[Message]) -> str:
    """Join the messages into one string, for a model without a chat template.

    No tokenizer takes lone surrogates, so that they become question marks.
    """
    text = "\n\n".join(message["content"] for message in messages)
    return text.encode("utf-8", "replace").decode("utf-8")


def load_model(spec: WriterSpec) -> Any:
    """Return the model of a writer, loaded once. Raises BackendUnavailableError, BackendError."""
    if spec.fingerprint not in _loaded:
        try:
            from building.tuning.generating import TunedModel  # noqa: PLC0415 - torch is an extra
        except ModuleNotFoundError as error:
            raise BackendUnavailableError(
                f"{error.name} is not installed in this environment: make env EXTRAS=finetune brings it."
            ) from error
        _loaded.clear()
        arguments = spec.model, spec.revision, spec.adapter, spec.adapter_hash
        try:
            _loaded[spec.fingerprint] = TunedModel(*arguments)
        except TuningError as error:
            raise BackendError(str(error)) from error
    return _loaded[spec.fingerprint]


def _await_result(future: Future[Result]) -> Generator[None, None, Result]:
    """Return the future's result; yield None about once a second until then."""
    while not wait([future], timeout=_SIGN_OF_LIFE).done:
        yield None
    return future.result()
