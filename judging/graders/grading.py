"""How a judge asks a model about pairs, and what the replies say of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

from judging.graders.script import (
    DETAIL_LIMIT,
    NO_TOKENS,
    Script,
    Tokens,
)
from judging.grading.pairs import (
    Failure,
    Pair,
    Reply,
    State,
    shares,
    storable,
    together,
    without_nulls,
)
from judging.grading.probabilities import TokenLogprobs
from judging.grading.prompt import Message, render
from judging.grading.said import Said, reply_of, with_tokens
from judging.grading.spec import Spec


class Grading(Script[Sequence[Pair], list[Reply]]):
    """The Script of a judge. What is asked are the pairs of one message; what comes, a reply to each.

    Each takes an equal share of the tokens.
    """

    who = "judge"

    spec: Spec

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.ways = ways_to_ask(spec)

    @property
    def label_ids(self) -> Mapping[str, int]:
        spec = self.spec
        return (
            dict(zip(map(str, spec.grades), spec.label_ids, strict=True)) if spec.label_ids else {}
        )

    def messages(self, pairs: Sequence[Pair]) -> list[Message]:
        return render(self.spec, pairs[0])

    def replied(
        self,
        pairs: Sequence[Pair],
        digest: str,
        said: Sequence[Said],
        logprobs: TokenLogprobs | None,
        tokens: Tokens,
    ) -> list[Reply]:
        return [
            reply_of(self.spec, pair, digest, said, logprobs, own)
            for pair, own in _with_their_share(pairs, tokens)
        ]

    def failed(
        self,
        pairs: Sequence[Pair],
        digest: str,
        failure: Failure,
        why: str,
        raw: str = "",
        tokens: Tokens = NO_TOKENS,
    ) -> list[Reply]:
        return [
            Reply(
                pair=pair,
                state=State.ERROR,
                failure=failure,
                detail=storable(why)[:DETAIL_LIMIT],
                raw=storable(raw),
                prompt_hash=digest,
                prompt_tokens=own[0],
                completion_tokens=own[1],
            )
            for pair, own in _with_their_share(pairs, tokens)
        ]

    def is_of_another(self, replies: list[Reply]) -> str:
        first = replies[0]
        return first.detail if first.failure is Failure.OTHER_MODEL else ""


def _with_their_share(pairs: Sequence[Pair], tokens: Tokens) -> Iterator[tuple[Pair, Tokens]]:
    read, written = (shares(number, len(pairs)) for number in tokens)
    return zip(pairs, zip(read, written, strict=True), strict=True)


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


Answers = Callable[[Callable[[], Sequence[Pair] | None]], Iterator[list[Reply] | None]]


def replies_of(answers: Answers, pairs: Iterator[Pair]) -> Generator[Reply | None]:
    """The reply to each pair, of who answers messages as Talks do.

    A pair that a message about several brings no grade for is asked alone, before others.
    """
    messages = together(pairs)
    alone: deque[Pair] = deque()  # which are asked by themselves next
    spent: dict[tuple[int, int], Tokens] = {}  # on them, in the message about several

    def next_one() -> Sequence[Pair] | None:
        return [alone.popleft()] if alone else next(messages, None)

    for replies in answers(next_one):
        for reply in replies if replies else (None,):
            if reply and reply.grade is None and reply.pair.is_of_several:
                alone.append(reply.pair.alone())
                spent[_key(reply.pair)] = reply.prompt_tokens, reply.completion_tokens
                yield None
            elif reply and (tokens := spent.pop(_key(reply.pair), None)):
                yield with_tokens(reply, tokens)
            else:
                yield reply


def _key(pair: Pair) -> tuple[int, int]:
    return pair.text_id, pair.question_id
