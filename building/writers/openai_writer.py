"""Texts through any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence

from building.writers.base import Ask, Outcome
from building.writers.letters import Letters
from building.writers.spec import WriterSpec
from judging.graders.openai_api import PATIENCE
from judging.graders.openai_server import Address
from judging.graders.openai_talks import Talks
from judging.graders.timeouts import reply_seconds

LEAST_SECONDS = 600  # that a text may take: they are long, and servers slow


class OpenAIWriter:
    """The writer `spec` at some servers of its model; see Talks.

    Without a `timeout` it is that of `reply_seconds`, and LEAST_SECONDS at least; `patience` is as of a judge.
    """

    def __init__(
        self,
        spec: WriterSpec,
        addresses: Sequence[Address],
        *,
        on_aside: Callable[[str, str], None] = lambda url, why: None,
        concurrency: int = 64,
        timeout: float | None = None,
        patience: float | None = None,
    ) -> None:
        urls = [each.url for each in addresses]
        timeout = timeout or max(LEAST_SECONDS, reply_seconds(spec.sampling, urls))
        self.talks: Talks[Ask, Outcome] = Talks(
            Letters(spec),
            addresses,
            on_aside=on_aside,
            concurrency=concurrency,
            timeout=timeout,
            patience=max(PATIENCE, 3 * timeout) if patience is None else patience,
        )

    def outcomes(self, asks: Iterator[Ask]) -> Generator[Outcome | None]:
        """See WriterAtWork. No server is asked anything where there is nothing to write."""
        first = next(asks, None)
        if first:
            asks = itertools.chain([first], asks)
            yield from self.talks.answers(lambda: next(asks, None))
