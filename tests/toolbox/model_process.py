"""Real model server in a separate process, which tests kill and restart."""

import contextlib
import os
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

from bench.ports import free_port

START_TIMEOUT = 600  # seconds for a start: two busy cores take their time


class ModelProcess:
    """OpenAI-compatible server, in a process group of its own; a restart keeps its port.

    `name` is used in messages; the server has started when `ready`, a path, answers. `environment` is added
    to that of the tests.
    """

    name = ""
    ready = "/health"
    environment: dict[str, str] = {}

    def __init__(self, log: Path) -> None:
        self.log = log
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def begin(self) -> None:
        """Start the process, without waiting until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                env=os.environ | self.environment,
                cwd=self.log.parent,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Wait until it answers. Raises RuntimeError with the end of its log if it never does."""
        until = time.monotonic() + START_TIMEOUT
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError(
                    f"{self.name} ended with {self.process.returncode}:\n{self.tail()}"
                )
            try:
                urllib.request.urlopen(f"{self.address}{self.ready}", timeout=5).close()
            except OSError:
                time.sleep(0.3)
            else:
                return
        self.kill()
        raise RuntimeError(f"{self.name} did not answer within {START_TIMEOUT} s:\n{self.tail()}")

    def start(self) -> None:
        self.begin()
        self.wait()

    def kill(self) -> None:
        """Send SIGKILL to the process group: a child may do the computing."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        self.process = None

    def tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-40:])
