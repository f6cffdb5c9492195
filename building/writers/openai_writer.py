"""Writer backend for servers that speak OpenAI's chat completions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence

from building.writers.base import Ask, Outcome
from building.writers.chat_task import WriterChat
from building.writers.spec import WriterSpec
from judging.llm.chat_client import ChatClient
from judging.llm.retry import MIN_RETRY_SECONDS
from judging.llm.server import Address
from judging.llm.timeouts import reply_seconds

LEAST_SECONDS = 600  # that a text may take: they are long, and servers slow


class OpenAIWriter:
    """The writer `spec` at some servers of its model; see ChatClient.

    `timeout` is by default that of `reply_seconds`, at least LEAST_SECONDS; `retry_seconds` is as of a judge.
    """

    def __init__(
        self,
        spec: WriterSpec,
        addresses: Sequence[Address],
        *,
        on_aside: Callable[[str, str], None] = lambda url, why: None,
        concurrency: int = 64,
        timeout: float | None = None,
        retry_seconds: float | None = None,
    ) -> None:
        urls = [address.url for address in addresses]
        timeout = timeout or max(LEAST_SECONDS, reply_seconds(spec.sampling, urls))
        self.client: ChatClient[Ask, Outcome] = ChatClient(
            WriterChat(spec),
            addresses,
            on_aside=on_aside,
            concurrency=concurrency,
            timeout=timeout,
            retry_seconds=max(MIN_RETRY_SECONDS, 3 * timeout)
            if retry_seconds is None
            else retry_seconds,
        )

    def outcomes(self, asks: Iterator[Ask]) -> Generator[Outcome | None]:
        """See WriterBackend. No server is asked if there is nothing to write."""
        first = next(asks, None)
        if first:
            asks = itertools.chain([first], asks)
            yield from self.client.answers(lambda: next(asks, None))
