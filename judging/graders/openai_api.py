"""Grades through any server that speaks OpenAI's chat completions, many pairs at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence

from judging.graders.grading import Grading, replies_of
from judging.graders.openai_probe import Probe, probe
from judging.graders.openai_server import Address
from judging.graders.openai_talks import Talks
from judging.graders.route import PLAIN, Route
from judging.graders.timeouts import reply_seconds
from judging.grading.pairs import Pair, Reply
from judging.grading.spec import Spec

PATIENCE = (
    600.0  # seconds for which all servers may be silent, if replies are no longer than a third
)

__all__ = ["OpenAIGrader", "Probe", "probe"]


class OpenAIGrader:
    """The judge `spec` at the server whose OpenAI paths begin with `url`, such as .../v1.

    `others` are further servers of the same judge, which share the pairs. The `timeout` is that of
    `reply_seconds` where none is given, and `patience` ten minutes or three times as long. For the rest see
    Talks.
    """

    def __init__(
        self,
        spec: Spec,
        url: str,
        *,
        key: str | None,
        route: Route = PLAIN,
        others: Sequence[Address] = (),
        on_aside: Callable[[str, str], None] = lambda url, why: None,
        on_concurrency: Callable[[int], None] = lambda limit: None,
        concurrency: int = 64,
        start_concurrency: int | None = None,
        timeout: float | None = None,
        patience: float | None = None,
    ) -> None:
        self.spec = spec
        timeout = timeout or reply_seconds(spec.sampling, [url, *(each.url for each in others)])
        self.talks: Talks[Sequence[Pair], list[Reply]] = Talks(
            Grading(spec),
            [Address(url, key, route), *others],
            on_aside=on_aside,
            on_concurrency=on_concurrency,
            concurrency=concurrency,
            start_concurrency=start_concurrency,
            timeout=timeout,
            patience=max(PATIENCE, 3 * timeout) if patience is None else patience,
        )

    def replies(self, pairs: Iterator[Pair]) -> Generator[Reply | None]:
        """Grade pairs; see Grader. No event loop runs while `pairs` is asked or the caller works.

        No server is asked anything where there is no pair.
        """
        first = next(pairs, None)
        if first is not None:
            yield from replies_of(self.talks.answers, itertools.chain([first], pairs))
