"""Measurement of the pages of a dataset: place of the first value, links and height.

    make bench-result-layout BENCH="--data ../shared/data/crux-duc04"    # without: the demo's small study

A study is imported into a site of its own. Chromium opens each page at 1280 x 800 and at 390 x 844 and
tells where the first value of the content stands, from the top of the page in pixels, how high the page
is, how many links its content has, and whether it scrolls sideways.

Goals: the first value above 400 px on the wide screen and above 700 px on the narrow one, no page that
scrolls sideways, at most 20 links in the content of the overview, which is below 3,000 px on the narrow
screen. Exits with 1 where one is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.serving import PREPARE, ROOT, Server, new_sqlite
from bench.smoke import MissingPartError
from tests.toolbox.served_site import CHROMIUM, launched

SCREENS = {"1280": (1280, 800, 400), "390": (390, 844, 700)}
"""Width, height and goal of the first value in pixels, by name."""
LINKS, OVERVIEW_HEIGHT = 20, 3000
PAGES = {
    "Overview": "",
    "Agreement": "agreement/",
    "Calibration": "calibration/",
    "Mixed model": "mixed-model/",
    "Disagreements": "disagreements/?kind=differ",
    "Systems": "systems/",
    "Pairwise comparison": "systems/compare/",
    "Rankings by judge": "systems/judges/",
    "Discriminative power": "systems/discriminative/",
    "Recall of retrieved evidence": "evidence-recall/",
    "Question types": "question-types/",
    "Reports against references": "reports-against-references/",
    "Nuggets": "nuggets/",
    "Matrix": "matrix/",
    "Label next": "label-next/",
    "Paper": "paper/",
    "Judges": "judges/",
    "Texts": "texts/",
}
LOG_IN = """
import json
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from annotation.models import User
user = User.objects.create_superuser("ada", password="ada", role="admin")
session = SessionStore()
session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
session.save()
(settings.VAR_DIR / "session.json").write_text(json.dumps(session.session_key))
"""
# The first value: a number in a table, a tile, a chart or a list of pairs, below the head of the page.
MEASURE = """() => {
  const main = document.querySelector("main");
  const isShown = (element) =>
    element.checkVisibility() && !element.closest("form, .filter, .page-head, thead, caption");
  const places = [...main.querySelectorAll("td, dd, .figure, .tile, main ol > li, svg text")];
  const first = places.find((element) => isShown(element) && /[0-9]/.test(element.textContent));
  return {
    first: first ? Math.round(first.getBoundingClientRect().top + scrollY) : null,
    height: document.documentElement.scrollHeight,
    links: [...main.querySelectorAll("a[href]")].filter((link) => link.checkVisibility()).length,
    sideways: document.documentElement.scrollWidth > innerWidth,
  };
}"""


@dataclass(frozen=True)
class Layout:
    """Places of one page in pixels; `first` is None for a page without a value."""

    first: int | None
    height: int
    links: int
    sideways: bool

    def faults(self, page: str, goal: int, width: int) -> Iterator[str]:
        """Yield the goals that the page misses."""
        if self.first is not None and self.first > goal:
            yield f"{page}: first value at {self.first} px, goal {goal}"
        if self.sideways:
            yield f"{page}: scrolls sideways at {width} px"
        if page == "Overview" and self.links > LINKS:
            yield f"{page}: {self.links} links, goal {LINKS}"
        if page == "Overview" and width < 400 and self.height > OVERVIEW_HEIGHT:
            yield f"{page}: {self.height} px high, goal {OVERVIEW_HEIGHT}"


def made_site(folder: Path, data: Path) -> Server:
    """Return a server, not started, of a site with one imported dataset."""
    env = os.environ | {
        "VAR_DIR": str(folder),
        "DATABASE_URL": new_sqlite(folder / "crux.sqlite3"),
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "PYTHONPATH": str(ROOT),
    }
    code = f"{PREPARE}\ncall_command('import_dataset', {str(data)!r}, dataset='study')\n{LOG_IN}"
    manage = [sys.executable, "manage.py", "shell", "-v0", "--no-imports", "-c", code]
    subprocess.run(manage, env=env, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return Server(env, workers=1)


def layouts(browser: Browser, address: str, session: str, screen: str) -> dict[str, Layout]:
    """Return the layout of each page that the site has, on a screen."""
    width, height, _ = SCREENS[screen]
    context = browser.new_context(viewport={"width": width, "height": height})
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    page = context.new_page()
    page.set_default_timeout(300_000)
    layouts_of = {}
    for title, path in PAGES.items():
        response = page.goto(f"{address}/datasets/study/{path}")
        if response is not None and response.ok:
            # A large study sends the frame first.
            page.locator("[data-first-look]").wait_for(state="detached")
            layouts_of[title] = Layout(**page.evaluate(MEASURE))
    context.close()
    return layouts_of


def smoke() -> str:
    """Measure two pages of the demo's small study on a phone; see bench.smoke."""
    if not Path(CHROMIUM).exists():
        raise MissingPartError(f"no Chromium at {CHROMIUM} (CHROMIUM=... names another)")
    globals().update(PAGES={title: PAGES[title] for title in ("Overview", "Systems")})
    by_page = measured_layouts(ROOT / "fixtures" / "demo", ["390"])["390"]
    if any(title not in by_page or by_page[title].first is None for title in PAGES):
        sys.exit(f"A page is missing, or has no value: {by_page}")
    return f"values of {len(by_page)} pages measured"


def measured_layouts(data: Path, screens: Iterable[str]) -> dict[str, dict[str, Layout]]:
    """Return the layout of each page of an imported study, by screen."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        server = made_site(Path(name), data)
        session = json.loads(Path(name, "session.json").read_text())
        server.start()
        browser = launched(playwright, CHROMIUM)
        try:
            address = f"http://127.0.0.1:{server.port}"
            return {screen: layouts(browser, address, session, screen) for screen in screens}
        finally:
            browser.close()
            server.kill()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=ROOT / "fixtures" / "demo")
    data = parser.parse_args().data.resolve()
    layouts_of = measured_layouts(data, SCREENS)
    wide, narrow = layouts_of.values()
    print(
        "| page | first value, 1280 | 390 | height, 1280 | 390 | links |\n|---|---|---|---|---|---|"
    )
    for title, layout in wide.items():
        phone = narrow[title]
        firsts = ("none" if first is None else first for first in (layout.first, phone.first))
        print(
            "|",
            " | ".join(map(str, (title, *firsts, layout.height, phone.height, layout.links))),
            "|",
        )
    faults = [
        fault
        for screen, by_page in layouts_of.items()
        for title, layout in by_page.items()
        for fault in layout.faults(title, SCREENS[screen][2], SCREENS[screen][0])
    ]
    print("\n".join(["", *faults]) if faults else "\nAll goals are met.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
