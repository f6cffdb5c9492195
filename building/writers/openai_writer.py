"""Texts through any server that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

from building.writers.base import Ask, Outcome
from building.writers.spec import WriterSpec
from building.writing.products import FAILURES, Failure
from building.writing.tasks import Message
from judging.graders.openai_asking import Script
from judging.graders.openai_reply import DETAIL_LIMIT, NoReply, said_in, usage
from judging.graders.openai_server import Address, decoded
from judging.graders.openai_talks import Talks
from judging.grading.pairs import Failure as ServerFailure
from judging.grading.pairs import storable, without_nulls

PATIENT = 600.0  # seconds that a text may take: they are long, and servers slow


class OpenAIWriter:
    """The writer `spec` at some servers of its model; see Talks."""

    def __init__(
        self,
        spec: WriterSpec,
        addresses: Sequence[Address],
        *,
        on_aside: Callable[[str, str], None] = lambda url, why: None,
        concurrency: int = 64,
        timeout: float = PATIENT,
        patience: float = 600,
    ) -> None:
        self.talks: Talks[Ask, Outcome] = Talks(
            Letters(spec),
            addresses,
            on_aside=on_aside,
            concurrency=concurrency,
            timeout=timeout,
            patience=patience,
        )

    def outcomes(self, asks: Iterator[Ask]) -> Generator[Outcome | None]:
        """See WriterAtWork. No server is asked anything where there is nothing to write."""
        first = next(asks, None)
        waiting = [first] if first else []
        if first:
            yield from self.talks.answers(lambda: waiting.pop() if waiting else next(asks, None))


class Letters(Script[Ask, Outcome]):
    """The Script of a writer."""

    who = "writer"
    spec: WriterSpec

    def __init__(self, spec: WriterSpec) -> None:
        self.spec = spec
        sampling = spec.sampling
        usual = {"temperature": sampling.temperature, "top_p": sampling.top_p, **sampling.extra}
        self.ways = [without_nulls({"model": spec.model, **usual})]

    def messages(self, ask: Ask) -> list[Message]:
        return ask.messages

    def of_its_own(self, ask: Ask) -> dict[str, object]:
        sampling = self.spec.sampling
        own = {"max_tokens": ask.max_tokens or sampling.max_tokens, "seed": ask.seed}
        # What the writer says itself holds, null too: some servers do not take a parameter.
        return {name: value for name, value in own.items() if name not in sampling.extra}

    def read(self, ask: Ask, digest: str, body: bytes, hushed: Callable[[str], str]) -> Outcome:
        answer = decoded(body)
        prompt_tokens, completion_tokens = usage(answer)
        said = said_in(self.spec, answer, body, hushed)
        if isinstance(said, NoReply):
            return Outcome(
                ask,
                raw=storable(said.raw),
                failure=said.failure.value,
                detail=storable(said.why)[:DETAIL_LIMIT],
                prompt_hash=digest,
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
            )
        first = said[0]
        is_refused = bool(first.refusal and not first.words)
        return Outcome(
            ask,
            raw=storable(first.words or first.refusal or ""),
            reasoning=storable(first.reasoning),
            finish_reason=storable(first.finish_reason or "")[:40],
            failure=Failure.REFUSED.value if is_refused else "",
            detail=FAILURES[Failure.REFUSED] if is_refused else "",
            prompt_hash=digest,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
        )

    def failed(
        self, ask: Ask, digest: str, failure: ServerFailure, why: str, raw: str = ""
    ) -> Outcome:
        return Outcome(
            ask,
            raw=storable(raw),
            failure=failure.value,
            detail=storable(why)[:DETAIL_LIMIT],
            prompt_hash=digest,
        )

    def is_of_another(self, outcome: Outcome) -> str:
        return outcome.detail if outcome.failure == ServerFailure.OTHER_MODEL else ""
