"""Chat client: many concurrent requests to servers, behind a synchronous interface."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from typing import Any, Generic

from judging.llm.chat_task import ChatTask, Item, Result
from judging.llm.pool import Pool
from judging.llm.server import Address, Server

_SIGN_OF_LIFE = 1.0  # seconds after which the caller hears something


class ChatClient(Generic[Item, Result]):
    """Client of servers with OpenAI paths below their URLs (`addresses`), such as .../v1.

    Keys are sent as bearer tokens, and appear nowhere else. `concurrency` is how many messages are out
    at once at most; timeouts and 429 lower it and replies raise it (see Concurrency). It begins at
    `start_concurrency`, and `on_concurrency` is told each change, about once a second. `timeout` are the
    seconds that one answer may take. The servers may be silent for `retry_seconds`; after that `answers` raises
    BackendUnavailableError.

    They share what is asked. One that fails or serves another model is dropped for as long as this
    lives, and `on_aside` is told its address and why; never the last one.
    """

    def __init__(
        self,
        chat_task: ChatTask[Item, Result],
        addresses: Sequence[Address],
        *,
        on_aside: Callable[[str, str], None] = lambda url, reason: None,
        on_concurrency: Callable[[int], None] = lambda limit: None,
        concurrency: int = 64,
        start_concurrency: int | None = None,
        timeout: float = 180,
        retry_seconds: float = 600,
    ) -> None:
        self.chat_task = chat_task
        self.addresses = addresses
        self.on_aside = on_aside
        self.on_concurrency = on_concurrency
        self.concurrency = max(1, concurrency)
        self.current_concurrency = start_concurrency or self.concurrency  # as it was last told
        self.timeout = timeout
        self.retry_seconds = retry_seconds
        self._aside: set[str] = set()
        self._reported_at = time.monotonic()

    def answers(self, next_one: Callable[[], Item | None]) -> Generator[Result | None]:
        """Yield the result of each item in any order, and None about once a second.

        `next_one` returns the next item, None if there is none, for now or for good: it is called
        whenever there is room, and this ends where nothing is in flight and it has nothing. No event
        loop runs meanwhile, nor while the caller works.

        Before the first item each server is asked what it serves. Raises ModelMismatchError if that is not
        what the task wants, BackendUnavailableError if the server, its address or the key is of no use; of
        several servers, if that is so of each.
        """
        servers = self._servers()
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            pool = Pool(
                self.chat_task,
                servers,
                self.retry_seconds,
                self.concurrency,
                self.current_concurrency,
            )
            loop.run_until_complete(pool.open())
            work: _Work[Result | None] = _Work(loop)
            try:
                start = work.begin(pool.start())
                while True:
                    while start.done() and len(work.tasks) < pool.room:
                        item = next_one()
                        if item is None:
                            break
                        work.begin(pool.answer(item))
                    if not work.tasks:
                        return
                    yield from work.results()
                    self._report(pool)
            finally:
                work.cancel()
                loop.run_until_complete(pool.close())
                self._reported_at = 0.0
                self._report(pool)

    def _servers(self) -> list[Server]:
        """Return the servers that are not dropped, each once."""
        servers = [
            Server(address.url, address.key, self.timeout, address.route)
            for address in self.addresses
        ]
        by_url = {server.url: server for server in servers}
        return [server for url, server in by_url.items() if url not in self._aside]

    def _report(self, pool: Pool[Item, Result]) -> None:
        """Report servers dropped and changes of concurrency to the callbacks.

        This is not done by the pool: no database can be written to while an event loop runs.
        """
        for url in pool.aside.keys() - self._aside:
            self._aside.add(url)
            self.on_aside(url, pool.aside[url])
        now = time.monotonic()
        if now - self._reported_at >= _SIGN_OF_LIFE and pool.limit != self.current_concurrency:
            self._reported_at, self.current_concurrency = now, pool.limit
            self.on_concurrency(pool.limit)


class _Work(Generic[Result]):
    """Tasks in an event loop that runs only while their results are waited for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.tasks: set[asyncio.Task[Result]] = set()
        self._loop = loop
        loop.set_exception_handler(_report_once)
        self._results: deque[Result | None] = deque()
        self._errors: list[BaseException] = []
        self._is_stopped = True  # or about to be

    def begin(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = self._loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def results(self) -> Iterator[Result | None]:
        """Yield finished results, or None if there is none for a second.

        Raises what a task raised.
        """
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

    def _finished(self, task: asyncio.Task[Result]) -> None:
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


def _report_once(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Silence a repeated KeyboardInterrupt of the event loop.

    The loop raises Ctrl-C itself; where it met a task of the HTTP client, asyncio would report it
    again.
    """
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)
