"""Chat task of a writer: its requests to a model, and how replies are parsed."""

from __future__ import annotations

from collections.abc import Sequence

from building.writers.base import Ask, Outcome
from building.writers.spec import WriterSpec
from building.writing.outputs import FAILURES, Failure
from building.writing.tasks import Message
from judging.llm.chat_task import DETAIL_LIMIT, NO_TOKENS, ChatTask, Tokens
from judging.llm.completion import Completion, TokenLogprobs, storable
from judging.llm.errors import Failure as ModelFailure
from judging.llm.sampling import without_nulls


class WriterChat(ChatTask[Ask, Outcome]):
    """Chat task of a writer."""

    role = "writer"
    rename_advice = "make a new writer with {named} as its revision"
    spec: WriterSpec

    def __init__(self, spec: WriterSpec) -> None:
        self.spec = spec
        sampling = spec.sampling
        usual = {"temperature": sampling.temperature, "top_p": sampling.top_p, **sampling.extra}
        self.request_variants = [without_nulls({"model": spec.model, **usual})]

    def messages(self, ask: Ask) -> list[Message]:
        return ask.messages

    def extra_parameters(self, ask: Ask) -> dict[str, object]:
        sampling = self.spec.sampling
        parameters = {"max_tokens": ask.max_tokens or sampling.max_tokens, "seed": ask.seed}
        # What the writer says itself holds, null too: some servers do not take a parameter.
        return {name: value for name, value in parameters.items() if name not in sampling.extra}

    def replied(
        self,
        ask: Ask,
        digest: str,
        completions: Sequence[Completion],
        logprobs: TokenLogprobs | None,
        tokens: Tokens,
    ) -> Outcome:
        """Build the outcome of the first sample; a writer asks for one."""
        completion = completions[0]
        is_refused = bool(completion.refusal and not completion.text)
        return Outcome(
            ask,
            raw=storable(completion.text or completion.refusal or ""),
            reasoning=storable(completion.reasoning),
            finish_reason=storable(completion.finish_reason or "")[:40],
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

    def other_model(self, outcome: Outcome) -> str:
        return outcome.detail if outcome.failure == ModelFailure.OTHER_MODEL else ""
