"""Command judge_worker: work on runs started in the browser or over the API."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command

from annotation.management.base import SiteCommand
from judging.execution.background import QUEUE, Background
from judging.execution.leases import worker_name


class Command(SiteCommand):
    help = "Work at judge runs and writings until stopped. Start as many as there is work for, anywhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--interval", type=float, default=1.0, help="seconds between looks")
        parser.add_argument("--batch", action="store_true", help="end when nothing is left to do")

    def handle(self, *args: Any, **options: Any) -> None:
        for run in (run for kind in Background.registered for run in kind.revive_all()):
            self.stdout.write(f"{run.display_name} goes on")
        call_command("prune_db_task_results", queue_name=QUEUE, verbosity=0)
        if options["verbosity"]:
            self.stdout.write(f"worker {worker_name()} waits for runs")
        call_command(
            "db_worker",
            queue_name=QUEUE,
            interval=options["interval"],
            batch=options["batch"],
            verbosity=options["verbosity"],
        )
