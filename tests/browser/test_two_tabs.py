"""Two tabs or devices with one item: both are notified, no answer is overwritten unseen."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems
from tests.browser.user_input import (
    answer_all,
    drag_over,
    grade,
    save_status,
    settled,
    unaware,
    until,
)


def elsewhere(page):
    return expect(page.locator("#elsewhere"))


@pytest.fixture
def devices(worker, visit, site):
    """Open the same worker's first T1 item on two devices: (page, page, item)."""
    item, _ = site.assignments(worker.name, "t1")
    second = visit(worker.name)
    yield worker.open(f"/work/{item}/"), second.open(f"/work/{item}/"), item
    worker.errors.clear()  # a conflict is a 409, which Chromium logs
    second.errors.clear()


def test_second_tab_is_reported_in_both_until_it_closes(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    first, second = (worker.open(f"/work/{item}/") for _ in range(2))
    for page in (first, second):
        elsewhere(page).to_contain_text("open in another tab too")
    second.close(run_before_unload=True)
    elsewhere(first).to_be_hidden()  # where its goodbye got lost, it is missed later


def test_crashed_tab_is_noticed_by_timeout(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    first = worker.context.new_page()
    first.clock.install()
    first.goto(f"{site.url}/work/{item}/")
    second = worker.open(f"/work/{item}/")
    elsewhere(first).to_contain_text("open in another tab too")
    second.evaluate("BroadcastChannel.prototype.postMessage = () => {}")  # as if it had crashed
    second.close()
    first.clock.fast_forward("00:21")  # asks who is there
    elsewhere(first).to_be_visible()
    first.clock.fast_forward("00:21")  # nobody said so
    elsewhere(first).to_be_hidden()


def test_items_that_differ_do_not_disturb_each_other(worker, site):
    first_item, second_item = site.assignments(worker.name, "t1")
    first, second = worker.open(f"/work/{first_item}/"), worker.open(f"/work/{second_item}/")
    grade(second, 1, 0)
    settled(second)
    elsewhere(first).to_be_hidden()
    assert first.locator("#q-1 input:checked").count() == 0


def test_answer_in_one_tab_appears_in_the_other_and_can_be_changed_there(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    first, second = (worker.open(f"/work/{item}/") for _ in range(2))
    grade(first, 3, 1)
    elsewhere(second).to_contain_text("Question 3 was answered in another tab: 1")
    expect(second.locator("#q-3 input[value='1']")).to_be_checked()
    drag_over(first, "four metres of clay")
    expect(second.locator("#q-3 .spans q")).to_have_text("four metres of clay")
    settled(first)
    grade(second, 3, 0)
    second.click("#q-3 [data-denial=take]")
    settled(second)
    expect(first.locator("#q-3 input[value='0']")).to_be_checked()
    assert site.answers(item) == [(2, 1), (2, 1), (2, 0)]


def test_tab_takes_up_what_another_left_waiting(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    first, second = (worker.open(f"/work/{item}/") for _ in range(2))
    worker.context.route("**/answers/**", lambda route: route.abort())
    grade(first, 1, 0)
    save_status(first).to_contain_text("1 waiting")
    first.close()
    worker.context.unroute("**/answers/**")
    until(second, "Object.keys(localStorage).every(name => !name.startsWith('outbox'))")
    assert site.answers(item) == [(0, 0)]
    worker.errors.clear()


def both_answer(page, other_page):
    """Answer question 1 on both devices; return the conflict panel.

    The second device answers 0; the first, which does not know, answers 1 with words.
    """
    with unaware(page):
        grade(other_page, 1, 0)
        settled(other_page)
        drag_over(page, "four metres of clay")
        panel = page.locator("#q-1 .conflict")
        expect(panel).to_contain_text("answered in another place too")
    return panel


def test_conflict_shows_both_answers_and_is_announced(devices, site):
    page, other_page, item = devices
    panel = both_answer(page, other_page)
    expect(panel.locator("dd")).to_have_text(["1 four metres of clay", "0"])
    expect(page.locator(".told-now[role=status]")).to_contain_text(
        "Question 1 was answered in two places"
    )
    save_status(page).to_contain_text("Answered twice: 1")
    assert site.answers(item) == [(0, 0)]
    assert axe_problems(page) == []
    grade(page, 2, 0)  # what has nothing to do with it goes on
    until(page, "Object.keys(localStorage).filter(name => name.startsWith('outbox')).length === 1")
    assert site.answers(item) == [(0, 0), (1, 0)]


def test_keeping_the_answer_given_here(devices, site):
    page, other_page, item = devices
    panel = both_answer(page, other_page)
    panel.locator("[data-keep]").click()
    settled(page)
    expect(panel).to_have_count(0)
    assert site.answers(item) == [(0, 0), (0, 1)]
    other_page.evaluate(
        "document.dispatchEvent(new Event('visibilitychange'))"
    )  # as one comes back
    elsewhere(other_page).to_contain_text("Question 1 was answered in another place: 1")
    expect(other_page.locator("#q-1 .spans q")).to_have_text("four metres of clay")


def test_taking_the_other_answer(devices, site):
    page, other_page, item = devices
    panel = both_answer(page, other_page)
    panel.locator("[data-take]").click()
    settled(page)
    expect(panel).to_have_count(0)
    expect(page.locator("#q-1 input[value='0']")).to_be_checked()
    expect(page.locator("#q-1 .spans q")).to_have_count(0)
    assert site.answers(item) == [(0, 0)]
    grade(page, 1, 1)  # and it can be changed in full knowledge
    settled(page)
    assert site.answers(item) == [(0, 0), (0, 1)]


def test_conflict_outlives_a_reload_and_holds_back_the_end(devices, site):
    page, other_page, item = devices
    both_answer(page, other_page)
    page.reload()
    panel = page.locator("#q-1 .conflict")
    expect(panel).to_be_visible()
    for number in range(2, 16):
        grade(page, number, 0)
    page.click("#submit button")
    expect(panel.locator("[data-keep]")).to_be_focused()
    assert site.state(item) == "open"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # take the other
    settled(page)
    page.click("#submit button")
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert site.state(item) == "submitted"
    assert sorted(site.answers(item)) == [(position, 0) for position in range(15)]


def test_answers_after_a_conflict_wait_behind_it(devices, site):
    page, other_page, item = devices
    panel = both_answer(page, other_page)
    page.locator("#q-1 .remove").click()
    expect(panel.locator("dd").first.locator("q")).to_have_count(0)
    assert site.answers(item) == [(0, 0)]
    panel.locator("[data-keep]").click()
    settled(page)
    assert site.answers(item) == [(0, 0), (0, 1), (0, 1)]


def test_stale_tab_of_a_browser_without_channels_is_shown_both(worker, site):
    worker.context.add_init_script("delete window.BroadcastChannel")
    item, _ = site.assignments(worker.name, "t1")
    first, second = (worker.open(f"/work/{item}/") for _ in range(2))
    panel = second.locator("#q-1 .conflict")
    with unaware(second):
        grade(first, 1, 1)
        settled(first)
        grade(second, 1, 0)
        expect(panel).to_be_visible()
    expect(panel.locator("dd")).to_have_text(["0", "1"])
    panel.locator("[data-keep]").click()
    settled(second)
    assert site.answers(item) == [(0, 1), (0, 0)]
    worker.errors.clear()


def test_item_submitted_elsewhere_is_reported(devices):
    page, other_page, item = devices
    answer_all(other_page)
    other_page.click("#submit button")
    other_page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    elsewhere(page).to_contain_text("submitted this in another tab or browser")
    expect(page.locator("#progress-words")).to_have_text("15 of 15")
