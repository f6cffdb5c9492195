"""Missing scripts and blocked storage: the page makes no false promises."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.adjudication_pages import address
from tests.browser.page_audit import axe_problems
from tests.browser.user_input import answer_all, drag_over, grade, save_status, settled
from tests.toolbox.browser_texts import T1_BODY

INCOMPLETE = "This page did not load completely. Reload it."
BLOCKED = """() => {
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
    Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } });
  }
  window.BroadcastChannel = class { constructor() { throw new DOMException('blocked', 'SecurityError'); } };
  navigator.locks.request = () => Promise.reject(new DOMException('blocked', 'SecurityError'));
}"""


@pytest.fixture
def at_work(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    yield worker, first
    worker.errors.clear()  # Chromium logs every request that fails, and these are meant to


def open_without_script(worker, name, path):
    stem = Path(name).stem
    worker.context.route(re.compile(rf"/js/{stem}(\.\w+)?\.js$"), lambda route: route.abort())
    page = worker.context.new_page()
    page.goto(worker.site.url + path)
    return page


def test_task_page_without_its_script_works_without_scripts(at_work, site):
    worker, item = at_work
    page = open_without_script(worker, "work.js", f"/work/{item}/")
    expect(page.locator("#incomplete")).to_have_text(INCOMPLETE)
    save_status(page).not_to_contain_text("saved")
    save = page.get_by_role("button", name="Save question 2", exact=True)
    expect(save).to_be_visible()
    for promise in page.locator(".scripted").all():
        expect(promise).to_be_hidden()
    grade(page, 2, 1)
    page.locator("#q-2 [name=quotes]").fill("four metres of clay")
    save.click()
    expect(page.locator(".notices")).to_contain_text("Question 2 is saved")
    start = T1_BODY.index("four metres of clay")
    assert site.ratings(worker.name, "answerable") == {
        1: (1, [(start, start + 19, "four metres of clay")])
    }
    page.click("#submit button")
    expect(page.locator("#missing")).to_contain_text("14 questions are left")
    assert axe_problems(page) == []


def test_stale_form_without_scripts_lets_the_person_choose(at_work, site):
    worker, item = at_work
    stale = open_without_script(worker, "work.js", f"/work/{item}/")
    other_page = worker.context.new_page()
    worker.context.unroute_all()
    other_page.goto(f"{site.url}/work/{item}/")
    grade(other_page, 1, 0)
    settled(other_page)
    grade(stale, 1, 1)
    stale.locator("#q-1 [name=quotes]").fill("four metres of clay")
    stale.get_by_role("button", name="Save question 1", exact=True).click()
    card = stale.locator("#q-1")
    expect(card).to_contain_text("This question was answered in another place too.")
    sent, stored = card.locator(".conflict dd").all()
    expect(sent).to_contain_text("four metres of clay")
    expect(stored).to_contain_text("0")
    expect(stale.locator("#q-2").get_by_role("button", name="Save question 2")).to_be_visible()
    for promise in stale.locator(".scripted").all():
        expect(promise).to_be_hidden()
    assert axe_problems(stale) == []
    assert len(site.answers(item)) == 1
    card.get_by_role("button", name="Keep the answer given here").click()
    expect(stale.locator(".notices")).to_contain_text("Question 1 is saved")
    settled(stale)  # with scripts again
    assert site.answers(item)[-1] == (0, 1)
    other_page.close()


def test_answer_sent_after_the_session_ended_is_not_lost(at_work, site):
    worker, item = at_work
    page = open_without_script(worker, "work.js", f"/work/{item}/")
    cookies = worker.context.cookies()
    worker.context.clear_cookies(name="sessionid")
    grade(page, 2, 1)
    page.locator("#q-2 [name=quotes]").fill("four metres of clay")
    page.get_by_role("button", name="Save question 2", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not saved yet")
    assert axe_problems(page) == []
    assert site.answers(item) == []
    worker.context.add_cookies(cookies)  # logged in again, in another tab
    page.get_by_role("button", name="Send again").click()
    expect(page.locator(".notices")).to_contain_text("Question 2 is saved")
    assert site.answers(item) == [(1, 1)]


def test_task_page_without_its_watcher_works_with_scripts(at_work, site):
    worker, item = at_work
    page = open_without_script(worker, "load-check.js", f"/work/{item}/")
    grade(page, 1, 0)
    settled(page)
    expect(page.locator("#incomplete")).to_be_hidden()
    expect(page.get_by_role("button", name="Save question 1", exact=True)).to_be_hidden()
    assert site.answers(item) == [(0, 0)]


def test_task_page_promises_nothing_before_its_scripts_have_started(at_work, site):
    worker, item = at_work
    page = worker.context.new_page()
    routes = []
    page.route("**/js/work*.js", lambda route: routes.append(route))
    page.goto(f"{site.url}/work/{item}/", wait_until="commit")
    save = page.get_by_role("button", name="Save question 2", exact=True)
    expect(save).to_be_visible()
    save_status(page).not_to_contain_text("saved")
    expect(page.locator("#undo")).to_be_hidden()
    grade(page, 2, 1)
    page.locator("#q-2 [name=quotes]").fill("four metres of clay")  # and has not pressed Save yet
    while not routes:
        page.wait_for_timeout(50)
    routes[0].continue_()
    settled(page)
    expect(save).to_be_hidden()
    expect(page.locator("#undo")).to_be_visible()
    expect(page.locator("#q-2 .spans q")).to_have_text(["four metres of clay"])
    save_status(page).to_contain_text("Saved ")
    assert site.answers(item) == [(1, 1), (1, 1)]


def test_error_while_the_scripts_start_leaves_a_page_that_works_without(at_work, site):
    worker, item = at_work
    worker.context.add_init_script("delete window.ResizeObserver")
    page = worker.open(f"/work/{item}/")
    expect(page.locator("#incomplete")).to_have_text(INCOMPLETE)
    grade(page, 2, 0)
    page.get_by_role("button", name="Save question 2", exact=True).click()
    expect(page.locator(".notices")).to_contain_text("Question 2 is saved")


def test_blocked_storage_loses_no_answer(new_worker, site):
    worker = new_worker()
    item, second = site.assignments(worker.name, "t1")
    worker.context.add_init_script(f"({BLOCKED})()")
    page = worker.open(f"/work/{item}/")
    save_status(page).to_have_text("All saved")
    expect(page.locator("#incomplete")).to_be_hidden()
    page.context.route("**/answers/**", lambda route: route.abort())
    drag_over(page, "four metres of clay")
    save_status(page).to_contain_text("do not close or reload this page")
    page.context.unroute("**/answers/**")
    settled(page)
    for number in range(2, 16):
        grade(page, number, 0)
    page.click("#submit button")
    page.wait_for_url(f"**/work/{second}/")
    assert site.state(item) == "submitted"
    faults = [fault for fault in worker.errors if "ERR_FAILED" not in fault]
    assert faults == []
    worker.errors.clear()


def test_blocked_storage_leaves_adjudication_and_pairs_whole(visit, site):
    visitor = visit("ada")
    visitor.context.add_init_script(f"({BLOCKED})()")
    page = visitor.open(address(site, 1))
    expect(page.locator("#decision")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator("#said")).to_contain_text("Filled in")


def test_pages_of_staff_say_that_a_script_is_missing(visit, site):
    visitor = visit("ada")
    for name in ("adjudication.js", "drags.js", "spans.js"):
        page = open_without_script(visitor, name, address(site, 1))
        expect(page.locator("#incomplete")).to_have_text(INCOMPLETE)
        for promise in page.locator(".scripted").all():
            expect(promise).to_be_hidden()
        page.close()
        visitor.context.unroute_all()
    page = open_without_script(visitor, "site.js", "/")
    expect(page.locator("#incomplete")).to_have_text(INCOMPLETE)
    expect(page.locator("[data-theme-toggle]").first).to_be_hidden()
    visitor.errors.clear()


def test_study_page_promises_no_saving_that_scripts_do(at_work, site):
    worker, _ = at_work
    page = worker.open("/work/in/t1/")
    expect(page.locator("main")).not_to_contain_text("saved as you give it")


def test_answers_of_a_whole_item_without_scripts_after_a_failed_load(at_work, site):
    worker, item = at_work
    page = open_without_script(worker, "work.js", f"/work/{item}/")
    for number in range(1, 16):
        grade(page, number, 0)
        page.get_by_role("button", name=f"Save question {number}", exact=True).click()
        expect(page.locator(".notices")).to_contain_text(f"Question {number} is saved")
    page.click("#submit button")
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert site.state(item) == "submitted"


def test_reload_after_a_failed_load_works_with_scripts(at_work, site):
    worker, item = at_work
    page = open_without_script(worker, "work.js", f"/work/{item}/")
    expect(page.locator("#incomplete")).to_be_visible()
    worker.context.unroute_all()
    page.reload()
    answer_all(page)
    settled(page)
    assert site.answers(item) == [(position, 0) for position in range(15)]
