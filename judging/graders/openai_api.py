"""Grades through any server that speaks OpenAI's chat completions, many pairs at once."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from typing import Any

from judging.graders.openai_pool import Pool
from judging.graders.openai_probe import Probe, probe
from judging.graders.openai_server import Address, Server
from judging.grading.pairs import Pair, Reply, together
from judging.grading.spec import Spec

__all__ = ["OpenAIGrader", "Probe", "probe"]

_SIGN_OF_LIFE = 1.0  # seconds after which the caller hears something


class OpenAIGrader:
    """The judge `spec` at the server whose OpenAI paths begin with `url`, such as .../v1.

    `key` is sent as a bearer token, and appears nowhere else. `concurrency` is how many messages
    are out at once, `timeout` the seconds that one answer may take. The server may be silent for
    `patience` seconds; after that `replies` raises Unavailable.

    `others` are further servers of the same judge, which share the pairs. One that fails or serves
    another model is put aside for as long as this grader lives, and `on_aside` is told its address and
    why; never the last one.
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
        self.addresses = [Address(url, key), *others]
        self.on_aside = on_aside
        self.concurrency = max(1, concurrency)
        self.timeout = timeout
        self.patience = patience
        self._aside: set[str] = set()

    def replies(self, pairs: Iterator[Pair]) -> Generator[Reply | None]:
        """Grade pairs; see Grader. No event loop runs while `pairs` is asked or the caller works.

        A pair that a message about several brings no grade for is asked alone, before others.

        Before it asks about the first pair it asks what each server serves. Raises AnotherJudge if that
        is not this judge, Unavailable if the server, its address or the key is of no use; of several
        servers, where that is so of each.
        """
        first = next(pairs, None)
        if first is None:
            return
        messages = together(itertools.chain([first], pairs))
        servers = self._servers()
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            pool = Pool(self.spec, servers, self.patience)
            loop.run_until_complete(pool.open())
            work = _Work(loop)
            alone: deque[Reply] = deque()  # whose pairs are asked by themselves next
            try:
                start = work.begin(pool.start())
                there_are_more = True
                while True:
                    while start.done() and len(work.tasks) < self.concurrency:
                        if alone:
                            work.begin(pool.alone(alone.popleft()))
                        elif there_are_more and (asked := next(messages, None)):
                            work.begin(pool.replies(asked))
                        else:
                            there_are_more = False
                            break
                    if not work.tasks:
                        return
                    for reply in work.results():
                        if reply and reply.grade is None and reply.pair.is_of_several:
                            alone.append(reply)
                            yield None
                        else:
                            yield reply
                    self._tell(pool)
            finally:
                work.cancel()
                loop.run_until_complete(pool.close())
                self._tell(pool)

    def _servers(self) -> list[Server]:
        """Those that are not put aside, each once."""
        servers = [Server(each.url, each.key, self.timeout) for each in self.addresses]
        by_url = {server.url: server for server in servers}
        return [server for url, server in by_url.items() if url not in self._aside]

    def _tell(self, pool: Pool) -> None:
        """Here and not by the pool: no database can be written to while an event loop runs."""
        for url in pool.aside.keys() - self._aside:
            self._aside.add(url)
            self.on_aside(url, pool.aside[url])


class _Work:
    """Tasks in an event loop that runs only while their results are waited for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.tasks: set[asyncio.Task[list[Reply] | None]] = set()
        self._loop = loop
        loop.set_exception_handler(_told_once)
        self._results: deque[Reply | None] = deque()
        self._errors: list[BaseException] = []
        self._is_stopped = True  # or about to be

    def begin(
        self, work: Coroutine[Any, Any, list[Reply] | None]
    ) -> asyncio.Task[list[Reply] | None]:
        task = self._loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def results(self) -> Iterator[Reply | None]:
        """What is finished next, or None if nothing is for a second. Raises what a task raised."""
        self._is_stopped = False
        timer = self._loop.call_later(_SIGN_OF_LIFE, self._stop)
        try:
            self._loop.run_forever()
        finally:  # Ctrl-C ends it too, and then nothing may stop what `cancel` runs
            timer.cancel()
            self._is_stopped = True
        if not self._results and not self._errors:
            yield None
        while self._results:
            yield self._results.popleft()
        if self._errors:
            raise self._errors[0]

    def cancel(self) -> None:
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            self._loop.run_until_complete(asyncio.wait(self.tasks.copy()))

    def _finished(self, task: asyncio.Task[list[Reply] | None]) -> None:
        self.tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._results.extend(task.result() or [None])
        else:
            self._errors.append(error)
        self._stop()

    def _stop(self) -> None:
        # Once for each time that it runs: in some loops a second call would stop the next run as well,
        # and of a task that is done its callback may still come while `cancel` waits.
        if not self._is_stopped:
            self._is_stopped = True
            self._loop.stop()


def _told_once(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ctrl-C is raised by the loop. Where it met a task of the HTTP client, asyncio would tell it again."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)
