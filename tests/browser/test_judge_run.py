"""Judging run in the browser: started, cancelled, resumed and finished, live."""

import asyncio
import math
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.judging_seed import SLOW
from tests.browser.page_audit import axe_problems, faults
from tests.browser.user_input import until
from tests.toolbox.paths import ROOT
from tests.toolbox.scripted_server import ScriptedServer, reply_with
from tests.toolbox.served_site import served

N_PAIRS = 246  # of the demo study
POLLS = "**/judge-runs/*/?state=*"  # of an open page at its run, every two seconds
PATIENT = (
    180_000  # milliseconds: a worker is a process that has to start, on a machine with other work
)


class Judging:
    """Scripted model server, with the prompts that it received."""

    allowed = math.inf  # prompts that are answered

    def __init__(self):
        self.server = ScriptedServer()
        self.prompts = []
        self.server.answers["/v1/chat/completions"] = self.answer
        self.server.answers["/v1/models"] = reply_with("")  # it does not tell what it serves
        self.graded = reply_with("3", delay=0.02)

    async def answer(self, request, body):
        # First, so that requests which the client gives up and repeats are not counted.
        while len(self.prompts) >= self.allowed:
            await asyncio.sleep(0.05)
        self.prompts.append(body["messages"][-1]["content"])
        return await self.graded(request, body)

    @contextmanager
    def limited(self):
        """Limit the answered prompts to `allowed`, so that a run does not end too soon.

        The test raises the limit: far enough that some prompt always follows, and never to the end.
        Afterwards all are answered, even if the test failed: the worker must end, and the next one start.
        """
        self.allowed = 40  # the first tenth and some more, and not the second
        try:
            yield
        finally:
            self.allowed = math.inf


@pytest.fixture(scope="module")
def judging():
    judge = Judging()
    with judge.server:
        yield judge


@pytest.fixture(scope="module")
def site(tmp_path_factory, prepared, judging):
    """Serve a separate site, which knows the scripted server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_ENDPOINTS", f"local={judging.server.url}")
        seed = "from tests.browser.judging_seed import seed; seed()"
        with served(tmp_path_factory.mktemp("judging"), seed, prepared=prepared) as running:
            yield running


@contextmanager
def worker(site):
    """Run `manage.py judge_worker` in a process of its own."""
    env = os.environ | {
        "VAR_DIR": str(site.database.parent),
        "DATABASE_URL": f"sqlite:///{site.database}",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(ROOT / "manage.py"), "judge_worker", "--interval", "0.2"]
    process = subprocess.Popen(command, env=env, cwd=ROOT)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def key_of(site, slug: str) -> int:
    [(key,)] = site.rows(
        "select j.id from judging_judge j join annotation_rater r on r.id = j.rater_id"
        " where r.name = ?",
        slug,
    )
    return key


def run_of(site, slug: str) -> str:
    [(key,)] = site.rows(
        "select max(id) from judging_judgerun where judge_id = ?", key_of(site, slug)
    )
    return f"/judge-runs/{key}/"


def cells(site) -> tuple[int, int, int]:
    """Count of the slow judge: replies that count, distinct pairs, and ratings."""
    return site.rows(
        "select count(*), count(distinct a.text_id * 1000000 + a.question_id),"
        " (select count(*) from annotation_rating g where g.rater_id = j.rater_id)"
        " from judging_judge j left join judging_attempt a on a.judge_id = j.id and a.counts"
        " where j.id = ?",
        key_of(site, SLOW),
    )[0]


def more_than(page, n: int) -> None:
    until(page, f"Number(document.getElementById('done')?.textContent) > {n}")


def backdate_queued_tasks(site) -> None:
    """Backdate queued tasks by a minute.

    Before that time the page does not report that no worker is there.
    """
    with closing(sqlite3.connect(site.database, timeout=30)) as connection, connection:
        connection.execute(
            "update django_tasks_database_dbtaskresult set enqueued_at = datetime(enqueued_at, '-1 minute')"
        )


@pytest.mark.timing
def test_run_is_started_watched_cancelled_resumed_and_finished(visit, site, judging):
    """And the baseline's beside it, which needs no server."""
    ada = visit("ada")
    page = ada.open(f"/judge-runs/new/?dataset=coast&judge={key_of(site, SLOW)}")
    page.get_by_label("Server").select_option("local")
    page.get_by_label("Concurrent requests").fill("2")
    page.get_by_role("button", name="Estimate").click()
    expect(page.locator("#counted")).to_contain_text("pairs to send. 0 already have a grade")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("counting the pairs without a grade of this judge")).to_be_visible()
    backdate_queued_tasks(site)
    expect(page.get_by_text("No worker is running")).to_be_visible()
    page.evaluate("window.isTheSamePage = true")
    page.route(POLLS, lambda route: route.fulfill(status=204))
    second_page = ada.open(run_of(site, SLOW))
    with worker(site), judging.limited():
        # What came between two looks is said in one: that it runs, and a tenth of it.
        expect(second_page.locator("#share")).to_have_text(re.compile(r"^\d\d%"), timeout=PATIENT)
        second_page.close()
        page.unroute(POLLS)
        expect(page.locator("#spoken")).to_have_text(re.compile(r"^The run is running\. 1\d% "))
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        expect(page.get_by_text("No worker is running")).to_have_count(0)
        expect(page.locator("#reply-rows tr").nth(5)).to_be_visible()
        judging.allowed = 60  # the second tenth
        expect(page.locator("#spoken")).to_have_text(re.compile(r"^2\d% judged"))
        # With focus in the list of replies the numbers are updated, and the list is not.
        page.locator("#reply-rows a").first.focus()
        before = page.locator("#reply-rows").inner_text()
        for _ in range(2):
            n = int(page.locator("#done").inner_text())
            judging.allowed = max(judging.allowed, n + 20)
            more_than(page, n)
        assert page.locator("#reply-rows").inner_text() == before
        assert page.evaluate("document.activeElement.closest('#reply-rows') !== null")
        page.get_by_role("link", name="Cancel the run").click()
        expect(page.locator("dialog#cancel")).to_be_visible()
        assert axe_problems(page) == []
        page.get_by_role("button", name="Continue run").click()
        expect(page.locator("dialog#cancel")).to_be_hidden()
        assert page.evaluate("window.isTheSamePage")
        page.get_by_role("link", name="Cancel the run").click()
        page.get_by_role("button", name="Cancel the run").click()
        expect(page.get_by_text("The run is cancelled.")).to_be_visible()
        expect(page.locator("#run-state")).to_have_text("cancelled")
        so_far, *_ = cells(site)
        assert 0 < so_far < N_PAIRS
        page.get_by_role("button", name="Resume").first.click()
        expect(page.get_by_text("The run continues.")).to_be_visible()
        # Not before: the page would come finished, and have nothing to say.
        judging.allowed = math.inf
        expect(page.locator("#run-state")).to_have_text("finished", timeout=PATIENT)
        expect(page.locator("#spoken")).to_contain_text("The run is finished.")
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        baseline = ada.open("/judge-runs/new/?dataset=coast")
        baseline.get_by_role("button", name="Start").click()
        expect(baseline.locator("#run-state")).to_have_text("finished", timeout=PATIENT)
    expect(baseline.get_by_text("a baseline gives no probabilities")).to_be_visible()
    assert cells(site) == (N_PAIRS, N_PAIRS, N_PAIRS)
    assert len(judging.prompts) == len(set(judging.prompts))
    page.wait_for_timeout(2500)
    assert requests == []


def test_cancelling_without_scripts_asks_on_another_page(visit, site):
    page = visit("ada", java_script_enabled=False).open(run_of(site, "paused"))
    page.get_by_role("link", name="Cancel the run").click()
    expect(page.get_by_role("heading", name="Cancel judge run")).to_be_visible()
    page.get_by_role("link", name="Continue run").click()
    page.get_by_role("link", name="Cancel the run").click()
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.locator("#run-state")).to_have_text("cancelled")


def test_session_that_ended_puts_no_log_in_page_into_the_run(visit, site):
    visitor = visit("rosa")
    page = visitor.open(run_of(site, "going"))
    visitor.context.clear_cookies()
    expect(page.locator("#live-says")).to_contain_text("Log in again")
    expect(page.locator("#id_password")).to_have_count(0)
    expect(page.locator("#done")).to_have_text("100")


def test_judge_is_made_without_scripts(visit, site):
    visitor = visit("ada", java_script_enabled=False)
    page = visitor.open("/judges/new/")
    page.locator("#id_slug").fill("by-hand")
    page.locator("#id_model").fill("tiny")
    page.get_by_label("Prompt of this site").select_option("text-first")
    page.get_by_role("button", name="Insert prompt").click()
    expect(page.locator("#id_slug")).to_have_value("by-hand")
    page.get_by_role("button", name="Preview").last.click()
    expect(page.locator("pre.sent").last).to_contain_text("How much of the question does the text")
    page.locator("#id_model").fill("")
    page.get_by_role("button", name="Create judge").click()
    expect(page.locator("#id_model_error")).to_be_visible()
    page.locator("#id_model").fill("tiny")
    page.get_by_role("button", name="Create judge").click()
    expect(page.get_by_text("The judge by-hand is created.")).to_be_visible()
    visitor.errors[:] = [error for error in visitor.errors if "422" not in error]


def test_family_of_a_judge_is_set_without_scripts(visit, site):
    visitor = visit("ada", java_script_enabled=False)
    page = visitor.open(f"/judges/{key_of(site, 'going')}/")
    page.get_by_label("Family by hand").fill("a/b")
    page.get_by_role("button", name="Save family").click()
    expect(page.locator("#id_family_override_error")).to_be_visible()
    page.get_by_label("Family by hand").fill("llama")
    page.get_by_role("button", name="Save family").click()
    expect(page.get_by_text("llama, by hand")).to_be_visible()
    expect(page.get_by_text("Family set by hand by ada")).to_be_visible()
    visitor.errors[:] = [error for error in visitor.errors if "422" not in error]


def test_first_wrong_field_has_the_focus(visit, site):
    visitor = visit("ada")
    page = visitor.open("/judges/new/")
    page.locator("#id_slug").fill("by-hand-2")
    page.get_by_role("button", name="Create judge").click()
    expect(page.locator("#id_model")).to_be_focused()
    assert axe_problems(page) == []
    visitor.errors[:] = [error for error in visitor.errors if "422" not in error]


def test_pages_are_accessible(visit, site):
    page = visit("ada").open("/judges/")
    stopped, running = run_of(site, "stopped"), run_of(site, "going")
    for path in (
        "/judges/?sort=-graded",
        "/datasets/coast/judges/?rubric=graded",
        f"/judges/{key_of(site, 'stopped')}/",
        f"/judges/{key_of(site, 'stopped')}/parser/?parser=first-digit-1",
        f"/judges/{key_of(site, 'lexical')}/",
        "/judges/new/?prompt=crux-structure",
        f"/judges/new/?from={key_of(site, 'stopped')}",
        "/judge-runs/",
        "/judge-runs/new/?dataset=coast",
        stopped,
        running,
        f"{running}cancel/",
        f"{stopped}failures/all/",
        "/datasets/coast/",
    ):
        page.goto(site.url + path)
        page.evaluate(
            "document.querySelectorAll('details').forEach(details => { details.open = true; })"
        )
        assert faults(page) == [], path


def test_draft_is_tried_without_scripts(visit, site):
    visitor = visit("ada", java_script_enabled=False)
    page = visitor.open(f"/judges/new/?from={key_of(site, 'stopped')}")
    page.get_by_label("Server for tests").select_option("local")
    page.locator("select[name=pairs]").select_option("topic")
    page.get_by_role("button", name="Try on 20 pairs").click()
    table = page.get_by_role("region", name="Grades of the trial")
    expect(table.get_by_role("row")).to_have_count(21)
    expect(table).to_contain_text("20 of 20 pairs")


def test_draft_beside_people_is_accessible(visit, site):
    page = visit("ada").open(f"/judges/new/?from={key_of(site, 'stopped')}")
    page.get_by_label("Server for tests").select_option("local")
    page.get_by_role("button", name="Try on 20 pairs").click()
    expect(page.get_by_role("region", name="Grades of the trial")).to_be_visible()
    assert faults(page) == []
