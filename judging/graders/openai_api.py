"""Grades through any server that speaks OpenAI's chat completions, many pairs at once."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence

from judging.graders.openai_grading import Grading
from judging.graders.openai_probe import Probe, probe
from judging.graders.openai_server import Address
from judging.graders.openai_talks import Talks
from judging.grading.pairs import Pair, Reply, together
from judging.grading.said import with_tokens
from judging.grading.spec import Spec

__all__ = ["OpenAIGrader", "Probe", "probe"]

Tokens = tuple[int, int]


class OpenAIGrader:
    """The judge `spec` at the server whose OpenAI paths begin with `url`, such as .../v1.

    `others` are further servers of the same judge, which share the pairs. For the rest see Talks.
    """

    def __init__(
        self,
        spec: Spec,
        url: str,
        *,
        key: str | None,
        others: Sequence[Address] = (),
        on_aside: Callable[[str, str], None] = lambda url, why: None,
        concurrency: int = 64,
        timeout: float = 60,
        patience: float = 600,
    ) -> None:
        self.spec = spec
        self.talks: Talks[Sequence[Pair], list[Reply]] = Talks(
            Grading(spec),
            [Address(url, key), *others],
            on_aside=on_aside,
            concurrency=concurrency,
            timeout=timeout,
            patience=patience,
        )

    def replies(self, pairs: Iterator[Pair]) -> Generator[Reply | None]:
        """Grade pairs; see Grader. No event loop runs while `pairs` is asked or the caller works.

        A pair that a message about several brings no grade for is asked alone, before others. No server
        is asked anything where there is no pair.
        """
        first = next(pairs, None)
        if first is None:
            return
        messages = together(itertools.chain([first], pairs))
        alone: deque[Pair] = deque()  # which are asked by themselves next
        spent: dict[tuple[int, int], Tokens] = {}  # on them, in the message about several

        def next_one() -> Sequence[Pair] | None:
            return [alone.popleft()] if alone else next(messages, None)

        for replies in self.talks.answers(next_one):
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
