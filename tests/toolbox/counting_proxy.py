"""Counting proxy before a server, which passes every request on.

It behaves as the wire would. While the server behind it is dead it drops the connection, as the
operating system of a dead server does, and counts nothing.
"""

import asyncio
import json
import threading
from collections import Counter
from typing import Any

import aiohttp
from aiohttp import web

from judging.llm.messages import prompt_hash

CHAT = "/v1/chat/completions"
HOP_BY_HOP = {"content-length", "transfer-encoding", "connection", "host"}


class CountingProxy:
    """Counts by prompt hash, in a thread of its own; `address` is that of the proxy.

    `sent` counts the chats that reached the server, whether or not it lived to reply. `parameters` are
    those of the newest request of each, without its messages.
    """

    def __init__(self, behind: str) -> None:
        self.behind = behind
        self.sent: Counter[str] = Counter()
        self.parameters: dict[str, dict[str, Any]] = {}
        self.address = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "CountingProxy":
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = self._loop.run_until_complete(self._begin())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._session.close())
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _begin(self) -> web.AppRunner:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=300)
        )
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._hand_on)
        # A caller that is gone cancels its request here, and so at the server.
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    async def _hand_on(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        digest = ""
        if request.path == CHAT:
            parameters = json.loads(body)
            digest = prompt_hash(parameters.pop("messages"))
            self.parameters[digest] = parameters
        headers = {k: v for k, v in request.headers.items() if k.lower() not in HOP_BY_HOP}
        try:
            self.sent[digest] += 1
            async with self._session.request(
                request.method, self.behind + request.path_qs, data=body, headers=headers
            ) as reply:
                content = await reply.read()
        except aiohttp.ClientConnectorError:
            self.sent[digest] -= 1  # nobody was there to be asked
            return self._dropped(request)
        except aiohttp.ClientError:
            return self._dropped(request)
        passed_headers = {k: v for k, v in reply.headers.items() if k.lower() not in HOP_BY_HOP}
        return web.Response(status=reply.status, body=content, headers=passed_headers)

    def _dropped(self, request: web.Request) -> web.Response:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()  # to nobody
