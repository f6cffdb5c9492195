"""A real vLLM server, and the tiny model that it serves."""

import os
import subprocess
from pathlib import Path

from tests.toolbox.model_process import ModelProcess
from tests.toolbox.paths import ROOT

PYTHON = os.environ.get("VLLM_PYTHON", "")  # make test-vllm names it
MODEL = "tiny"
MAX_MODEL_LEN = 2_048
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TORCHDYNAMO_DISABLE": "1",  # else the first reply waits half a minute for a compiler
}
# The engine starts no process for its worker, which would import torch once more. vLLM permits that on CPUs
# only with this variable.
ONE_PROCESS_ENGINE = ENVIRONMENT | {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
ONE_PROCESS_BACKEND = "uni"


def make_model(folder: Path) -> None:
    """The tiny model, written by vLLM's own Python. Raises RuntimeError with what that said."""
    completed = subprocess.run(
        [PYTHON, ROOT / "tests" / "vllm" / "tiny_model.py", folder],
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if completed.returncode:
        raise RuntimeError(f"the tiny model could not be made:\n{completed.stderr[-4_000:]}")


class VllmServer(ModelProcess):
    """The OpenAI-compatible server of vLLM."""

    name = "vLLM"
    environment = ONE_PROCESS_ENGINE

    def __init__(self, model: Path, log: Path) -> None:
        super().__init__(log)
        self.model = model

    def command(self) -> list[str]:
        options = {
            "model": self.model,
            "served-model-name": MODEL,
            "dtype": "float32",
            "max-model-len": MAX_MODEL_LEN,
            "max-num-seqs": 64,
            "distributed-executor-backend": ONE_PROCESS_BACKEND,
            "host": "127.0.0.1",
            "port": self.port,
        }
        flags = [
            argument for name, value in options.items() for argument in (f"--{name}", str(value))
        ]
        return [PYTHON, "-m", "vllm.entrypoints.openai.api_server", *flags, "--enforce-eager"]
