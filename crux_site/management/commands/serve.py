"""manage.py serve: the site, a worker of judge runs, and the demo's mock model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from annotation.management.base import SiteCommand
from crux_site.demo.people import PASSWORD
from crux_site.login import first_admin_token
from crux_site.port_check import port_problem

STOP_SECONDS = 30  # that a server has for the requests that it is answering
CROWD_LINK = "start/demo-crowd/?PROLIFIC_PID=c0ffeec0ffeec0ffeec0ffee"


class Command(SiteCommand):
    help = "Serve the site with a worker of judge runs, until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", default="8000")
        parser.add_argument("--no-worker", action="store_true", help="workers run elsewhere")
        parser.add_argument(
            "--demo", action="store_true", help="offer the demo's log-ins, and a mock model"
        )
        parser.add_argument(
            "--fill", action="store_true", help="create the database and the demo's data first"
        )
        parser.add_argument("--model-port", default="8801", help="port of the mock model")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        self._check(host, port, "port")
        python, environment = sys.executable, dict(os.environ)
        commands = []
        if options["demo"]:
            model_port = options["model_port"]
            self._check("127.0.0.1", model_port, "model-port")
            environment["DEMO"] = "1"
            environment["JUDGE_ENDPOINTS"] = with_mock_model(
                environment.get("JUDGE_ENDPOINTS", ""), model_port
            )
            commands.append([python, "-m", "building.writing.mock_model", "--port", model_port])
        if options["fill"]:
            call_command("migrate", verbosity=0)
            call_command("demo", stdout=self.stdout)
        if not options["no_worker"]:
            commands.append([python, "manage.py", "judge_worker", "--verbosity", "0"])
        without_accounts = self._is_without_accounts()
        self._collect_static_files()
        server = [str(Path(python).with_name("granian")), "--interface", "wsgi", "--host", host]
        server += ["--port", port, "--blocking-threads", "4", "--log-level", "warning"]
        commands.append([*server, "crux_site.wsgi:application"])
        for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have SIGINT ignored
            signal.signal(number, signal.default_int_handler)
        with suppress(KeyboardInterrupt), ExitStack() as stack:
            processes = [stack.enter_context(_process(line, environment)) for line in commands]
            self._print_addresses(
                host, port, is_demo=options["demo"], without_accounts=without_accounts
            )
            self._wait(processes)

    def _check(self, host: str, port: str, option: str) -> None:
        if problem := port_problem(host, port):
            message = f"Not started: {problem}, or take another port with --{option} NUMBER."
            raise CommandError(message)

    def _is_without_accounts(self) -> bool:
        try:
            return first_admin_token.is_site_empty()
        except DatabaseError as error:
            reason = " ".join(str(error).split()).removesuffix(".")
            message = f"Not started: {reason}. Run migrate, or correct DATABASE_URL."
            raise CommandError(message) from error

    def _collect_static_files(self) -> None:
        try:
            call_command("collectstatic", interactive=False, verbosity=0)
        except OSError as error:  # full, read-only, or of another user
            message = (
                f"Not started: static files cannot be written to {settings.STATIC_ROOT}: {error}."
            )
            raise CommandError(message) from error

    def _print_addresses(
        self, host: str, port: str, *, is_demo: bool, without_accounts: bool
    ) -> None:
        address = f"http://{host}:{port}/"
        lines = [f"Crux workbench   {address}"]
        if without_accounts:
            lines.append(f"first admin      {first_admin_token.first_admin_url(address)}")
        elif is_demo:
            lines += [
                "log in as        admin, researcher, worker1 or worker2",
                f"password         {PASSWORD}",
                f"as a crowdworker {address}{CROWD_LINK}",
            ]
        lines.append("stop with        Ctrl-C")
        self.stdout.write("\n" + "".join(f"  {line}\n" for line in lines))
        self.stdout.flush()

    def _wait(self, processes: list[subprocess.Popen[bytes]]) -> None:
        """Wait until a process ends. Raises CommandError if none of us stopped it."""
        while all(process.poll() is None for process in processes):
            time.sleep(0.2)
        ended = next(process for process in processes if process.poll() is not None)
        command = " ".join(map(str, ended.args)) if isinstance(ended.args, list) else ""
        raise CommandError(f"A process ended with status {ended.returncode}: {command}")


def with_mock_model(endpoints: str, port: str) -> str:
    """Return JUDGE_ENDPOINTS with the mock model of the demo, unless it has that name."""
    if any(entry.startswith("stand-in=") for entry in endpoints.split()):
        return endpoints
    return f"{endpoints} stand-in=http://127.0.0.1:{port}/v1".strip()


@contextmanager
def _process(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program of ours in the program's folder, and end it with this block."""
    process = subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment)  # noqa: S603
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
