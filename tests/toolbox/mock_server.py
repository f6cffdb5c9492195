"""Server of the mock model in a thread of this process."""

import asyncio
import threading
from contextlib import contextmanager

from aiohttp import web

from judging import mock_model
from tests.toolbox.clock import HANGS


@contextmanager
def slow_server(seconds: float = 0.1, at_once: int = 2):
    """The address of a stand-in for a model that takes its time, in a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner = web.AppRunner(mock_model.make_app(seconds, at_once), shutdown_timeout=0)

    async def serve() -> int:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner.addresses[0][1]

    try:
        port = asyncio.run_coroutine_threadsafe(serve(), loop).result(HANGS)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(HANGS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
