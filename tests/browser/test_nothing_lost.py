"""No answer is lost: offline, server down, reloads, double clicks, a second user."""

import re
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import expect

from tests.browser.user_input import (
    answer_all,
    drag_over,
    grade,
    offline,
    save_status,
    settled,
    until,
)
from tests.toolbox.browser_texts import T1_BODY

pytestmark = pytest.mark.whole_browser  # which sends what a page leaves behind

LISTEN = """() => {
    const line = document.getElementById("saved");
    window.heard = [];
    const hear = () => window.heard.push(line.textContent.trim());
    new MutationObserver(hear).observe(line, { childList: true, characterData: true, subtree: true });
}"""


@pytest.fixture
def at_work(worker, site):
    """Open the first T1 item of a worker; yield the worker, the page and the item's key."""
    first, _ = site.assignments(worker.name, "t1")
    yield worker, worker.open(f"/work/{first}/"), first
    worker.errors.clear()  # Chromium logs every request that fails, and these are meant to


def test_answers_made_offline_arrive_once_and_in_order(at_work, site):
    worker, page, item = at_work
    grade(page, 1, 0)
    settled(page)
    with offline(page):
        grade(page, 2, 0)
        grade(page, 3, 1)
        drag_over(page, "four metres of clay")
        grade(page, 2, 1)
        save_status(page).to_contain_text("Not saved yet, 4 waiting")
        assert site.answers(item) == [(0, 0)]
    settled(page)
    assert site.answers(item) == [(0, 0), (1, 0), (2, 1), (2, 1), (1, 1)]
    start = T1_BODY.index("four metres of clay")
    assert site.ratings(worker.name, "answerable") == {
        0: (0, []),
        1: (1, []),
        2: (1, [(start, start + 19, "four metres of clay")]),
    }


def test_status_never_says_saved_while_answers_wait(at_work):
    _, page, _ = at_work
    grade(page, 1, 0)
    settled(page)
    with offline(page):
        page.evaluate(LISTEN)
        grade(page, 2, 0)
        save_status(page).to_contain_text("1 waiting")
        grade(page, 3, 1)
        page.keyboard.press("u")
        page.keyboard.press("u")
        save_status(page).to_contain_text("4 waiting")
        with page.expect_event("requestfailed"):
            page.evaluate("dispatchEvent(new Event('online'))")  # a network, and still no server
        save_status(page).to_contain_text("4 waiting")
        heard = {message.split(",")[0] for message in page.evaluate("window.heard")}
        assert heard == {"Saving…", "Not saved yet"}
    settled(page)


def test_reload_shows_what_still_waits_and_sends_it(at_work, site):
    _, page, item = at_work
    page.context.route("**/answers/**", lambda route: route.abort())
    drag_over(page, "four metres of clay")
    grade(page, 2, 0)
    save_status(page).to_contain_text("2 waiting")
    page.reload()
    expect(page.locator("#q-1 .spans q")).to_have_text(["four metres of clay"])
    expect(page.locator("#q-2 input[value='0']")).to_be_checked()
    save_status(page).to_contain_text("2 waiting")
    grade(page, 2, 1)
    page.context.unroute("**/answers/**")
    settled(page)
    assert site.answers(item) == [(0, 1), (1, 0), (1, 1)]


def test_reply_that_is_lost_does_not_double_the_answer(at_work, site):
    _, page, item = at_work
    dropped = []

    def lose(route):
        route.fetch()  # the server has it
        dropped.append(route)
        route.abort()

    page.route("**/answers/**", lose)
    grade(page, 1, 0)
    save_status(page).to_contain_text("1 waiting")
    page.unroute("**/answers/**")
    settled(page)
    assert dropped
    assert site.answers(item) == [(0, 0)]


def test_database_that_is_locked_is_waited_for(at_work, site):
    _, page, item = at_work
    replies = []
    page.on(
        "response", lambda response: "/answers/" in response.url and replies.append(response.status)
    )
    with closing(sqlite3.connect(site.database)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        grade(page, 1, 0)
        grade(page, 2, 1)
        save_status(page).to_have_text(
            "Not saved yet, 2 waiting. The server is busy. Your answers are sent in a moment."
        )
        page.reload()  # reads are not locked
        save_status(page).to_contain_text("2 waiting")
    settled(page)
    assert set(replies) <= {503, 204, 200}  # one answer alone, or the queue
    assert 503 in replies
    assert site.answers(item) == [(0, 0), (1, 1)]


def test_retry_after_of_the_server_is_respected(at_work, site):
    _, page, item = at_work
    page.clock.install()
    requests = []

    def refuse(route):
        requests.append(route.request.url)
        route.fulfill(status=503, headers={"Retry-After": "30"})

    page.route("**/answers/**", refuse)
    grade(page, 1, 0)
    save_status(page).to_contain_text("The server is busy")
    page.clock.run_for(29_000)
    assert len(requests) == 1
    page.unroute("**/answers/**")
    page.clock.run_for(2_000)
    settled(page)
    assert site.answers(item) == [(0, 0)]


def test_submitting_offline_waits_behind_the_answers_and_goes_on(at_work, site):
    _, page, item = at_work
    answer_all(page)
    settled(page)
    with offline(page):
        page.click("#submit button")
        save_status(page).to_contain_text("Not submitted yet, 1 waiting")
        page.keyboard.press("Control+Enter")
        save_status(page).to_contain_text("1 waiting")
        assert site.state(item) == "open"
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert site.state(item) == "submitted"


def test_change_after_submitting_offline_asks_to_submit_again(at_work, site):
    _, page, item = at_work
    opened = page.locator("#elsewhere")
    answer_all(page)
    settled(page)
    with offline(page):
        page.click("#submit button")
        save_status(page).to_contain_text("Not submitted yet, 1 waiting")
        grade(page, 2, 1)
        expect(opened).to_contain_text("Submit it again")
        save_status(page).to_contain_text("Not saved yet, 1 waiting")
    settled(page)
    expect(page).to_have_url(f"{site.url}/work/{item}/")
    assert site.state(item) == "open"
    drag_over(page, "four metres of clay")
    page.click("#submit button")
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert site.state(item) == "submitted"
    assert site.answers(item)[-2:] == [(1, 1), (1, 1)]


def test_answer_that_opens_another_item_again_leads_back_to_it(at_work, site):
    worker, page, item = at_work
    _, second = site.assignments(worker.name, "t1")
    answer_all(page)
    settled(page)
    page.click("#submit button")
    page.wait_for_url(f"**/work/{second}/")
    page.goto(f"{site.url}/work/{item}/")
    worker.context.route("**/answers/**", lambda route: route.abort())
    grade(page, 2, 1)
    save_status(page).to_contain_text("1 waiting")
    page.goto(f"{site.url}/work/{second}/")
    worker.context.unroute("**/answers/**")
    expect(page.locator("#elsewhere")).to_contain_text(
        "You changed another text after you submitted it"
    )
    page.get_by_role("link", name="back to it").click()
    expect(page).to_have_url(f"{site.url}/work/{item}/")
    expect(page.locator(".banner:visible")).to_contain_text("Submit it again")


def test_page_of_a_study_follows_what_it_sends(at_work, site):
    worker, page, _ = at_work
    page.goto(f"{site.url}/work/in/t1/")
    page.get_by_role("link", name="Start").click()  # the item that is the first for this person
    page.wait_for_url(re.compile(r"/work/\d+/$"))
    item = int(page.url.split("/")[-2])
    answer_all(page)
    settled(page)
    worker.context.route("**/submit/", lambda route: route.abort())
    page.click("#submit button")
    save_status(page).to_contain_text("1 waiting")
    page.goto(f"{site.url}/work/in/t1/")
    expect(page.locator("main")).to_contain_text("0 of 2 submitted")
    expect(page.get_by_role("link", name="Continue")).to_be_visible()
    worker.context.unroute("**/submit/")
    expect(page.locator("main")).to_contain_text("1 of 2 submitted")
    save_status(page).to_contain_text("Saved")
    [second] = {*site.assignments(worker.name, "t1")} - {item}
    expect(page.get_by_role("link", name="Continue")).to_have_attribute("href", f"/work/{second}/")


def test_item_handed_in_before_a_reload_is_handed_in_after_it(at_work, site):
    _, page, item = at_work
    answer_all(page)
    settled(page)
    page.context.route("**/submit/", lambda route: route.abort())
    page.click("#submit button")
    save_status(page).to_contain_text("1 waiting")
    page.reload()
    save_status(page).to_contain_text("1 waiting")
    page.context.unroute("**/submit/")
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert site.state(item) == "submitted"


def test_change_while_submit_is_on_its_way_comes_after_it(at_work, site):
    _, page, item = at_work
    answer_all(page)
    page.locator("#q-1 legend").click()
    grade(page, 1, 1)
    drag_over(page, "four metres of clay")
    settled(page)
    on_their_way = []
    page.context.route(
        "**/submit/", lambda route: on_their_way.append(route)
    )  # and says nothing yet
    with page.expect_request("**/submit/"):
        page.click("#submit button")
    drag_over(page, "Nobody was on the line")  # one more span: nothing is lacking
    on_their_way[0].continue_()
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    settled(page)
    assert site.state(item) == "submitted"


def test_double_click_submits_once(at_work, site):
    _, page, item = at_work
    answer_all(page)
    sent = []
    page.on("request", lambda request: "/submit/" in request.url and sent.append(request.url))
    page.locator("#submit button").dblclick()
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert len(sent) == 1
    assert len(site.answers(item)) == 15


@pytest.mark.parametrize("next_page", ["item", "study"])
def test_queue_of_a_closed_page_is_sent_by_the_next_page(at_work, site, next_page):
    worker, page, item = at_work
    worker.context.route("**/answers/**", lambda route: route.abort())
    grade(page, 1, 0)
    grade(page, 2, 0)
    save_status(page).to_contain_text("2 waiting")
    assert site.answers(item) == []  # now: a try that is under way may outlive its page, and arrive
    page.close()
    worker.context.unroute("**/answers/**")
    _, second = site.assignments(worker.name, "t1")
    page = worker.open({"item": f"/work/{second}/", "study": "/work/in/t1/"}[next_page])
    settled(page)
    until(page, "Object.keys(localStorage).every(name => !name.startsWith('outbox'))")
    assert site.answers(item) == [(0, 0), (1, 0)]


def test_refused_answer_is_reported_and_not_sent_again(at_work, site):
    _, page, item = at_work
    sent = []

    def refuse(route):
        sent.append(route.request.url)
        route.fulfill(status=422, content_type="text/plain", body="That does not fit the text.")

    page.route("**/answers/**", refuse)
    grade(page, 1, 0)
    save_status(page).to_have_text("Not saved. That does not fit the text.")
    assert (
        page.evaluate("Object.keys(localStorage).filter(name => name.startsWith('outbox'))") == []
    )
    page.unroute("**/answers/**")
    grade(page, 1, 1)
    settled(page)
    assert len(sent) == 1
    assert site.answers(item) == [(0, 1)]


@pytest.mark.parametrize("n", [1, 3])
def test_page_of_a_network_that_asks_for_a_log_in_is_no_acknowledgement(at_work, site, n):
    _, page, item = at_work

    def intercept(route):
        route.fulfill(status=200, content_type="text/html", body="<h1>Welcome to the hotel</h1>")

    page.route("**/answers/**", intercept)
    for number in range(1, n + 1):
        grade(page, number, 0)
    save_status(page).to_contain_text(f"Not saved yet, {n} waiting. The server cannot be reached")
    page.unroute("**/answers/**")
    settled(page)
    assert site.answers(item) == [(position, 0) for position in range(n)]


def test_refused_answer_stays_open_at_its_question_and_outlives_a_reload(at_work, site):
    _, page, item = at_work
    answer_all(page)
    settled(page)

    def refuse(route):
        route.fulfill(status=422, content_type="text/plain", body="That does not fit the text.")

    page.context.route("**/answers/**", refuse)
    drag_over(page, "four metres of clay")  # with the last question, which is the active one
    expect(page.locator("#q-15 .offer")).to_be_visible()
    page.click("#q-15 [data-offer=take]")
    panel = page.locator("#q-15 .refusal")
    expect(panel).to_contain_text("Not saved. That does not fit the text.")
    page.reload()
    expect(panel).to_contain_text("Not saved. That does not fit the text.")
    expect(page.locator("#q-15 .spans q")).to_have_text(["four metres of clay"])
    expect(page.locator("[data-tick='15']")).to_have_attribute("data-state", "open")
    expect(page.locator("#progress-words")).to_have_text("14 of 15")
    save_status(page).to_have_text("Not saved: 1. Answer again where the page says so.")
    page.click("#submit button")
    expect(page.locator("#missing")).to_contain_text("15 open")
    assert site.state(item) == "open"
    page.context.unroute("**/answers/**")
    panel.locator("[data-retry]").click()
    settled(page)
    expect(panel).to_be_hidden()
    assert site.answers(item)[-1] == (14, 1)
    page.reload()
    expect(panel).to_be_hidden()
    page.click("#submit button")
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert site.state(item) == "submitted"


def test_refused_answer_holds_back_the_end_of_its_item(at_work, site):
    _, page, item = at_work
    answer_all(page)
    settled(page)
    routes = []
    page.context.route("**/answers/**", lambda route: routes.append(route))
    grade(page, 3, 1)
    drag_over(page, "four metres of clay")
    page.click("#submit button")
    save_status(page).to_contain_text("Submitting")
    routes[0].fulfill(status=422, content_type="text/plain", body="That does not fit.")
    wait_for_routes(page, routes, 2)  # the words, and the end behind them
    entries = routes[1].request.post_data_json
    refused = {"status": 422, "reply": "That does not fit."}
    results = [refused, *[{"status": 424}] * (len(entries) - 1)]
    routes[1].fulfill(json={"results": results})
    expect(page.locator("#q-3 .refusal")).to_contain_text("That does not fit.")
    save_status(page).to_contain_text("Not saved")
    page.context.unroute("**/answers/**")
    assert site.state(item) == "open"
    page.locator("#q-3 [data-retry]").click()
    settled(page)
    expect(page).to_have_url(f"{site.url}/work/{item}/")
    assert site.answers(item)[-1] == (2, 1)


def wait_for_routes(page, routes, number):
    while len(routes) < number:
        page.wait_for_timeout(50)


def test_skip_waits_like_an_answer(at_work, site):
    _, page, item = at_work
    page.click(".skip summary")
    page.fill(".skip textarea", "It ends in mid-sentence.")
    with offline(page):
        page.click(".skip button")
        save_status(page).to_contain_text("1 waiting")
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert site.rows("select state, note from annotation_assignment where id = ?", item) == [
        ("skipped", "It ends in mid-sentence.")
    ]


def test_back_shows_the_newest_answers(at_work, site):
    _, page, item = at_work
    grade(page, 1, 0)
    settled(page)
    page.click(".where a")
    page.wait_for_url("**/work/in/t1/")
    page.go_back()
    expect(page.locator("#q-1 input[value='0']")).to_be_checked()
    grade(page, 1, 1)
    settled(page)
    assert page.locator(".conflict").count() == 0
    assert site.answers(item) == [(0, 0), (0, 1)]


def test_full_storage_is_reported(new_worker, site):
    worker = new_worker()
    worker.context.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    )
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    page.route("**/answers/**", lambda route: route.abort())
    grade(page, 1, 0)
    save_status(page).to_contain_text("do not close or reload this page")
    page.unroute("**/answers/**")
    settled(page)
    assert site.answers(item) == [(0, 0)]
    worker.errors.clear()


def test_users_of_one_computer_do_not_send_each_others_answers(at_work, site):
    worker, page, item = at_work
    worker.context.route("**/answers/**", lambda route: route.abort())
    grade(page, 1, 0)
    save_status(page).to_contain_text("1 waiting")
    worker.context.clear_cookies()
    mine, worker.name = worker.name, "worker8"
    worker.log_in()  # another person, in another tab
    worker.context.unroute("**/answers/**")
    save_status(page).to_contain_text("Somebody else is logged in")
    theirs, _ = site.assignments("worker8", "t1")
    other_page = worker.open(f"/work/{theirs}/")
    grade(other_page, 2, 0)
    settled(other_page)
    other_page.close()
    assert site.answers(item) == []
    worker.context.clear_cookies()
    worker.name = mine
    worker.log_in()
    settled(page)
    assert site.answers(item) == [(0, 0)]


def test_grade_that_is_chosen_before_the_scripts_are_there_is_saved(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.context.new_page()
    routes = []
    page.route("**/js/work*.js", lambda route: routes.append(route))
    page.goto(f"{worker.site.url}/work/{item}/", wait_until="commit")
    grade(page, 1, 0)
    save_status(page).to_have_text("Save each answer with its button")  # nothing is saved yet
    while not routes:
        page.wait_for_timeout(50)
    routes[0].continue_()
    save_status(page).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))
    assert site.answers(item) == [(0, 0)]
    page.locator("#undo").click()
    settled(page)
    assert site.answers(item) == [(0, 0), (0, None)]


def test_undo_has_a_button_and_is_a_new_answer(at_work, site):
    _, page, item = at_work
    button = page.locator("#undo")
    expect(button).to_be_disabled()
    grade(page, 1, 0)
    settled(page)
    button.click()
    settled(page)
    expect(page.locator("#q-1 input:checked")).to_have_count(0)
    expect(button).to_be_disabled()
    assert site.answers(item) == [(0, 0), (0, None)]
