"""Several servers of one judge: each message goes to the one with the fewest open requests.

A server that fails, or serves another model, is put aside with the reason, and its pairs go to the
others. The last one never is: what it raises ends the work, as where there is only one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from judging.graders.base import AnotherJudge, GraderError
from judging.graders.openai_asking import SILENCE, Asking
from judging.graders.openai_server import Server
from judging.grading.pairs import Failure, Pair, Reply
from judging.grading.said import with_tokens
from judging.grading.spec import Spec

logger = logging.getLogger(__name__)


class Pool:
    """The servers of one session, one or more. `aside` are those that were put aside, with the reasons."""

    def __init__(self, spec: Spec, servers: Sequence[Server], patience: float) -> None:
        self._servers = servers
        self._askings = [
            Asking(spec, server, patience, partial(self._do_others_answer, server))
            for server in servers
        ]
        self._ready: list[Asking] = []
        self._starting: list[asyncio.Task[None]] = []
        self._failure: GraderError | None = None
        self.aside: dict[str, str] = {}

    async def open(self) -> None:
        for server in self._servers:
            await server.open()

    async def start(self) -> None:
        """Ask each server what it serves, and return when one is of use.

        The others have some seconds to answer before the first pair is asked, and may join later.
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

    async def replies(self, pairs: Sequence[Pair]) -> list[Reply]:
        """The replies about the pairs of one message. Raises GraderError if none can be had any more."""
        while True:
            # Among equals the one that was asked least, or else with few requests one would have all.
            asking = min(self._ready, key=lambda asking: (asking.n_open, asking.n_asked))
            asking.n_asked += 1
            asking.n_open += 1
            try:
                replies = await asking.replies(pairs)
            except GraderError as error:
                if self._gives_way(asking, error):
                    continue
                raise
            finally:
                asking.n_open -= 1
            first = replies[0]
            if first.failure is Failure.OTHER_MODEL:
                why = f"The server at {asking.server.url} serves another model. {first.detail}"
                if self._gives_way(asking, AnotherJudge(why)):
                    continue
            return replies

    async def alone(self, reply: Reply) -> list[Reply]:
        """The reply about a pair by itself, which a message about several brought no grade for."""
        [again] = await self.replies([reply.pair.alone()])
        return [with_tokens(again, (reply.prompt_tokens, reply.completion_tokens))]

    async def _begin(self, asking: Asking) -> None:
        try:
            await asking.start()
        except GraderError as error:
            self._failure = error
            if len(self.aside) < len(self._askings) - 1:
                self._put_aside(asking, error)
        else:
            self._ready.append(asking)
            self._ready.sort(key=self._askings.index)

    def _gives_way(self, asking: Asking, error: GraderError) -> bool:
        """Whether another server takes the pair; then this one is put aside, if it is not yet."""
        if asking in self._ready:
            if len(self._ready) == 1:
                return False
            self._ready.remove(asking)
            self._put_aside(asking, error)
        return True

    def _put_aside(self, asking: Asking, error: GraderError) -> None:
        self.aside[asking.server.url] = str(error)
        asking.put_aside()
        logger.warning("%s It is put aside, and its pairs go to the other servers.", error)

    async def _do_others_answer(self, server: Server, since: float) -> bool:
        """Whether one of the others has answered since then, or does if it is asked.

        Where all fall silent together, none is put aside for it.
        """
        others = [asking for asking in self._ready if asking.server is not server]
        if any(asking.last_success > since for asking in others):
            return True
        return any([await asking.answers_something_else() for asking in others])
