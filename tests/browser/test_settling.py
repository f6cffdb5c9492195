"""Debounced marking by keys: several keys are one answer, which is never lost."""

from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.user_input import answer_all, grade, settled
from tests.toolbox.browser_texts import T1_BODY
from tests.toolbox.clock import wait_for

pytestmark = pytest.mark.whole_browser  # which sends what a page leaves behind

SENTENCE = T1_BODY[: T1_BODY.index(" Nobody was")]
QUOTE = SENTENCE[: -len(" of clay.")]
KEYS = ("t", "Space", "Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft")


@pytest.fixture
def at_work(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    worker.context.clock.install()
    return worker, worker.open(f"/work/{first}/"), first


@contextmanager
def at_once(page):
    """Pause the page's clock, so that keys follow each other at once on a loaded machine."""
    soon = page.evaluate("Date.now()") / 1000 + 60  # a time in the past cannot be paused at
    page.clock.pause_at(soon)
    yield
    page.clock.resume()


def mark(page, keys=KEYS):
    for key in keys:
        page.keyboard.press(key)


def spans(site, item):
    """Return the answers to the first question in order of arrival: (grade, quote)."""
    return site.rows(
        "select a.grade, json_extract(a.spans, '$[0].quote') from annotation_answer a"
        " join annotation_subquestion q on q.id = a.question_id"
        " where a.assignment_id = ? and q.position = 0 order by a.id",
        item,
    )


def test_keys_leave_out_punctuation_and_come_back_to_it(at_work, site):
    _, page, item = at_work
    marked = page.locator("#q-1 .spans q")
    with at_once(page):
        mark(page, ("t", "ArrowRight", "Space", "Control+Shift+ArrowLeft"))
        expect(marked).to_have_text(["Nobody was on the line at the time,"])
        mark(page, ("Shift+ArrowLeft",))
        expect(marked).to_have_text(["Nobody was on the line at the time"])
        mark(page, ("Shift+ArrowRight",))
        expect(marked).to_have_text(["Nobody was on the line at the time,"])
    settled(page)
    assert spans(site, item) == [(1, "Nobody was on the line at the time,")]


# Each leaves the question before the debounce timer sends the span: the clock is paused.
DEPARTURES = {
    "the next question": lambda page: page.keyboard.press("j"),
    "another window": lambda page: page.evaluate("dispatchEvent(new Event('blur'))"),
    "another tab": lambda page: page.evaluate(
        "Object.defineProperty(document, 'hidden', { value: true });"
        "document.dispatchEvent(new Event('visibilitychange'))"
    ),
    "a grade": lambda page: page.keyboard.press("1"),
    "undo": lambda page: (mark(page, ("Shift+ArrowLeft",)), page.keyboard.press("u")),
}


@pytest.mark.parametrize("departure", DEPARTURES)
def test_leaving_a_question_sends_its_span(worker, site, departure):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.context.new_page()
    page.clock.install()
    page.goto(f"{worker.site.url}/work/{item}/")
    page.clock.pause_at("2100-01-01")
    mark(page)
    expect(page.locator("#saved")).to_have_text("Saving…")
    expect(page.locator("#q-1 .spans q")).to_have_text([QUOTE])
    assert spans(site, item) == []
    DEPARTURES[departure](page)
    settled(page)
    assert spans(site, item) == [(1, QUOTE)]


def test_item_is_handed_in_with_the_words_of_the_last_key(at_work, site):
    _, page, item = at_work
    answer_all(page)
    grade(page, 1, 1)
    settled(page)
    page.locator("#q-1 legend").click()
    with at_once(page):
        mark(page, (*KEYS, "Control+Enter"))
    page.wait_for_url(lambda url: not url.endswith(f"/work/{item}/"))
    assert site.state(item) == "submitted"
    assert spans(site, item) == [(0, None), (1, None), (1, QUOTE)]


def test_page_that_is_left_at_once_has_sent_its_span(at_work, site):
    worker, page, item = at_work
    with at_once(page):
        mark(page)
        page.goto("about:blank")
    wait_for(lambda: spans(site, item))
    assert spans(site, item) == [(1, QUOTE)]
    page = worker.open(f"/work/{item}/")  # which sends them again, and they count once
    settled(page)
    assert (
        page.evaluate("Object.keys(localStorage).some(name => name.startsWith('outbox'))") is False
    )
    assert spans(site, item) == [(1, QUOTE)]


def test_unsent_span_of_a_dead_page_is_sent_by_the_next(at_work, site):
    worker, page, item = at_work
    worker.context.route("**/answers/**", lambda route: route.abort())
    with at_once(page):
        mark(page)
    page.close()
    worker.context.unroute("**/answers/**")
    page = worker.open(f"/work/{item}/")
    expect(page.locator("#q-1 .spans q")).to_have_text([QUOTE])
    settled(page)
    assert spans(site, item) == [(1, QUOTE)]
    worker.errors.clear()  # the request that did not get through


def test_keys_offline_wait_as_one_answer(at_work, site):
    worker, page, item = at_work
    worker.context.route("**/answers/**", lambda route: route.abort())
    with at_once(page):
        mark(page)
    expect(page.locator("#saved")).to_contain_text("Not saved yet, 1 waiting")
    mark(page, ("Shift+ArrowLeft",))  # a separate answer: the first may have arrived
    expect(page.locator("#saved")).to_contain_text("2 waiting")
    worker.context.unroute("**/answers/**")
    settled(page)
    assert spans(site, item) == [(1, QUOTE), (1, QUOTE.removesuffix(" metres"))]
    worker.errors.clear()  # as above


def test_second_tab_shows_the_span_of_the_last_key(at_work, site):
    worker, page, item = at_work
    other_page = worker.open(f"/work/{item}/")
    other_page.locator("#elsewhere").wait_for()
    with at_once(page):
        mark(page)
    expect(other_page.locator("#q-1 .spans q")).to_have_text([QUOTE])
    settled(page)
    settled(other_page)
    assert spans(site, item) == [(1, QUOTE)]
    assert other_page.locator(".conflict").count() == 0
