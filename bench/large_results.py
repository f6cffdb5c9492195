"""Benchmark of all result pages of a large study against one with a tenth of it.

    make bench-results    # or python -m bench.large_results [--topics 500] [--tenth 50] [--systems 50]

Two sites on SQLite, each in one process of granian: one has 500 topics with 50 systems and 504,000 ratings,
the other 50 topics with as many systems. Each page is fetched first with nothing kept, and then three times
more; its rows are counted (those of tables, and items of lists). Then Chromium opens the pages of the large
one, beside a page of one heading, and says when it first painted.

Goals: a page that was opened before takes under three times its time in the small study for the rows that it
shows (time / time over rows / rows); the first look, which reads all ratings there are, under one and a half
times for each of them; the first paint of no page that was opened before takes five times that of the
heading's; the server stays below 1,500 MB. Exits with 1 where one is missed.
"""

import argparse
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from bench.serving import PREPARE, ROOT, Server, new_sqlite
from tests.toolbox.served_site import CHROMIUM, launched

OVER_SHARE, OVER_RATINGS, OVER_HEADING, MEMORY = 3.0, 1.5, 5.0, 1500
REPEATS = 3
HEADING = b"<!doctype html><html lang=en><title>One</title><h1>One heading</h1>"
ROW = re.compile(r"<(?:tr|li)[\s>]")
PAINTED = """() => new Promise(done => new PerformanceObserver(list => done(list.getEntries()[0].startTime))
  .observe({type: 'paint', buffered: true}))"""


@dataclass
class Page:
    """Timings of a page: seconds without caches, median seconds afterwards, and its rows."""

    status: int
    cold: float
    warm: float
    rows: int


class Site:
    """Study with a number of topics, served by one process."""

    def __init__(
        self, folder: Path, topics: int, systems: int, people: int = 0, url: str = ""
    ) -> None:
        self.folder = folder
        self.env = os.environ | {
            "VAR_DIR": str(folder),
            "DATABASE_URL": url or new_sqlite(folder / "crux.sqlite3"),
            "DJANGO_SETTINGS_MODULE": "crux_site.settings",
            "PYTHONPATH": str(ROOT),
        }
        material = "from bench.large_results_material import addresses, make\n"
        output = "import json; print(json.dumps(addresses()))"
        code = f"{PREPARE}\n{material}make({topics}, {systems}, {people})\n{output}"
        manage = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
        process = subprocess.run(manage, env=self.env, cwd=ROOT, check=True, stdout=subprocess.PIPE)
        self.pages: dict[str, str] = json.loads(process.stdout.splitlines()[-1])
        self.session = json.loads((folder / "session.json").read_text())
        self.server = Server(self.env, workers=1)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def fetched(self, path: str) -> Page:
        status, first, rows = self.fetch_once(path)
        return Page(status, first, median(self.fetch_once(path)[1] for _ in range(REPEATS)), rows)

    def fetch_once(self, path: str) -> tuple[int, float, int]:
        """Fetch a page; return its status, seconds and number of rows."""
        # With the numbers: of a large study only the frame would come.
        address = f"{self.address}{path}{'&' if '?' in path else '?'}whole=1"
        request = urllib.request.Request(address, headers={"Cookie": f"sessionid={self.session}"})
        began = time.perf_counter()
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                status, body = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, body = error.code, ""
        return status, time.perf_counter() - began, len(ROW.findall(body))

    def memory(self) -> int:
        """Return the peak memory in MB of the largest process of the server."""
        group = self.server.process.pid
        peaks = [0]
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if os.getpgid(int(folder.name)) == group:
                    match = re.search(r"VmHWM:\s+(\d+)", (folder / "status").read_text())
                    peaks.append(int(match[1]) // 1024 if match else 0)
            except OSError:  # it has ended meanwhile
                continue
        return max(peaks)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--topics", type=int, default=500)
    parser.add_argument("--tenth", type=int, default=50)
    parser.add_argument("--systems", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as base:
        sites = []
        for topics in (options.tenth, options.topics):
            folder = Path(base, str(topics))
            folder.mkdir()
            sites.append(Site(folder, topics, options.systems))
        missed = _fetch(*sites, options.topics / options.tenth)
        missed += _paint(sites[1])
    sys.exit(1 if missed else 0)


def smoke() -> str:
    """Fetch each page of a site with two topics, and paint one; see bench.smoke."""
    with tempfile.TemporaryDirectory(prefix="crux-bench-") as folder:
        site = Site(Path(folder), 2, 3)
        site.server.start()
        try:
            failed = [name for name, path in site.pages.items() if site.fetch_once(path)[0] != 200]
        finally:
            site.server.kill()
        if failed:
            sys.exit(f"These pages failed: {', '.join(failed)}.")
        n = len(site.pages)
        if not Path(CHROMIUM).exists():
            return f"{n} pages fetched; SKIPPED first paint: no Chromium at {CHROMIUM}"
        globals().update(REPEATS=1)
        site.pages = {"home": "/"}
        _paint(site)
    return f"{n} pages fetched, and one painted"


def _fetch(small: Site, large: Site, times: float) -> list[str]:
    """Print the table of page timings; return the names of missed goals.

    `times`: the ratio of the topics of both studies.
    """
    missed = []
    print(f"{'page':28}{'rows':>12}{'first, s':>16}{'then, s':>16}  ratios for their rows")
    for site in (small, large):
        site.server.start()
    try:
        for name in large.pages:
            small_page, large_page = (
                small.fetched(small.pages[name]),
                large.fetched(large.pages[name]),
            )
            share = max(1.0, large_page.rows / max(1, small_page.rows))
            ratios = (
                large_page.cold / small_page.cold / share,
                large_page.warm / small_page.warm / share,
            )
            is_fast = ratios[1] < OVER_SHARE and ratios[0] < OVER_RATINGS * times
            verdict = "" if is_fast else "  MISSED"
            verdict += (
                ""
                if (small_page.status, large_page.status) == (200, 200)
                else f"  {large_page.status}"
            )
            print(
                f"{name:28}{small_page.rows:6}{large_page.rows:6}{small_page.cold:8.2f}{large_page.cold:8.2f}"
                f"{small_page.warm:8.2f}{large_page.warm:8.2f}{ratios[0]:9.1f}{ratios[1]:6.1f}{verdict}",
                flush=True,
            )
            if verdict:
                missed.append(name)
        print(f"memory at the most: {small.memory()} and {large.memory()} MB")
        if large.memory() > MEMORY:
            missed.append("memory")
    finally:
        for site in (small, large):
            site.server.kill()
    return missed


def _paint(site: Site) -> list[str]:
    """Print the first paint of each page; return the names of missed goals.

    The goal is relative to the first paint of a page with one heading.
    """
    missed = []
    site.server.start()
    try:
        with sync_playwright() as playwright, _heading() as plain:
            browser = launched(playwright, CHROMIUM)
            heading = median(_painted(browser, site, plain) for _ in range(REPEATS))
            print(
                f"first paint of one heading: {heading:.0f} ms; of pages that were opened before:"
            )
            for name, path in site.pages.items():
                site.fetched(path)
                paint_ms = median(
                    _painted(browser, site, site.address + path) for _ in range(REPEATS)
                )
                late = paint_ms > OVER_HEADING * heading
                print(f"{name:28}{paint_ms:8.0f} ms{'  MISSED' if late else ''}", flush=True)
                if late:
                    missed.append(name)
            browser.close()
    finally:
        site.server.kill()
    return missed


def _painted(browser: Browser, site: Site, address: str) -> float:
    context = browser.new_context(viewport={"width": 1280, "height": 844})
    try:
        context.add_cookies([{"name": "sessionid", "value": site.session, "url": site.address}])
        page = context.new_page()
        page.goto(address)
        return page.evaluate(PAINTED)
    finally:
        context.close()


@contextmanager
def _heading():
    """Serve a page with one heading; yield its address."""

    class HeadingHandler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(HEADING)

        def log_message(self, *_: object) -> None:
            """Suppress request logging."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HeadingHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


if __name__ == "__main__":
    main()
