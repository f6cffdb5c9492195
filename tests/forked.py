"""Processes that tests kill, forked off one that has loaded the site.

Each by itself would load it for a second or two. They are processes like any other, with a connection of their
own. That a shell can start the commands is shown where `tests.judging.engine.processes.manage` starts them.
"""

import multiprocessing
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["tests.loaded"])


def start(function: Callable, *arguments: Any, **changed: Any) -> BaseProcess:
    """The function at work in a process of its own, on the database of this test, which must have committed.

    `changed` are settings that are others there. `process.kill()` is kill -9.
    """
    there = connection.settings_dict["NAME"], changed
    process = forks.Process(target=_at_work, args=(there, function, arguments), daemon=True)
    process.start()
    return process


def _at_work(there: tuple[str, dict[str, Any]], function: Callable, arguments: tuple) -> None:
    from tests import loaded  # noqa: F401, PLC0415 - where it was not loaded before, it is now

    connection.settings_dict["NAME"], changed = there
    for name, value in changed.items():
        setattr(settings, name, value)
    function(*arguments)


def command(said: Path, *arguments: str) -> None:
    """For `start`: a command of manage.py, which says all it says into a file."""
    with said.open("a", buffering=1) as file, ExitStack() as stack:
        stack.enter_context(redirect_stdout(file))
        stack.enter_context(redirect_stderr(file))
        call_command(*arguments)
