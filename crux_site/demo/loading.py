"""Loading of the demo from its page: `manage.py demo` in a process of its own.

It takes ten seconds of one core, which is long for a request.
"""

from pathlib import Path

from django.conf import settings

from annotation.models import Campaign
from crux_site.background_command import is_locked, start_command, try_lock
from crux_site.demo import crowd

FOLDER = Path(settings.MEDIA_ROOT) / "demo"
DONE = "done"  # the last line of its output
STEP = "  "  # before each step in the output of the command; its details have more


def is_loaded() -> bool:
    """Return whether the last thing that the command creates is there."""
    return Campaign.objects.filter(slug=crowd.SLUG).exists()


def is_at_work() -> bool:
    return FOLDER.exists() and is_locked(FOLDER / "lock")


def start() -> None:
    """Start the command, unless one is at work."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with try_lock(FOLDER / "lock") as lock:
        if lock is not None:
            with (FOLDER / "output.txt").open("wb") as output:
                start_command(lock, "demo", "--no-log-ins", stdout=output)


def steps() -> list[str]:
    """Return the steps that the command has begun; empty before the first start."""
    output = FOLDER / "output.txt"
    lines = output.read_text().splitlines() if output.exists() else []
    return [line.strip() for line in lines if line.startswith(STEP) and line[len(STEP)] != " "]


def is_interrupted(steps: list[str]) -> bool:
    """Return whether the command ended before its last step."""
    return bool(steps) and steps[-1] != DONE
