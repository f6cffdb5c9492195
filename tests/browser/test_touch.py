"""Whole T1 item by touch on a phone: text beside question, few taps, large targets."""

from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems
from tests.browser.touch_targets import PHONE, SMALL_TARGETS
from tests.browser.user_input import select_by_touch, settled, unaware
from tests.toolbox.browser_texts import EXPECTED_T1, T1_ANSWERS

MAY_TAP = 33
BOTH_VISIBLE = """() => ['#text', '.question[data-active] .choices'].every((name) => {
  const box = document.querySelector(name).getBoundingClientRect();
  const pane = document.querySelector(name).closest('.pane').getBoundingClientRect();
  return Math.min(box.bottom, pane.bottom) - Math.max(box.top, pane.top) >= 40 && pane.bottom <= innerHeight;
})"""


def test_t1_by_touch(new_worker, site):
    worker = new_worker(**PHONE)
    first, second = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    taps = 0

    def tap(selector):
        nonlocal taps
        page.locator(selector).tap()
        taps += 1

    for index, (_, quotes) in enumerate(T1_ANSWERS):
        question = f"#q-{index + 1}"
        expect(page.locator(question)).to_have_attribute("data-active", "")
        assert page.evaluate(BOTH_VISIBLE)
        assert page.evaluate(SMALL_TARGETS) == []
        for number, quote in enumerate(quotes, start=1):
            select_by_touch(page, quote)
            taps += 1
            button = page.locator(f"{question} .touch-take [data-next]")
            expect(button).to_be_in_viewport()
            assert page.evaluate(SMALL_TARGETS) == []
            goes_on = "" if quote == quotes[-1] else ":not([data-next])"
            tap(f"{question} .touch-take button{goes_on or '[data-next]'}")
            # A tap comes back before the browser has made a click of it.
            expect(page.locator(f"{question} .spans li")).to_have_count(number)
        if not quotes:
            tap(f"{question} input[value='0']")
            expect(page.locator(f"{question} input[value='0']")).to_be_checked()
    settled(page)
    assert site.ratings(worker.name, "answerable") == EXPECTED_T1
    assert page.evaluate("document.documentElement.scrollHeight / innerHeight") < 3
    tap("#submit button")
    page.wait_for_url(f"**/work/{second}/")
    assert taps <= MAY_TAP


def test_help_on_a_phone_says_how_to_mark_by_touch(new_worker, site):
    worker = new_worker(**PHONE)
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    page.locator("[data-opens=help]").tap()
    expect(page.locator("#help")).to_contain_text("Marking words by touch")
    expect(page.locator("#help .touch-part li").first).to_be_in_viewport()
    expect(page.locator("#help .keys")).to_be_hidden()
    assert axe_problems(page) == []


def test_help_without_touch_names_keys_alone(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    page.locator("[data-opens=help]").click()
    expect(page.locator("#help .keys")).to_be_visible()
    expect(page.locator("#help .touch-part")).to_be_hidden()


def test_undo_by_touch(new_worker, site):
    worker = new_worker(**PHONE)
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    select_by_touch(page, "four metres of clay")
    page.locator("#q-1 .touch-take [data-next]").tap()
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
    page.locator("#undo").tap()
    expect(page.locator("#q-1")).to_have_attribute("data-active", "")
    expect(page.locator("#q-1 .spans q")).to_have_count(0)
    settled(page)
    assert site.answers(item) == [(0, 1), (0, None)]


def test_conflict_is_decided_by_touch(new_worker, visit, site):
    worker = new_worker(**PHONE)
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    second_visitor = visit(worker.name)
    other_page = second_visitor.open(f"/work/{item}/")
    with unaware(page):
        other_page.locator("#q-1 input[value='0']").click()
        settled(other_page)
        select_by_touch(page, "four metres of clay")
        page.locator("#q-1 .touch-take button").last.tap()
        page.locator("#q-1 .conflict [data-keep]").tap()
    expect(page.locator("#q-1 .conflict")).to_have_count(0)
    settled(page)
    assert site.answers(item) == [(0, 0), (0, 1)]
    worker.errors.clear()  # a conflict is a 409, which Chromium logs
