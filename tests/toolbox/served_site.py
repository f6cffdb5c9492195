"""Real server process on a database of its own, with a real Chromium."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Playwright

from bench.ports import free_port
from tests.toolbox.clock import is_answered, wait_for
from tests.toolbox.paths import ROOT
from tests.toolbox.run_files import made_once, manage, site_environment

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
# The same engine without a browser's window and services: tests take three quarters of the time with it.
_SHELL = os.environ.get("CHROMIUM_SHELL", "/usr/bin/chromium-headless-shell")
CHROMIUM_SHELL = _SHELL if Path(_SHELL).exists() else CHROMIUM
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
]
# The fonts of a test, chosen by a file for fontconfig, independent of the machine's fonts.
FONT_SETS = ROOT / "tests" / "browser" / "fonts"
USUAL_FONTS, OTHER_FONTS = "liberation", "noto"


def launched(playwright: Playwright, path: str, fonts: str = USUAL_FONTS) -> Browser:
    """Start Chromium with one of the sets of fonts in `FONT_SETS`."""
    env = os.environ | {"FONTCONFIG_FILE": str(FONT_SETS / f"{fonts}.conf")}
    return playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS, env=env)


def has_fonts(fonts: str) -> bool:
    """Return if this machine has the fonts of a set."""
    env = os.environ | {"FONTCONFIG_FILE": str(FONT_SETS / f"{fonts}.conf")}
    listed = subprocess.run(["fc-list"], env=env, capture_output=True, text=True, check=True)
    return bool(listed.stdout)


# One process for all commands, so that the site is loaded once.
PREPARE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
"""


class Site:
    """Address of a served site, with direct access to its database."""

    def __init__(self, url: str, database: Path, env: dict[str, str]) -> None:
        self.url = url
        self.database = database
        self.env = env
        session_file = database.parent / "sessions.json"  # tests.browser.sessions makes it
        self.sessions = json.loads(session_file.read_text()) if session_file.exists() else {}

    def run(self, code: str) -> None:
        """Run Python on the site's database, in a process of its own."""
        _run(code, self.env)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.database, timeout=30)) as connection:
            return connection.execute(query, values).fetchall()

    def assignments(self, worker: str, campaign: str) -> list[int]:
        """Return the worker's items in a campaign, as primary keys, in the study's order."""
        return [
            key
            for (key,) in self.rows(
                "select a.id from annotation_assignment a"
                " join annotation_item i on i.id = a.item_id"
                " join annotation_participant p on p.id = a.participant_id"
                " join annotation_campaign c on c.id = p.campaign_id"
                " join annotation_rater r on r.id = p.rater_id"
                " where r.name = ? and c.slug = ? order by i.position",
                worker,
                campaign,
            )
        ]

    def answers(self, assignment: int) -> list[tuple[int, int | None]]:
        """Return all answers to an item in order of arrival: (question position, grade)."""
        return self.rows(
            "select q.position, a.grade from annotation_answer a"
            " join annotation_subquestion q on q.id = a.question_id"
            " where a.assignment_id = ? order by a.id",
            assignment,
        )

    def state(self, assignment: int) -> str:
        """Return the state of an assignment: open, submitted, skipped or released."""
        [(state,)] = self.rows("select state from annotation_assignment where id = ?", assignment)
        return state

    def ratings(
        self, worker: str, rubric: str
    ) -> dict[int, tuple[int, list[tuple[int, int, str]]]]:
        """Return the worker's ratings: question position -> (grade, [(start, end, quote)])."""
        by_position: dict[int, tuple[int, list[tuple[int, int, str]]]] = {}
        for position, grade, start, end, quote in self.rows(
            "select q.position, g.grade, s.start, s.end, s.quote from annotation_rating g"
            " join annotation_rater r on r.id = g.rater_id"
            " join annotation_rubric u on u.id = g.rubric_id"
            " join annotation_subquestion q on q.id = g.question_id"
            " left join annotation_nuggetspan s on s.rating_id = g.id"
            " where r.name = ? and u.slug = ? order by q.position, s.position",
            worker,
            rubric,
        ):
            by_position.setdefault(position, (grade, []))
            if start is not None:
                by_position[position][1].append((start, end, quote))
        return by_position


@contextmanager
def served(
    folder: Path,
    seed: str,
    shared: Path | None = None,
    prepared: Path | None = None,
    **settings: str,
):
    """Serve a site with a database of its own, filled by `seed` (Python to run), by granian.

    The database is a file in the folder. If several processes serve the same site, each its own, the
    first fills `shared`, and all copy it. The site begins as a copy of `prepared`, which has migrations and
    static files: these take longer than most seeds. `settings` are additional environment variables of
    this site.
    """
    database = folder / "crux.sqlite3"
    env = site_environment(folder) | settings
    if shared:
        made_once(shared, lambda folder: _fill(folder, seed, prepared, site_environment(folder)))
        shutil.copytree(shared, folder)
    else:
        _fill(folder, seed, prepared, env)
    port = free_port()
    server = subprocess.Popen(
        [
            str(Path(sys.executable).with_name("granian")),
            *("--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port)),
            *("--blocking-threads", "4", "--log-level", "warning", "crux_site.wsgi:application"),
        ],
        env=env,
        cwd=ROOT,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url, server)
        yield Site(url, database, env)
    finally:
        server.terminate()
        server.wait(60)


def _fill(folder: Path, seed: str, prepared: Path | None, env: dict[str, str]) -> None:
    if prepared:
        shutil.copytree(prepared, folder, dirs_exist_ok=True)
    _run(seed if prepared else f"{PREPARE}\n{seed}", env)


def _run(code: str, env: dict[str, str]) -> None:
    manage(env, "shell", "-v0", "-c", code)


def _wait_for(url: str, server: subprocess.Popen) -> None:
    def answers() -> bool:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        return is_answered(f"{url}/login/")

    wait_for(answers)
