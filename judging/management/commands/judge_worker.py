"""manage.py judge_worker: work on runs of models that are started in the browser or over the API."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from judging.engine.background import QUEUE, Background
from judging.engine.leases import worker_name


class Command(BaseCommand):
    help = "Work at judge runs and writings until stopped. Start as many as there is work for, anywhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--interval", type=float, default=1.0, help="seconds between looks")
        parser.add_argument("--batch", action="store_true", help="end when nothing is left to do")

    def handle(self, *args: Any, **options: Any) -> None:
        for run in (run for kind in Background.ALL for run in kind.revive_all()):
            self.stdout.write(f"{run.called} goes on")
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
