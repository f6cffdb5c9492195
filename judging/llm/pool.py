"""Load balancing over servers of one model: least open requests first.

A server that fails, or serves another model, is dropped with the reason, and what it was asked goes
to the others. The last one never is: what it raises ends the work, as where there is only one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Generic

from judging.llm.chat_task import ChatTask, Item, Result
from judging.llm.concurrency import Concurrency
from judging.llm.errors import BackendError
from judging.llm.retry import SILENCE
from judging.llm.server import Server
from judging.llm.server_client import ServerClient

logger = logging.getLogger(__name__)


class Pool(Generic[Item, Result]):
    """Servers of one session, one or more.

    `aside` maps URLs of servers that were dropped to the reasons.
    """

    def __init__(
        self,
        chat_task: ChatTask[Item, Result],
        servers: Sequence[Server],
        retry_seconds: float,
        concurrency: int,
        start: int | None = None,
    ) -> None:
        self._servers = servers
        self._concurrency = concurrency
        self._askings = [
            ServerClient(
                chat_task,
                server,
                retry_seconds,
                partial(self._do_others_answer, server),
                Concurrency(concurrency, start),
            )
            for server in servers
        ]
        self._ready: list[ServerClient[Item, Result]] = []
        self._starting: list[asyncio.Task[None]] = []
        self._failure: BackendError | None = None
        self.aside: dict[str, str] = {}

    @property
    def room(self) -> int:
        """Return the current limit of concurrent requests, over all servers."""
        return min(self._concurrency, sum(asking.room for asking in self._ready))

    @property
    def limit(self) -> int:
        """Return the current limit of concurrent requests by the load of the servers.

        It is at most the configured one.
        """
        total = sum(int(asking.load.limit) for asking in self._ready)
        return min(self._concurrency, total) or self._concurrency

    async def open(self) -> None:
        for server in self._servers:
            await server.open()

    async def start(self) -> None:
        """Ask each server for its model, and return when one is usable.

        The others have some seconds to answer before anything is asked, and may join later.
        Raises what the last one says where none is of use.
        """
        self._starting = [asyncio.create_task(self._begin(asking)) for asking in self._askings]
        waiting = set(self._starting)
        done, waiting = await asyncio.wait(waiting, timeout=SILENCE)
        while waiting and not self._ready:
            more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        for task in done:
            task.result()
        if not self._ready and self._failure:
            raise self._failure

    async def close(self) -> None:
        for task in self._starting:
            task.cancel()
        if self._starting:
            await asyncio.wait(self._starting)
        for server in self._servers:
            await server.close()

    async def answer(self, item: Item) -> Result:
        """Return the result of an item from one of the servers.

        Raises BackendError if no answer can be had any more.
        """
        while True:
            # Among equals the one that was asked least, or else with few requests one would have all.
            free = [asking for asking in self._ready if asking.n_open < asking.room]
            asking = min(free or self._ready, key=lambda asking: (asking.n_open, asking.n_asked))
            asking.n_asked += 1
            asking.n_open += 1
            try:
                return await asking.answer(item)
            except BackendError as error:
                if not self._gives_way(asking, error):
                    raise
            finally:
                asking.n_open -= 1

    async def _begin(self, asking: ServerClient[Item, Result]) -> None:
        try:
            await asking.start()
        except BackendError as error:
            self._failure = error
            if len(self.aside) < len(self._askings) - 1:
                self._put_aside(asking, error)
        else:
            self._ready.append(asking)
            self._ready.sort(key=self._askings.index)

    def _gives_way(self, asking: ServerClient[Item, Result], error: BackendError) -> bool:
        """Put a failed server aside, and return whether another one can be asked instead."""
        if asking in self._ready:
            if len(self._ready) == 1:
                return False
            self._ready.remove(asking)
            self._put_aside(asking, error)
        return True

    def _put_aside(self, asking: ServerClient[Item, Result], error: BackendError) -> None:
        self.aside[asking.server.url] = str(error)
        asking.put_aside()
        logger.warning("%s It is dropped, and the other servers are asked.", error)

    async def _do_others_answer(self, server: Server, since: float) -> bool:
        """Return whether another server has answered since then, or answers when asked.

        Where all fall silent together, none is dropped for it.
        """
        other_askings = [asking for asking in self._ready if asking.server is not server]
        if any(asking.retry_policy.last_success > since for asking in other_askings):
            return True
        return any([await asking.answers_something_else() for asking in other_askings])
