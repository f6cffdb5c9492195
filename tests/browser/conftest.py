"""Fixtures of the browser tests: one server and Chromium, a worker and profile a test."""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from bench.ports import free_port
from tests.toolbox.browser_texts import PASSWORD
from tests.toolbox.clock import HANGS, wait_for_server
from tests.toolbox.paths import ROOT
from tests.toolbox.run_files import run_folder
from tests.toolbox.served_site import (
    CHROMIUM,
    CHROMIUM_SHELL,
    USUAL_FONTS,
    Site,
    has_fonts,
    launched,
    served,
)

BROWSER_TESTS = (
    f"{Path(__file__).parent}/"  # a string: all tests are compared with it, and Path is slow
)

# Timeout of expectations: long, since a busy machine may be slow.
PATIENT = 120_000  # ms
SURROUNDINGS = {
    "locale": "en-US",
    "timezone_id": "UTC",
    "device_scale_factor": 1,
    "color_scheme": "light",
    "reduced_motion": "no-preference",
}
expect.set_options(timeout=PATIENT)
_workers = itertools.count(30)  # tests name the first 30


def pytest_collection_modifyitems(items):
    for item in items:
        if str(item.path).startswith(BROWSER_TESTS):
            item.add_marker(pytest.mark.browser)
    # Last: Playwright keeps an event loop running in this thread, and others could then start none.
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def site(tmp_path_factory, prepared):
    seed = "from tests.browser.seed import seed; seed()"
    base = tmp_path_factory.getbasetemp()
    shared = run_folder(base) / "seeded"
    with served(base / "site", seed, shared=shared, prepared=prepared) as running:
        yield running


@pytest.fixture(scope="session")
def browsers():
    """Start browsers on demand, one for each path and set of fonts."""
    running: dict[tuple[str, str], Browser] = {}

    def started(path: str, fonts: str) -> Browser:
        if not Path(path).exists():
            pytest.fail(f"{path} is not there: `make test` installs it on Debian as root")
        if (path, fonts) not in running:
            if not has_fonts(fonts):
                report = pytest.fail if fonts == USUAL_FONTS else pytest.skip
                report(f"NO fonts of the set {fonts}: `make test` installs them on Debian as root")
            running[path, fonts] = launched(playwright, path, fonts)
        return running[path, fonts]

    with sync_playwright() as playwright:
        yield started
        for browser in running.values():
            browser.close()


@pytest.fixture
def fonts() -> str:
    """Return the set of fonts that the browser has; a test may parametrize it."""
    return USUAL_FONTS


@pytest.fixture
def chromium(request, browsers, fonts) -> Browser:
    """Return the headless shell, or full Chromium for tests marked `whole_browser`."""
    whole = request.node.get_closest_marker("whole_browser")
    return browsers(CHROMIUM if whole else CHROMIUM_SHELL, fonts)


class Visitor:
    """Browser user who logs in, with all script errors of the visited pages."""

    def __init__(self, site: Site, context: BrowserContext, name: str) -> None:
        self.site = site
        self.context = context
        self.name = name
        self.errors: list[str] = []

    def open(self, path: str) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: line.type == "error" and self.errors.append(line.text))
        page.goto(self.site.url + path)
        return page

    def faults(self) -> list[str]:
        """Return the errors that are the site's.

        Left out is what htmx reports of a request that never ended because its page was left. An error
        response is reported as htmx:responseError, and an unreachable server by the browser itself.
        """
        abandoned = ("htmx:afterRequest", "htmx:sendAbort", "htmx:sendError")
        return [error for error in self.errors if not error.startswith(abandoned)]

    def enter(self) -> None:
        """Log in by a prepared session if one is left, else by the page."""
        keys = self.site.sessions.get(self.name)
        if not keys:
            self.log_in()
            return
        cookie = {"name": "sessionid", "value": keys.pop(), "url": self.site.url}
        self.context.add_cookies([{**cookie, "httpOnly": True, "sameSite": "Lax"}])

    def log_in(self) -> None:
        """Log in by the log-in page."""
        page = self.open("/login/")
        page.fill("#id_username", self.name)
        page.fill("#id_password", PASSWORD)
        page.click("main button")
        page.wait_for_url(lambda url: "login" not in url)
        page.close()


@pytest.fixture
def visit(site, chromium):
    """Return a function that opens a fresh profile, logged in: visit("rosa", width=390, ...).

    Location, language and screen of this machine have no effect: all are set here.
    """
    contexts = []
    visitors = []

    def start(name: str, *, width: int = 1280, height: int = 800, **options) -> Visitor:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, **(SURROUNDINGS | options)
        )
        context.set_default_timeout(PATIENT)
        contexts.append(context)
        visitor = Visitor(site, context, name)
        visitor.enter()
        visitors.append(visitor)
        return visitor

    yield start
    for context in contexts:
        context.close()
    for visitor in visitors:
        assert visitor.faults() == []


@pytest.fixture
def worker(visit):
    """Return a worker that no other test has used."""
    return visit(f"worker{next(_workers)}")


@pytest.fixture
def new_worker(visit):
    """Return a function that creates such a worker with browser options."""
    return lambda **options: visit(f"worker{next(_workers)}", **options)


@contextmanager
def serve_empty_site(folder: Path, migrated_database: Path) -> Iterator[str]:
    """Run `manage.py serve` on an empty database; yield the address of the first admin."""
    shutil.copyfile(migrated_database, folder / "crux.sqlite3")
    env = os.environ | {
        "VAR_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'crux.sqlite3'}",
        "JUDGE_ENDPOINTS": "",
    }
    line = [sys.executable, "manage.py", "serve", "--port", str(free_port())]
    process = subprocess.Popen(line, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    try:
        lines = iter(process.stdout.readline, "")
        address = next(line.split()[-1] for line in lines if "first admin" in line)
        wait_for_server(address)
        yield address
    finally:
        process.terminate()
        process.communicate(timeout=HANGS)


@pytest.fixture
def printed_address(tmp_path, migrated_database):
    """Serve an empty site; return the address of the first admin."""
    with serve_empty_site(tmp_path, migrated_database) as address:
        yield address


@pytest.fixture
def open_page(chromium):
    """Return a function that opens an address in a browser profile of its own."""
    contexts = []

    def opened(address: str) -> Page:
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, **SURROUNDINGS)
        context.set_default_timeout(PATIENT)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
