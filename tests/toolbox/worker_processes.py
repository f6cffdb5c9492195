"""Worker processes that tests kill, forked from a server that has loaded the site.

Each by itself would load it for a second or two. They are processes like any other, with a connection of their
own. That a shell can start the commands is tested where `tests.judging.engine.processes.manage` starts them.
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
forks.set_forkserver_preload(["tests.toolbox.preload"])


def start(function: Callable, *arguments: Any, **changed: Any) -> BaseProcess:
    """Run the function in another process, on the database of this test.

    The test must have committed. `changed` are settings that differ there. `process.kill()` is kill -9.
    """
    context = connection.settings_dict["NAME"], changed
    process = forks.Process(target=_at_work, args=(context, function, arguments), daemon=True)
    process.start()
    return process


def _at_work(context: tuple[str, dict[str, Any]], function: Callable, arguments: tuple) -> None:
    from tests.toolbox import preload  # noqa: F401, PLC0415 - where it was not loaded before, it is now

    connection.settings_dict["NAME"], changed = context
    for name, value in changed.items():
        setattr(settings, name, value)
    function(*arguments)


def command(log_path: Path, *arguments: str) -> None:
    """Run a command of manage.py, with its output in a file; for `start`."""
    with log_path.open("a", buffering=1) as file, ExitStack() as stack:
        stack.enter_context(redirect_stdout(file))
        stack.enter_context(redirect_stderr(file))
        call_command(*arguments)
