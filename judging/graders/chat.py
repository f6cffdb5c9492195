"""Graders of chat models: servers with OpenAI's API, and vLLM in this process."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

from judging.grading.completion import reply_of, with_tokens
from judging.grading.pairs import Pair, Reply, State, group_by_message, shares
from judging.grading.prompt import render
from judging.grading.spec import Spec
from judging.llm.chat_client import ChatClient
from judging.llm.chat_task import DETAIL_LIMIT, NO_TOKENS, ChatTask, Tokens
from judging.llm.completion import Completion, TokenLogprobs, storable
from judging.llm.errors import Failure
from judging.llm.messages import Message
from judging.llm.retry import MIN_RETRY_SECONDS
from judging.llm.route import PLAIN, Route
from judging.llm.sampling import without_nulls
from judging.llm.server import Address
from judging.llm.timeouts import reply_seconds
from judging.llm.vllm_engine import Engine


class GradingTask(ChatTask[Sequence[Pair], list[Reply]]):
    """Chat task of a judge: the items are the pairs of one message.

    A result is the replies to these pairs. Each takes an equal share of the tokens.
    """

    role = "judge"

    spec: Spec

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.request_variants = request_variants(spec)

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
        completions: Sequence[Completion],
        logprobs: TokenLogprobs | None,
        tokens: Tokens,
    ) -> list[Reply]:
        return [
            reply_of(self.spec, pair, digest, completions, logprobs, share)
            for pair, share in _with_their_share(pairs, tokens)
        ]

    def failed(
        self,
        pairs: Sequence[Pair],
        digest: str,
        failure: Failure,
        detail: str,
        raw: str = "",
        tokens: Tokens = NO_TOKENS,
    ) -> list[Reply]:
        return [
            Reply(
                pair=pair,
                state=State.ERROR,
                failure=failure,
                detail=storable(detail)[:DETAIL_LIMIT],
                raw=storable(raw),
                prompt_hash=digest,
                prompt_tokens=share[0],
                completion_tokens=share[1],
            )
            for pair, share in _with_their_share(pairs, tokens)
        ]

    def other_model(self, replies: list[Reply]) -> str:
        first = replies[0]
        return first.detail if first.failure is Failure.OTHER_MODEL else ""


def _with_their_share(pairs: Sequence[Pair], tokens: Tokens) -> Iterator[tuple[Pair, Tokens]]:
    read, written = (shares(number, len(pairs)) for number in tokens)
    return zip(pairs, zip(read, written, strict=True), strict=True)


def request_variants(spec: Spec) -> list[dict[str, object]]:
    """Return variants of the request parameters, the preferred one first."""
    sampling = spec.sampling
    variants: list[dict[str, object]] = []
    if sampling.logprobs:
        # As many as OpenAI gives, then as many as others do.
        variants = [{"logprobs": True, "top_logprobs": number} for number in (20, 5)]
        if spec.label_ids:
            # vLLM's own; the ids tell "5" from " 5", which are the same words.
            exact = {
                "logprob_token_ids": list(spec.label_ids),
                "return_tokens_as_token_ids": True,
            }
            variants.insert(0, {**variants[0], **exact})
    return [
        without_nulls({"model": spec.model, **sampling.sent, **variant, **sampling.extra})
        for variant in [*variants, {}]
    ]


Answers = Callable[[Callable[[], Sequence[Pair] | None]], Iterator[list[Reply] | None]]


def replies_of(answers: Answers, pairs: Iterator[Pair]) -> Generator[Reply | None]:
    """Yield the reply to each pair, with `answers` of a chat client or an engine.

    A pair that a message about several brings no grade for is asked alone, before others.
    """
    messages = group_by_message(pairs)
    singles: deque[Pair] = deque()  # which are asked by themselves next
    tokens_before: dict[tuple[int, int, int], Tokens] = {}  # on them, in the message about several

    def next_one() -> Sequence[Pair] | None:
        return [singles.popleft()] if singles else next(messages, None)

    for replies in answers(next_one):
        for reply in replies if replies else (None,):
            if reply and reply.grade is None and reply.pair.has_several_questions:
                singles.append(reply.pair.alone())
                tokens_before[_key(reply.pair)] = reply.prompt_tokens, reply.completion_tokens
                yield None
            elif reply and (tokens := tokens_before.pop(_key(reply.pair), None)):
                yield with_tokens(reply, tokens)
            else:
                yield reply


def _key(pair: Pair) -> tuple[int, int, int]:
    return pair.text_id, pair.question_id, pair.repeat


class OpenAIGrader:
    """Grader of the judge `spec` at a server with OpenAI paths below `url`, such as .../v1.

    `other_addresses` are further servers of the same judge, which share the pairs. The `timeout` is that
    of `reply_seconds` where none is given, and `retry_seconds` ten minutes or three times as long. For the
    rest see ChatClient.
    """

    def __init__(
        self,
        spec: Spec,
        url: str,
        *,
        key: str | None,
        route: Route = PLAIN,
        other_addresses: Sequence[Address] = (),
        on_aside: Callable[[str, str], None] = lambda url, reason: None,
        on_concurrency: Callable[[int], None] = lambda limit: None,
        concurrency: int = 64,
        start_concurrency: int | None = None,
        timeout: float | None = None,
        retry_seconds: float | None = None,
    ) -> None:
        self.spec = spec
        timeout = timeout or reply_seconds(
            spec.sampling, [url, *(address.url for address in other_addresses)]
        )
        self.client: ChatClient[Sequence[Pair], list[Reply]] = ChatClient(
            GradingTask(spec),
            [Address(url, key, route), *other_addresses],
            on_aside=on_aside,
            on_concurrency=on_concurrency,
            concurrency=concurrency,
            start_concurrency=start_concurrency,
            timeout=timeout,
            retry_seconds=max(MIN_RETRY_SECONDS, 3 * timeout)
            if retry_seconds is None
            else retry_seconds,
        )

    def replies(self, pairs: Iterator[Pair]) -> Generator[Reply | None]:
        """Grade pairs; see Grader. No event loop runs while `pairs` is asked or the caller works.

        No server is asked anything where there is no pair.
        """
        first = next(pairs, None)
        if first is not None:
            yield from replies_of(self.client.answers, itertools.chain([first], pairs))


class VllmGrader:
    """Grader of the judge `spec`, whose model vLLM can load; see Engine."""

    def __init__(
        self, spec: Spec, *, engine_args: Mapping[str, Any] | None = None, in_flight: int = 256
    ) -> None:
        self.engine: Engine[Sequence[Pair], list[Reply]] = Engine(
            GradingTask(spec), engine_args=engine_args, in_flight=in_flight
        )

    def replies(self, pairs: Iterator[Pair]) -> Generator[Reply | None]:
        """Grade pairs; see Grader. The model is loaded before the first pair is taken."""
        yield from replies_of(self.engine.answers, pairs)
