"""A file of requests through vLLM's own run-batch, and its replies back."""

import os
import subprocess

from tests.toolbox.empty_site import manage
from tests.vllm.material import SLUG
from tests.vllm.server import (
    MAX_MODEL_LEN,
    MODEL,
    ONE_PROCESS_BACKEND,
    ONE_PROCESS_ENGINE,
    PYTHON,
)

PAIRS = 40


def run_batch(model, requests, replies) -> None:
    """Run the command of docs/fleet.md, for a model that CPUs can serve."""
    done = subprocess.run(
        [
            *(PYTHON, "-m", "vllm.entrypoints.openai.run_batch"),
            *("-i", requests, "-o", replies, "--model", model, "--served-model-name", MODEL),
            *("--dtype", "float32", "--max-model-len", str(MAX_MODEL_LEN), "--enforce-eager"),
            *("--distributed-executor-backend", ONE_PROCESS_BACKEND),
        ],
        env=os.environ | ONE_PROCESS_ENGINE,
        cwd=model.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4_000:]


def test_file_goes_through_run_batch_and_comes_back_once(site, server, tiny_model, tmp_path):
    env, rows = site
    code = f"from tests.vllm.material import *; study({server.address!r})"
    manage(env, "shell", "-v0", "-c", code)
    folder = tmp_path / "job"
    selection = ("--topics", "t0", "--limit", str(PAIRS))
    manage(
        env,
        "judge_export",
        SLUG,
        "--judge",
        "tiny",
        "--out",
        str(folder),
        "--batch",
        "vllm",
        *selection,
    )
    [requests] = folder.glob("requests-*.jsonl")
    assert len(requests.read_text().splitlines()) == PAIRS
    run_batch(tiny_model, requests, folder / "replies.jsonl")
    for _ in range(2):  # the second time there is nothing new in it
        manage(env, "judge_import", SLUG, str(folder))
        assert rows("select count(*) from judging_attempt where counts") == [(PAIRS,)]
    assert rows("select state from judging_judgerun") == [("finished",)]
    assert rows("select count(*) from judging_attempt where state = 'error'") == [(0,)]
    grades = {grade for (grade,) in rows("select distinct grade from annotation_rating")}
    assert len(grades) > 1
    assert rows("select count(*) from judging_attempt where label_mass < 0.5") == [(0,)]
