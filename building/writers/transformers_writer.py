"""Texts with transformers in this process: a small encoder-decoder, with an adapter or without."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib import import_module
from typing import Any, TypeVar

from building.tuning.refusals import TooLong, TuningRefused
from building.writers.base import Ask, Outcome
from building.writers.letters import Letters
from building.writers.spec import WriterSpec
from building.writing.tasks import Message
from judging.graders.base import GraderError, Unavailable
from judging.grading.pairs import Failure
from judging.grading.prompt import prompt_hash
from judging.grading.said import Said

_SIGN_OF_LIFE = 1.0  # seconds after which the caller hears something
_loaded: dict[str, Any] = {}  # one model, by the fingerprint of its writer
Result = TypeVar("Result")


class TransformersWriter:
    """The writer `spec`, whose model is a folder or a name that transformers can load."""

    def __init__(self, spec: WriterSpec) -> None:
        self.spec, self.letters = spec, Letters(spec)
        [way] = self.letters.ways
        self.parameters = {name: value for name, value in way.items() if name != "model"}

    def outcomes(self, asks: Iterator[Ask]) -> Generator[Outcome | None]:
        """See WriterAtWork: one ask after another. Nothing is loaded where there is nothing to write.

        Raises Unavailable where a package is missing or torch gives up, GraderError where the model cannot be
        loaded, is not the writer's, or does not take its sampling.
        """
        first = next(asks, None)
        if first is None:
            return
        # In a thread of its own: who waits for a long text still says that somebody is at it.
        with ThreadPoolExecutor(1) as pool:
            tuned = yield from _waited(pool.submit(loaded, self.spec))
            for ask in itertools.chain([first], asks):
                yield (yield from _waited(pool.submit(self._outcome, tuned, ask)))

    def _outcome(self, tuned: Any, ask: Ask) -> Outcome:
        digest = prompt_hash(ask.messages)
        own: dict[str, Any] = {**self.letters.of_its_own(ask)}
        most, seed = own.get("max_tokens", self.spec.sampling.max_tokens), own.get("seed", ask.seed)
        try:
            wrote = tuned.write(one_string(ask.messages), most, seed, self.parameters)
        except TooLong as error:
            return self.letters.failed(ask, digest, Failure.TOO_LONG, str(error))
        except (ValueError, TypeError) as error:
            why = " ".join(str(error).split())[:300]
            raise GraderError(
                f"transformers does not take this writer's sampling: {why}"
            ) from error
        except RuntimeError as error:  # of torch: most often memory
            raise Unavailable(f"transformers has stopped: {str(error)[:300]}") from error
        said = Said(wrote.words, finish_reason="length" if wrote.is_cut else "stop")
        return self.letters.replied(ask, digest, [said], None, wrote.tokens)


def one_string(messages: list[Message]) -> str:
    """What a model without a chat is told: the words of the messages, one after the other.

    No tokenizer takes lone surrogates, so that they become question marks.
    """
    words = "\n\n".join(message["content"] for message in messages)
    return words.encode("utf-8", "replace").decode("utf-8")


def loaded(spec: WriterSpec) -> Any:
    """The model of a writer, loaded once. Raises Unavailable, GraderError."""
    if spec.fingerprint not in _loaded:
        try:
            generating = import_module("building.tuning.generating")
        except ModuleNotFoundError as error:
            raise Unavailable(
                f"{error.name} is not installed in this environment: make env EXTRAS=finetune brings it."
            ) from error
        _loaded.clear()
        named = spec.model, spec.revision, spec.adapter, spec.adapter_hash
        try:
            _loaded[spec.fingerprint] = generating.Tuned(*named)
        except TuningRefused as error:
            raise GraderError(str(error)) from error
    return _loaded[spec.fingerprint]


def _waited(future: Future[Result]) -> Generator[None, None, Result]:
    """Its result, with None about once a second until it is there."""
    while not wait([future], timeout=_SIGN_OF_LIFE).done:
        yield None
    return future.result()
