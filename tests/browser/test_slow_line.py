"""Slow connection: queued answers go in one request, and the page reports progress."""

import pytest

from tests.browser.user_input import answer_all, grade, offline, save_status, settled

pytestmark = pytest.mark.whole_browser


class SlowLine:
    """Interceptor that keeps each request with answers until it is let through."""

    def __init__(self, page):
        self.page = page
        self.pending = []
        self.sent = []
        page.context.route("**/work/**", self._intercept)

    def _intercept(self, route):
        if route.request.method == "POST":
            self.sent.append(route.request.url)
            self.pending.append(route)
        else:
            route.continue_()

    def let_through(self):
        while not self.pending:
            self.page.wait_for_timeout(50)
        self.pending.pop(0).continue_()


@pytest.fixture
def at_work(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    yield worker, worker.open(f"/work/{first}/"), first
    worker.errors.clear()


def test_fifteen_answers_and_their_submit_take_two_requests(at_work, site):
    _, page, item = at_work
    line = SlowLine(page)
    answer_all(page)
    page.click("#submit button")
    save_status(page).to_have_text("Submitting… 0 of 15 sent")
    line.let_through()
    save_status(page).to_have_text("Submitting… 1 of 15 sent")
    assert site.answers(item) == [(0, 0)]
    line.let_through()
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert len(line.sent) == 2
    assert site.answers(item) == [(position, 0) for position in range(15)]
    assert site.state(item) == "submitted"


def test_long_queue_goes_in_pieces_and_the_line_counts_them(at_work, site):
    _, page, item = at_work
    with offline(page):
        for number in range(60):
            grade(page, number % 15 + 1, number // 15 % 2)
        save_status(page).to_contain_text("60 waiting")
    line = SlowLine(page)
    page.reload()  # before it could be sent, or after some of it was
    while site.answers(item)[59:] == []:
        if line.pending:
            line.let_through()
        page.wait_for_timeout(50)
    settled(page)
    expected = [(number % 15, number // 15 % 2) for number in range(60)]
    assert site.answers(item) == expected


def test_queue_sent_by_two_tabs_is_stored_once(at_work, site):
    worker, page, item = at_work
    worker.context.add_init_script("delete navigator.__proto__.locks")  # as on plain http
    other_page = worker.open(f"/work/{item}/")
    page.reload()
    with offline(page), offline(other_page):
        answer_all(page)
        save_status(page).to_contain_text("15 waiting")
    other_page.evaluate("dispatchEvent(new Event('online'))")
    page.evaluate("dispatchEvent(new Event('online'))")
    settled(page)
    settled(other_page)
    assert sorted(site.answers(item)) == [(position, 0) for position in range(15)]
    assert page.locator(".conflict").count() == other_page.locator(".conflict").count() == 0
