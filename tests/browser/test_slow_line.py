"""A slow line: what waits goes in one request, and the page says how much of it has arrived."""

import pytest

from tests.browser.hands import answer_all, grade, offline, said, settled

pytestmark = pytest.mark.whole_browser


class SlowLine:
    """Holds each request that carries answers until it is let through."""

    def __init__(self, page):
        self.page = page
        self.held = []
        self.sent = []
        page.context.route("**/work/**", self._hold)

    def _hold(self, route):
        if route.request.method == "POST":
            self.sent.append(route.request.url)
            self.held.append(route)
        else:
            route.continue_()

    def let_through(self):
        while not self.held:
            self.page.wait_for_timeout(50)
        self.held.pop(0).continue_()


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
    said(page).to_have_text("Handing in… 0 of 15 sent")
    line.let_through()
    said(page).to_have_text("Handing in… 1 of 15 sent")
    assert site.said(item) == [(0, 0)]
    line.let_through()
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert len(line.sent) == 2
    assert site.said(item) == [(position, 0) for position in range(15)]
    assert site.state(item) == "submitted"


def test_a_long_queue_goes_in_pieces_and_the_line_counts_them(at_work, site):
    _, page, item = at_work
    with offline(page):
        for number in range(60):
            grade(page, number % 15 + 1, number // 15 % 2)
        said(page).to_contain_text("60 waiting")
    line = SlowLine(page)
    page.reload()  # before it could be sent, or after some of it was
    while site.said(item)[59:] == []:
        if line.held:
            line.let_through()
        page.wait_for_timeout(50)
    settled(page)
    said_in_order = [(number % 15, number // 15 % 2) for number in range(60)]
    assert site.said(item) == said_in_order


def test_two_tabs_send_the_same_queue_and_it_is_stored_once(at_work, site):
    worker, page, item = at_work
    worker.context.add_init_script("delete navigator.__proto__.locks")  # as on plain http
    other = worker.open(f"/work/{item}/")
    page.reload()
    with offline(page), offline(other):
        answer_all(page)
        said(page).to_contain_text("15 waiting")
    other.evaluate("dispatchEvent(new Event('online'))")
    page.evaluate("dispatchEvent(new Event('online'))")
    settled(page)
    settled(other)
    assert sorted(site.said(item)) == [(position, 0) for position in range(15)]
    assert page.locator(".conflict").count() == other.locator(".conflict").count() == 0
