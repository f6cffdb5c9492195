"""What a writer says to a model, at a server or in this process, and what the replies are read as."""

from __future__ import annotations

from collections.abc import Sequence

from building.writers.base import Ask, Outcome
from building.writers.spec import WriterSpec
from building.writing.products import FAILURES, Failure
from building.writing.tasks import Message
from judging.graders.script import DETAIL_LIMIT, NO_TOKENS, Script, Tokens
from judging.grading.pairs import Failure as ModelFailure
from judging.grading.pairs import storable, without_nulls
from judging.grading.probabilities import TokenLogprobs
from judging.grading.said import Said


class Letters(Script[Ask, Outcome]):
    """The Script of a writer."""

    who = "writer"
    rename_advice = "make a new writer with {named} as its revision"
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

    def replied(
        self,
        ask: Ask,
        digest: str,
        said: Sequence[Said],
        logprobs: TokenLogprobs | None,
        tokens: Tokens,
    ) -> Outcome:
        """Of the first sample: a writer asks for one."""
        reply = said[0]
        is_refused = bool(reply.refusal and not reply.words)
        return Outcome(
            ask,
            raw=storable(reply.words or reply.refusal or ""),
            reasoning=storable(reply.reasoning),
            finish_reason=storable(reply.finish_reason or "")[:40],
            failure=Failure.REFUSED.value if is_refused else "",
            detail=FAILURES[Failure.REFUSED] if is_refused else "",
            prompt_hash=digest,
            prompt_tokens=tokens[0],
            completion_tokens=tokens[1],
        )

    def failed(
        self,
        ask: Ask,
        digest: str,
        failure: ModelFailure,
        why: str,
        raw: str = "",
        tokens: Tokens = NO_TOKENS,
    ) -> Outcome:
        return Outcome(
            ask,
            raw=storable(raw),
            failure=failure.value,
            detail=storable(why)[:DETAIL_LIMIT],
            prompt_hash=digest,
            prompt_tokens=tokens[0],
            completion_tokens=tokens[1],
        )

    def is_of_another(self, outcome: Outcome) -> str:
        return outcome.detail if outcome.failure == ModelFailure.OTHER_MODEL else ""
