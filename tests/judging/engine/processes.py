"""Separate processes on a test database: commands, workers, and a server that judges."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

from aiohttp import web

from judging import mock_model
from judging.grading import prompts
from judging.models import Judge, JudgeRun
from tests.toolbox.clock import HANGS
from tests.toolbox.judging_study import a_judge, environment
from tests.toolbox.paths import ROOT


def manage(*arguments: str, **env: str) -> subprocess.Popen:
    """manage.py in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        env=environment(**env),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # What runs in the background of a shell ignores Ctrl-C, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def kill(process: subprocess.Popen) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


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


def stand_in_judge() -> Judge:
    file = prompts.load("question-first")
    return a_judge(
        "stand-in",
        model=mock_model.MODEL,
        revision="",
        system=file.system,
        prompt=file.prompt,
        sampling={"max_tokens": file.max_tokens},
        parser=file.parser,
    )


def state_of(run: JudgeRun) -> str:
    return JudgeRun.objects.values_list("state", flat=True).get(pk=run.pk)
