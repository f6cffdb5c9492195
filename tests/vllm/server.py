"""A real vLLM server that can be killed and started again at the same port."""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("VLLM_PYTHON", "")  # make test-vllm names it
MODEL = "tiny"
MAX_MODEL_LEN = 2_048
PATIENCE = 600  # seconds for a start: two busy cores take their time
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TORCHDYNAMO_DISABLE": "1",  # else the first reply waits half a minute for a compiler
}


def make_model(folder: Path) -> None:
    """The tiny model, written by vLLM's own Python. Raises RuntimeError with what that said."""
    made = subprocess.run(
        [PYTHON, ROOT / "tests" / "vllm" / "tiny_model.py", folder],
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        raise RuntimeError(f"the tiny model could not be made:\n{made.stderr[-4_000:]}")


class VllmServer:
    """The OpenAI-compatible server of vLLM, in a process group of its own."""

    def __init__(self, model: Path, log: Path) -> None:
        self.model = model
        self.log = log
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def begin(self) -> None:
        """Start the process, without waiting until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [PYTHON, "-m", "vllm.entrypoints.openai.api_server", *self._options()],
                env=os.environ | ENVIRONMENT,
                cwd=self.model.parent,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _options(self) -> list[str]:
        options = {
            "model": self.model,
            "served-model-name": MODEL,
            "dtype": "float32",
            "max-model-len": MAX_MODEL_LEN,
            "max-num-seqs": 64,
            "host": "127.0.0.1",
            "port": self.port,
        }
        named = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return [*named, "--enforce-eager"]

    def wait(self) -> None:
        """Until it answers. Raises RuntimeError with the end of its log where it never does."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError(f"vLLM ended with {self.process.returncode}:\n{self.tail()}")
            try:
                urllib.request.urlopen(f"{self.address}/health", timeout=5).close()
            except OSError:
                time.sleep(0.3)
            else:
                return
        self.kill()
        raise RuntimeError(f"vLLM did not answer within {PATIENCE} s:\n{self.tail()}")

    def start(self) -> None:
        self.begin()
        self.wait()

    def kill(self) -> None:
        """SIGKILL to the whole group: the process that computes is a child of the one that answers."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        self.process = None

    def tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-40:])
