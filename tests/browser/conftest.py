"""One server and one Chromium for all browser tests; each test has a worker and a profile of its own."""

import itertools
import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.material import PASSWORD
from tests.browser.site import (
    CHROMIUM,
    CHROMIUM_SHELL,
    USUAL_FONTS,
    Site,
    has_fonts,
    launched,
    served,
)

HERE = f"{Path(__file__).parent}/"  # as words: every test of all is asked, and a path is slow to answer

# What does not come true is waited for long: a machine with other work may take its time.
PATIENT = 120_000  # ms
SURROUNDINGS = {
    "locale": "en-US",
    "timezone_id": "UTC",
    "device_scale_factor": 1,
    "color_scheme": "light",
    "reduced_motion": "no-preference",
}
expect.set_options(timeout=PATIENT)
_workers = itertools.count(30)  # those before are named by tests


def pytest_collection_modifyitems(items):
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker(pytest.mark.browser)
    # Last: Playwright keeps an event loop running in this thread, and others could then start none.
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    seed = "from tests.browser.seed import seed; seed()"
    here = tmp_path_factory.getbasetemp()
    with served(here / "site", seed, shared=_of_the_run(here) / "seeded") as running:
        yield running


def _of_the_run(folder: Path) -> Path:
    """The temporary folder of all processes of a run, from that of one."""
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def browsers():
    """By path and set of fonts, each started when a test first asks for it."""
    running: dict[tuple[str, str], Browser] = {}

    def started(path: str, fonts: str) -> Browser:
        if not Path(path).exists():
            pytest.fail(f"{path} is not there: `make test` installs it on Debian as root")
        if (path, fonts) not in running:
            if not has_fonts(fonts):
                says = pytest.fail if fonts == USUAL_FONTS else pytest.skip
                says(f"NO fonts of the set {fonts}: `make test` installs them on Debian as root")
            running[path, fonts] = launched(playwright, path, fonts)
        return running[path, fonts]

    with sync_playwright() as playwright:
        yield started
        for browser in running.values():
            browser.close()


@pytest.fixture
def fonts() -> str:
    """The set of fonts that the browser has; a test may parametrize it."""
    return USUAL_FONTS


@pytest.fixture
def chromium(request, browsers, fonts) -> Browser:
    """Its headless shell, or all of it where a test says so (see docs/decisions/0067)."""
    whole = request.node.get_closest_marker("whole_browser")
    return browsers(CHROMIUM if whole else CHROMIUM_SHELL, fonts)


class Visitor:
    """Somebody in front of a browser: logs in, and notes every script error of the pages they see."""

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
        """The errors that are the site's.

        Not what htmx says of a request that never ended, since its page was left: of an answer that is an error
        it says htmx:responseError, and of a server that is away the browser speaks itself.
        """
        left = ("htmx:afterRequest", "htmx:sendAbort", "htmx:sendError")
        return [error for error in self.errors if not error.startswith(left)]

    def enter(self) -> None:
        """Be logged in, by a session that is there already if one is left."""
        keys = self.site.sessions.get(self.name)
        if not keys:
            self.log_in()
            return
        cookie = {"name": "sessionid", "value": keys.pop(), "url": self.site.url}
        self.context.add_cookies([{**cookie, "httpOnly": True, "sameSite": "Lax"}])

    def log_in(self) -> None:
        """By the page."""
        page = self.open("/login/")
        page.fill("#id_username", self.name)
        page.fill("#id_password", PASSWORD)
        page.click("main button")
        page.wait_for_url(lambda url: "login" not in url)
        page.close()


@pytest.fixture
def visit(site, chromium):
    """visit("rosa", width=390, ...): a visitor with a fresh profile, logged in.

    Where this machine is, its language and its screen decide nothing: each is set here.
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
    """A worker whom no other test has used."""
    return visit(f"worker{next(_workers)}")


@pytest.fixture
def new_worker(visit):
    """new_worker(width=..., ...): the same with a browser of one's choice."""
    return lambda **options: visit(f"worker{next(_workers)}", **options)
