"""A tiny encoder-decoder, and an adapter that memorized six lines, for all tests here.

They need the environment that `make test-finetune` builds, and are skipped, aloud, in `make test`.
"""

import io
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.toolbox.training_lines import LINES, as_file

FOLDER = f"{Path(__file__).parent}/"  # as words: every test of all is asked, and a path is slow to answer
HAS_PACKAGES = all(map(find_spec, ("torch", "transformers", "peft")))
# What makes the tiny model know the lines: many epochs, and an adapter that is large for it.
BY_HEART = {"rank": 32, "epochs": 150, "batch": 6, "learning_rate": 0.01, "held_out": 0.0}


def pytest_collection_modifyitems(items):
    for item in items:
        if str(item.path).startswith(FOLDER):
            if not HAS_PACKAGES:
                item.add_marker(pytest.mark.skip(reason="a training: `make test-finetune` runs it"))
            item.add_marker(pytest.mark.soak)


@dataclass
class Trained:
    """A folder with an adapter; `record` is what the command told of it as JSON."""

    folder: Path
    record: dict[str, Any]

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}


def train(lines: Path, model: Path, folder: Path, **options: Any) -> Trained:
    out = io.StringIO()
    defaults = {"model": str(model), "out": folder, "json": True}
    call_command("finetune", str(lines), **defaults, **options, stdout=out, stderr=io.StringIO())
    return Trained(folder, json.loads(out.getvalue()))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> Path:
    from tests.finetune.tiny_model import make_model  # noqa: PLC0415 - it needs torch

    return make_model(tmp_path_factory.mktemp("finetune") / "tiny")


@pytest.fixture(scope="session")
def lines(tmp_path_factory) -> Path:
    return as_file(tmp_path_factory.mktemp("lines"), LINES)


@pytest.fixture(scope="session")
def by_heart(lines, tiny_model, tmp_path_factory) -> Trained:
    return train(lines, tiny_model, tmp_path_factory.mktemp("by-heart") / "adapter", **BY_HEART)
