"""How a judge asks a server about pairs, and what the answers say of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judging.graders import openai_reply
from judging.graders.openai_asking import Script
from judging.grading.pairs import Failure, Pair, Reply, without_nulls
from judging.grading.prompt import Message, render
from judging.grading.spec import Spec


class Grading(Script[Sequence[Pair], list[Reply]]):
    """The Script of a judge. What is asked are the pairs of one message; what comes, a reply to each."""

    who = "judge"

    spec: Spec

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.ways = ways_to_ask(spec)

    def messages(self, pairs: Sequence[Pair]) -> list[Message]:
        return render(self.spec, pairs[0])

    def read(
        self, pairs: Sequence[Pair], digest: str, body: bytes, hushed: Callable[[str], str]
    ) -> list[Reply]:
        return openai_reply.read(self.spec, pairs, digest, body, hushed)

    def failed(
        self, pairs: Sequence[Pair], digest: str, failure: Failure, why: str, raw: str = ""
    ) -> list[Reply]:
        return [openai_reply.failed(pair, digest, failure, why, raw) for pair in pairs]

    def is_of_another(self, replies: list[Reply]) -> str:
        first = replies[0]
        return first.detail if first.failure is Failure.OTHER_MODEL else ""


def ways_to_ask(spec: Spec) -> list[dict[str, object]]:
    """The parameters of a request, in the ways in which they may be put, the best first."""
    sampling = spec.sampling
    ways: list[dict[str, object]] = []
    if sampling.logprobs:
        # As many as OpenAI gives, then as many as others do.
        ways = [{"logprobs": True, "top_logprobs": number} for number in (20, 5)]
        if spec.label_ids:
            # vLLM's own; the ids tell "5" from " 5", which are the same words.
            exact = {
                "logprob_token_ids": list(spec.label_ids),
                "return_tokens_as_token_ids": True,
            }
            ways.insert(0, {**ways[0], **exact})
    return [
        without_nulls({"model": spec.model, **sampling.sent, **way, **sampling.extra})
        for way in [*ways, {}]
    ]
