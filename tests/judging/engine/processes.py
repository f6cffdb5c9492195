"""Separate processes on a test database: commands, workers, and a server that judges."""

import os
import signal
import subprocess
import sys

from judging import mock_model
from judging.grading import prompts
from judging.models import Judge, JudgeRun
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
