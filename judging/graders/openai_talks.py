"""Many questions to servers at once, from a caller that knows of no event loop."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from typing import Any, Generic

from judging.graders.openai_pool import Pool
from judging.graders.openai_server import Address, Server
from judging.graders.script import Came, Script, What

_SIGN_OF_LIFE = 1.0  # seconds after which the caller hears something


class Talks(Generic[What, Came]):
    """Asks the servers at `addresses`, whose OpenAI paths begin with their URLs, such as .../v1.

    Keys are sent as bearer tokens, and appear nowhere else. `concurrency` is how many messages are out
    at once at most; timeouts and 429 lower it and replies raise it (see Concurrency). It begins at
    `start_concurrency`, and `on_concurrency` is told each change, about once a second. `timeout` are the
    seconds that one answer may take. The servers may be silent for `patience` seconds; after that `answers`
    raises Unavailable.

    They share what is asked. One that fails or serves another model is put aside for as long as this
    lives, and `on_aside` is told its address and why; never the last one.
    """

    def __init__(
        self,
        script: Script[What, Came],
        addresses: Sequence[Address],
        *,
        on_aside: Callable[[str, str], None] = lambda url, why: None,
        on_concurrency: Callable[[int], None] = lambda limit: None,
        concurrency: int = 64,
        start_concurrency: int | None = None,
        timeout: float = 180,
        patience: float = 600,
    ) -> None:
        self.script = script
        self.addresses = addresses
        self.on_aside = on_aside
        self.on_concurrency = on_concurrency
        self.concurrency = max(1, concurrency)
        self.now_concurrency = start_concurrency or self.concurrency  # as it was last told
        self.timeout = timeout
        self.patience = patience
        self._aside: set[str] = set()
        self._told_at = time.monotonic()

    def answers(self, next_one: Callable[[], What | None]) -> Generator[Came | None]:
        """What comes of each thing asked, in any order, and None about once a second while nothing does.

        `next_one` says what to ask next, None if nothing, for now or for good: it is called whenever there
        is room, and this ends where nothing is under way and it has nothing. No event loop runs meanwhile,
        nor while the caller works.

        Before anything is asked each server is asked what it serves. Raises AnotherJudge if that is not
        what the script wants, Unavailable if the server, its address or the key is of no use; of several
        servers, where that is so of each.
        """
        servers = self._servers()
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            pool = Pool(self.script, servers, self.patience, self.concurrency, self.now_concurrency)
            loop.run_until_complete(pool.open())
            work: _Work[Came | None] = _Work(loop)
            try:
                start = work.begin(pool.start())
                while True:
                    while start.done() and len(work.tasks) < pool.room:
                        what = next_one()
                        if what is None:
                            break
                        work.begin(pool.answer(what))
                    if not work.tasks:
                        return
                    yield from work.results()
                    self._tell(pool)
            finally:
                work.cancel()
                loop.run_until_complete(pool.close())
                self._told_at = 0.0
                self._tell(pool)

    def _servers(self) -> list[Server]:
        """Those that are not put aside, each once."""
        servers = [Server(each.url, each.key, self.timeout, each.route) for each in self.addresses]
        by_url = {server.url: server for server in servers}
        return [server for url, server in by_url.items() if url not in self._aside]

    def _tell(self, pool: Pool[What, Came]) -> None:
        """Here and not by the pool: no database can be written to while an event loop runs."""
        for url in pool.aside.keys() - self._aside:
            self._aside.add(url)
            self.on_aside(url, pool.aside[url])
        now = time.monotonic()
        if now - self._told_at >= _SIGN_OF_LIFE and pool.limit != self.now_concurrency:
            self._told_at, self.now_concurrency = now, pool.limit
            self.on_concurrency(pool.limit)


class _Work(Generic[Came]):
    """Tasks in an event loop that runs only while their results are waited for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.tasks: set[asyncio.Task[Came]] = set()
        self._loop = loop
        loop.set_exception_handler(_told_once)
        self._results: deque[Came | None] = deque()
        self._errors: list[BaseException] = []
        self._is_stopped = True  # or about to be

    def begin(self, work: Coroutine[Any, Any, Came]) -> asyncio.Task[Came]:
        task = self._loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def results(self) -> Iterator[Came | None]:
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

    def _finished(self, task: asyncio.Task[Came]) -> None:
        self.tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._results.append(task.result())
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
