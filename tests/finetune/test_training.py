"""A training: what it learns, what it keeps, and that it does not matter who killed it."""

import os
import signal
import subprocess
import sys
import time

import pytest
from django.core.management import CommandError

from bench.serving import ROOT
from building.tuning.adapter import adapter_hash
from tests.finetune.conftest import BY_HEART, train
from tests.toolbox.training_lines import LINES, as_file

SHORT = {"rank": 4, "epochs": 6, "batch": 2, "learning_rate": 0.01, "held_out": 0.5}
TIMEOUT = 300  # seconds until a test gives up waiting


@pytest.fixture(scope="module")
def short(lines, tiny_model, tmp_path_factory):
    return train(lines, tiny_model, tmp_path_factory.mktemp("short") / "adapter", **SHORT)


def test_loss_falls(by_heart):
    losses = by_heart.record["losses"]
    assert len(losses["trained"]) == 150
    assert losses["trained"][0] > 2
    assert losses["trained"][-1] < 0.2
    assert losses["held_out"] == {"value": None, "reason": "no context is held out"}


def test_record_has_all_that_decides(short, lines, tiny_model):
    record = short.record
    assert record["adapter"] == adapter_hash(short.folder)
    counts = {name: value for name, value in record["lines"].items() if name != "sha256"}
    assert counts == {
        "n": 6,
        "contexts": 2,
        "trained_on": 3,
        "held_out": 3,
        "contexts_held_out": 1,
        "left_out_as_too_long": [],
    }
    assert record["base"]["name"] == str(tiny_model)
    assert len(record["base"]["sha256"]) == 64
    # "<" is not in the tokenizer, so that no mark is.
    assert record["marks"]["<a>"] == "<extra_id_0>"
    assert {name: record["options"][name] for name in SHORT} == SHORT
    assert set(record["versions"]) == {"python", "torch", "transformers", "peft"}
    # 3 lines in batches of 2 are 2 steps an epoch; the held out context is looked at before them all.
    assert record["steps"] == 12
    assert [len(record["losses"][name]) for name in ("trained", "held_out")] == [6, 7]
    assert set(short.files()) == {
        "adapter_config.json",
        "adapter_model.safetensors",
        "training.json",
    }


def test_same_seed_gives_the_same_files_and_another_one_others(short, lines, tiny_model, tmp_path):
    assert train(lines, tiny_model, tmp_path / "again", **SHORT).files() == short.files()
    second = train(lines, tiny_model, tmp_path / "other", **SHORT, seed=1)
    assert second.record["adapter"] != short.record["adapter"]


def test_finished_training_is_unchanged_and_blocks_others(short, lines, tiny_model, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in short.folder.iterdir()}
    assert train(lines, tiny_model, short.folder, **SHORT).record == short.record
    assert {path: path.stat().st_mtime_ns for path in short.folder.iterdir()} == before
    with pytest.raises(CommandError) as refused:
        train(lines, tiny_model, short.folder, **SHORT | {"rank": 8})
    assert "holds another training: options.alpha: 8 there, 16 asked for; " in str(refused.value)
    with pytest.raises(CommandError, match=r"lines.n: 6 there, 5 asked for"):
        train(as_file(tmp_path, LINES[1:]), tiny_model, short.folder, **SHORT)


class Command:
    """`manage.py finetune` in a process of its own."""

    def __init__(self, lines, model, folder, options):
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        self.log = folder.parent / "log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "tests/finetune/with_ours.py", "manage.py", "finetune"),
                    *(str(lines), "--model", str(model), "--out", str(folder), *arguments),
                    *("--checkpoint-every", "7"),
                ],
                env=os.environ | {"VAR_DIR": str(folder.parent), "OMP_NUM_THREADS": "1"},
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )

    def kill_when(self, is_so):
        until = time.monotonic() + TIMEOUT
        while not is_so():
            if self.process.poll() is not None or time.monotonic() > until:
                pytest.fail(f"it ended, or never came so far:\n{self.log.read_text()[-4_000:]}")
            time.sleep(0.01)
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait(20) == -signal.SIGKILL

    def end(self):
        assert self.process.wait(TIMEOUT) == 0, self.log.read_text()[-4_000:]


def test_killed_twice_it_gives_the_same_files_as_if_it_had_not_been(
    by_heart, lines, tiny_model, tmp_path
):
    folder = tmp_path / "adapter"
    saved = folder / "checkpoint.pt"
    Command(lines, tiny_model, folder, BY_HEART).kill_when(saved.exists)
    first = saved.stat().st_mtime_ns
    second = Command(lines, tiny_model, folder, BY_HEART)
    second.kill_when(lambda: saved.stat().st_mtime_ns != first)
    assert not (folder / "training.json").exists()
    # Nobody else goes on with it.
    with pytest.raises(CommandError, match=r"that has not ended, and another: options.epochs: 150"):
        train(lines, tiny_model, folder, **BY_HEART | {"epochs": 151})
    last = Command(lines, tiny_model, folder, BY_HEART)
    last.end()
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    assert files == by_heart.files()
    assert "Epoch 150: loss" in last.log.read_text()
    assert last.log.read_text().count("Epoch 1: loss") == 1


def test_torn_checkpoint_is_said(lines, tiny_model, tmp_path):
    (tmp_path / "checkpoint.pt").write_bytes(b"torn")
    with pytest.raises(CommandError, match="without it the training begins again"):
        train(lines, tiny_model, tmp_path, **SHORT)


def test_lines_that_are_too_long_are_left_out_and_told(lines, tiny_model, tmp_path):
    # Nine tokens to read each; nine to thirteen to write: lines 2, 3 have 13 and 11.
    trained = train(lines, tiny_model, tmp_path / "a", **SHORT | {"held_out": 0.0}, max_output=10)
    assert trained.record["lines"]["left_out_as_too_long"] == [2, 3]
    assert trained.record["lines"]["trained_on"] == 4
    with pytest.raises(CommandError, match="No line is left to train on: each has more than 5"):
        train(lines, tiny_model, tmp_path / "b", **SHORT, max_input=5)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "cannot be loaded as an encoder-decoder"),
        ({"config.json": '{"model_type": "gpt2"}'}, "cannot be loaded as an encoder-decoder"),
    ],
)
def test_invalid_base_model_is_reported(files, message, lines, tmp_path):
    (tmp_path / "model").mkdir()
    for name, content in files.items():
        (tmp_path / "model" / name).write_text(content)
    with pytest.raises(CommandError, match=message):
        train(lines, tmp_path / "model", tmp_path / "out", **SHORT)
    assert not (tmp_path / "out").exists()
