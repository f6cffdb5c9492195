"""A real server of a model in a process of its own, that can be killed and started again at the same port."""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 600  # seconds for a start: two busy cores take their time


class ModelProcess:
    """An OpenAI-compatible server, in a process group of its own.

    `name` is how messages call it; it is there when `ready`, a path, answers. `environment` is what it
    has beside that of the tests.
    """

    name = ""
    ready = "/health"
    environment: dict[str, str] = {}

    def __init__(self, log: Path) -> None:
        self.log = log
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
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
        """Until it answers. Raises RuntimeError with the end of its log where it never does."""
        until = time.monotonic() + PATIENCE
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
        raise RuntimeError(f"{self.name} did not answer within {PATIENCE} s:\n{self.tail()}")

    def start(self) -> None:
        self.begin()
        self.wait()

    def kill(self) -> None:
        """SIGKILL to the whole group: what computes may be a child of the one that answers."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        self.process = None

    def tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-40:])
