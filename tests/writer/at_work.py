"""`manage.py write` in child processes that are killed at work."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.toolbox.paths import ROOT
from tests.writer.material import SLUG
from tests.writer.site import Site

CONCURRENCY = 2
TIMEOUT = 900  # seconds until a test gives up waiting
TABLE = pytest.StashKey[list[str]]()


@dataclass
class Evidence:
    """Evidence of one generation run.

    `in_flight` are how many orders a worker held at each of its deaths; `sent` how many messages the
    server was asked. `before` and `after` are what was in the collection then.
    """

    task: str
    before: tuple[int, ...]
    run: int = 0
    in_flight: list[int] = field(default_factory=list)
    server_deaths: int = 0
    progress: dict[str, Any] = field(default_factory=dict)
    sent: int = 0
    after: tuple[int, ...] = ()
    seconds: float = 0
    accepted: str = ""

    @property
    def deaths(self) -> int:
        return len(self.in_flight) + self.server_deaths


class Worker:
    """A `manage.py write`; its `words` say whether it begins a writing or joins one."""

    def __init__(self, site: Site, *arguments: str) -> None:
        self.site = site
        self.log = site.folder / "workers.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "write", SLUG, *arguments],
                env=site.env,
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Until it is so, and this worker is in the middle of an order."""
        until = time.monotonic() + TIMEOUT
        while not (is_so() and self.n_held()):
            if self.process.poll() is not None:
                pytest.fail(f"a worker ended by itself:\n{self.log_text()}")
            if time.monotonic() > until:
                pytest.fail(f"after {TIMEOUT} s still waiting:\n{self.log_text()}")
            time.sleep(0.1)

    def n_held(self) -> int:
        """Count the orders that are leased to the worker."""
        leased = self.site.table("building_order", state="leased")
        return sum(order["owner"].endswith(f":{self.process.pid}") for order in leased)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(20)

    def end(self) -> None:
        assert self.process.wait(TIMEOUT) == 0, self.log_text()

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")[-4_000:]


def written(
    site: Site,
    task: str,
    *arguments: str,
    kill_at: Sequence[int] = (),
    kill_server_at: Sequence[int] = (),
) -> Evidence:
    """Complete a generation run; kill its worker or server at given numbers of drafts."""
    began = time.monotonic()
    evidence = Evidence(task, site.in_collection())
    newest = site.newest_writing()
    site.proxy.sent.clear()
    endpoint = ("--endpoint", f"{site.proxy.address}/v1", "--concurrency", str(CONCURRENCY))
    worker = Worker(site, "--task", task, *arguments, *endpoint)
    try:
        for mark in sorted([*kill_at, *kill_server_at]):
            worker.wait_until(lambda mark=mark: has_written(site, newest, mark))
            if mark in kill_server_at:
                site.server.kill()
                site.server.start()
                evidence.server_deaths += 1
            else:
                worker.kill()
                evidence.in_flight.append(worker.n_held())
                worker = Worker(site, "--join", str(site.newest_writing()))
        worker.end()
    finally:
        worker.kill()
    evidence.run = site.newest_writing()
    evidence.progress = json.loads(
        site.manage("write", SLUG, "--join", str(evidence.run), "--json")
    )
    evidence.sent = sum(n for digest, n in site.proxy.sent.items() if digest)
    evidence.after = site.in_collection()
    evidence.seconds = time.monotonic() - began
    return evidence


def has_written(site: Site, since: int, number: int) -> bool:
    """Return whether the run that was created after `since` has so many drafts."""
    run = site.newest_writing()
    return run > since and len(site.drafts(run)) >= number


def accept(site: Site, evidence: Evidence) -> None:
    """All that was written, unseen."""
    evidence.accepted = site.manage("write", SLUG, "--join", str(evidence.run), "--accept-all")


def table(site: Site, writings: Sequence[Evidence]) -> list[str]:
    """Format a line per run: orders, drafts, tokens, and failures."""
    heads = "task orders drafts sent deaths fine failed products tokens-in tokens-out seconds"
    rows = [heads.split()]
    kinds: dict[str, Counter[str]] = {}
    for evidence in writings:
        progress = evidence.progress
        numbers = (
            *(progress["planned"], progress["drafts"], evidence.sent, evidence.deaths),
            *(progress["done"] - progress["failed"], progress["failed"], progress["products"]),
            *(progress["prompt_tokens"], progress["completion_tokens"], round(evidence.seconds)),
        )
        rows.append([evidence.task, *(f"{number:,}" for number in numbers)])
        failures = (draft["failure"] for draft in site.drafts(evidence.run))
        kinds[evidence.task] = Counter(failure or "as asked for" for failure in failures)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.rjust, row, widths)) for row in rows]
    for task, counted in kinds.items():
        counts = ", ".join(f"{kind} {n}" for kind, n in counted.most_common())
        lines.append(f"drafts of {task}: {counts}")
    texts, questions, citations = site.in_collection()
    lines.append(f"in the collection: {texts} texts, {questions} questions, {citations} citations")
    return lines
