"""Active time on an item, and the session timeout: warned of or extended."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.user_input import grade, settled


@pytest.mark.timing
def test_active_time_is_sent_with_answers(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    page.mouse.move(200, 200)
    page.wait_for_timeout(400)
    grade(page, 1, 0)
    settled(page)
    [(active_ms,)] = site.rows(
        "select active_ms from annotation_answer where assignment_id = ?", item
    )
    assert 300 < active_ms < 60_000


def test_time_without_a_sign_of_the_person_is_not_counted(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.context.new_page()
    page.clock.install()
    page.goto(f"{worker.site.url}/work/{item}/")
    page.clock.fast_forward("10:00")
    grade(page, 1, 0)
    settled(page)
    [(active_ms,)] = site.rows(
        "select active_ms from annotation_answer where assignment_id = ?", item
    )
    assert 30_000 <= active_ms < 60_000


def test_end_of_the_session_is_warned_of_and_put_off(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.context.new_page()
    page.clock.install()
    page.goto(f"{worker.site.url}/work/{item}/")
    warning = page.locator("#session-warning")
    expect(warning).to_be_hidden()
    seconds_left = page.evaluate(
        "document.getElementById('main').dataset.sessionEnds - Date.now() / 1000"
    )
    # The page counts from the server's clock, so what loading it took is left as well.
    page.clock.fast_forward(int(seconds_left - 3 * 60 - 1) * 1000)
    expect(warning).to_contain_text(re.compile(r"You will be logged out in [34] minutes"))
    with page.expect_response("**/session/") as replied:
        warning.locator("button").click()
    expect(warning).to_contain_text("You stay logged in")
    expect(warning.locator("button")).to_be_hidden()
    assert "sessionid=" in replied.value.header_value("set-cookie")


def test_session_that_is_half_over_is_prolonged_in_silence(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.context.new_page()
    with page.expect_request("**/session/") as request_info:
        # As the server prints it when six of fourteen days are left.
        page.route(
            f"**/work/{item}/",
            lambda route: route.fulfill(
                response=(reply := route.fetch()),
                body=re.sub(
                    r'data-session-ends="(\d+)"',
                    lambda match: f'data-session-ends="{int(match[1]) - 8 * 86400}"',
                    reply.text(),
                ),
            ),
        )
        page.goto(f"{worker.site.url}/work/{item}/")
    assert request_info.value.method == "POST"
    expect(page.locator("#session-warning")).to_be_hidden()
