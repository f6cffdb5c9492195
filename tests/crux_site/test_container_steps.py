"""The steps of Dockerfile and compose.yaml in a plain folder: what a container would do.

An engine for containers is not needed. Not run: the base images, the user of the image, and the services of the
compose file together.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from bench.ports import free_port
from tests.toolbox.clock import HANGS, wait_for_server
from tests.toolbox.paths import ROOT

UV = shutil.which("uv") or shutil.which(str(ROOT / ".uv" / "bin" / "uv"))
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
CODE, DATA = "/srv/crux", "/var/lib/crux"
SETTINGS = {
    "SECRET_KEY": "of-this-test-" * 5,
    "JUDGE_SECRET_KEYS": f"{'A' * 43}=",
    "HTTPS": "0",
    "ALLOWED_HOSTS": "127.0.0.1",
}

pytestmark = [
    pytest.mark.any_database,
    pytest.mark.soak,
    pytest.mark.skipif(not UV, reason="NOT BUILT: there is no uv here"),
]


@dataclass
class Image:
    """An image as two folders, with its environment and command."""

    code: Path
    data: Path
    env: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)

    def local(self, value: str) -> str:
        """Return a value of the Dockerfile with the folders of this test."""
        return value.replace(CODE, str(self.code)).replace(DATA, str(self.data))

    def environment(self, **more: str) -> dict[str, str]:
        base = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        path = f"{self.code}/.venv/bin:{Path(str(UV)).parent}:{os.environ['PATH']}"
        return base | self.env | {"PATH": path} | more

    def run(self, command: list[str], **more: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            command,
            cwd=self.code,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=HANGS,
            check=False,
        )


def included_files() -> list[str]:
    """Return the files of the repository that .dockerignore lets through."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    included = [line[1:] for line in lines if line.startswith("!")]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *included],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def copy(image: Image, names: list[str]) -> None:
    for name in names:
        (image.code / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, image.code / name)


def step(image: Image, name: str, arguments: str) -> None:
    """Carry out an instruction of the Dockerfile."""
    match name:
        case "ENV":
            pairs = [pair.partition("=") for pair in arguments.split()]
            image.env |= {key: image.local(value) for key, _, value in pairs}
            image.env.pop("UV_COMPILE_BYTECODE", None)  # takes longer than all other steps
        case "COPY" if arguments == ". .":
            copy(image, included_files())
        case "COPY" if not arguments.startswith("--from"):
            copy(image, arguments.split()[:-1])
        case "WORKDIR" | "FROM" | "USER" | "EXPOSE" | "COPY":
            pass
        case "RUN" if not arguments.startswith("useradd"):
            # With the cache of this machine: a container begins without one.
            line = image.local(arguments).replace(" --no-cache", "")
            done = image.run(["sh", "-c", line])
            assert done.returncode == 0, f"{line}: {done.stderr}"
        case "CMD":
            image.command = json.loads(arguments)
        case "RUN":
            assert arguments.startswith("useradd")
        case _:
            raise AssertionError(f"{name} is an instruction that this test does not know")


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Image:
    """Carry out the Dockerfile in an empty folder."""
    folder = tmp_path_factory.mktemp("image")
    image = Image(folder / "code", folder / "data")
    image.code.mkdir()
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    for line in text.replace("\\\n", "").splitlines():
        if line.strip():
            name, _, arguments = line.partition(" ")
            step(image, name, arguments.strip())
    return image


def test_image_has_the_code_and_no_key(image):
    names = {path.name for path in image.code.iterdir()}
    assert {"manage.py", "templates", "annotation", ".venv"} <= names
    assert not {"tests", ".git", "var", ".env"} & names
    assert {path.name for path in image.data.iterdir()} == {"static", "uploads", "archive"}


def test_services_run_as_in_the_compose_file(image):
    """Migrate, then the site with its health check, a worker, and the scheduled commands."""
    port = str(free_port())
    migrated = image.run(SERVICES["migrate"]["command"], **SETTINGS)
    assert migrated.returncode == 0, migrated.stderr
    command = [port if part == "8000" else part for part in image.command]
    command = ["127.0.0.1" if part == "0.0.0.0" else part for part in command]  # noqa: S104 - replaced
    options = {
        "cwd": image.code,
        "env": image.environment(**SETTINGS),
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
    }
    site = subprocess.Popen(command, **options)
    worker = subprocess.Popen(SERVICES["worker"]["command"], **options)
    try:
        wait_for_server(f"http://127.0.0.1:{port}/healthz/")
        check = [part.replace("8000", port) for part in SERVICES["site"]["healthcheck"]["test"][1:]]
        checked = image.run(check)
        assert checked.returncode == 0, checked.stderr
        with urlopen(f"http://127.0.0.1:{port}/login/", timeout=HANGS) as page:
            (icon,) = re.findall(r'rel="icon" href="([^"]+)"', page.read().decode())
        with urlopen(f"http://127.0.0.1:{port}{icon}", timeout=HANGS) as file:
            assert b"<svg" in file.read()
        scheduled = re.findall(r"python manage\.py \w+", SERVICES["expire"]["command"][-1])
        for line in scheduled:
            done = image.run(line.split(), **SETTINGS)
            assert done.returncode == 0, f"{line}: {done.stderr}"
        assert len(scheduled) == 2
        assert worker.poll() is None, worker.communicate()[0]
    finally:
        for process in (worker, site):
            process.send_signal(signal.SIGTERM)
        outputs = [process.communicate(timeout=HANGS)[0] for process in (worker, site)]
    assert worker.returncode == 0, outputs[0]
    assert "Traceback" not in "".join(outputs)


def test_services_get_all_keys_from_the_settings():
    """A key that a container makes is lost with it."""
    environment = SERVICES["site"]["environment"]
    for name in ("SECRET_KEY", "JUDGE_SECRET_KEYS"):
        assert environment[name] == f"${{{name}:?is missing in .env}}"
