"""Task page on a phone: one tap for each answer, text and grades in sight."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems
from tests.browser.touch_targets import PHONE, SMALL_TARGETS
from tests.browser.user_input import settled

LINES = """() => {
  const pane = document.querySelector('.text-pane').getBoundingClientRect();
  const line = parseFloat(getComputedStyle(document.querySelector('#text p')).lineHeight);
  return (pane.height - 16) / line;
}"""
OUTSIDE = """() => {
  const foot = document.querySelector('.task-foot').getBoundingClientRect();
  const pane = document.querySelector('.question-pane').getBoundingClientRect();
  return [...document.querySelectorAll('.question[data-active] .level')]
    .map((level) => level.getBoundingClientRect())
    .filter((box) => box.top < pane.top || box.bottom > foot.top || box.right > innerWidth).length;
}"""
HEIGHTS = """() => ['.task-bar', '.task-foot']
  .map((name) => document.querySelector(name).getBoundingClientRect().height)"""


@pytest.mark.parametrize(
    ("study", "name", "n_answers"), [("utility", "worker28", 3), ("both", "worker29", 6)]
)
def test_each_answer_takes_one_tap(visit, site, study, name, n_answers):
    worker = visit(name, **PHONE)
    item = site.assignments(worker.name, study)[0]
    page = worker.open(f"/work/{item}/")
    for _ in range(n_answers):
        card = page.locator(".question[data-active]")
        number = card.get_attribute("data-question")
        card.locator("form > fieldset label").last.tap()
        expect(page.locator(f"#q-{number}")).not_to_have_attribute("data-state", "open")
    expect(page.locator("#submit button")).to_be_focused()
    settled(page)
    page.locator("#submit button").tap()
    page.wait_for_url(lambda url: f"/work/{item}/" not in url)
    assert site.state(item) == "submitted"


def test_answer_that_was_left_can_be_undone_where_one_is(visit, site):
    worker = visit("worker29", **PHONE)
    item = site.assignments(worker.name, "utility")[0]
    page = worker.open(f"/work/{item}/")
    page.locator("#q-1 .level").first.tap()
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
    expect(page.locator("#q-2 input[name=grade]").first).to_be_focused()
    expect(page.locator("#answered span")).to_have_text("Question 1: 5")
    assert axe_problems(page) == []
    page.locator("#answered button").tap()
    expect(page.locator("#q-1")).to_have_attribute("data-active", "")
    expect(page.locator("#answered button")).to_be_hidden()
    expect(page.locator("#q-1 input:checked")).to_have_count(0)
    page.locator("#q-1 .level").last.tap()
    expect(page.locator("#answered button")).to_be_visible()
    expect(page.locator("#answered button")).to_be_hidden()  # it leaves the footer by itself
    settled(page)
    assert [grade for _, grade in site.answers(item)] == [5, None, 1]


def test_answer_by_key_or_in_a_list_stays(visit, site):
    worker = visit("worker29", width=390, height=844)
    item = site.assignments(worker.name, "utility")[1]
    page = worker.open(f"/work/{item}/")
    page.locator("#q-1 input[name=grade]").first.focus()
    page.keyboard.press("Space")
    expect(page.locator("#q-1")).to_have_attribute("data-state", "absent")
    expect(page.locator("#q-1")).to_have_attribute("data-active", "")
    page.locator("[data-all]").click()
    page.locator("#q-2 .level").first.click()
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
    settled(page)


@pytest.mark.parametrize(("width", "height"), [(390, 664), (375, 667), (360, 640)])
def test_text_and_all_grades_are_in_sight(new_worker, site, width, height):
    worker = new_worker(**PHONE | {"width": width, "height": height})
    (item,) = site.assignments(worker.name, "t2")
    page = worker.open(f"/work/{item}/")
    assert page.evaluate(LINES) >= 8
    assert page.evaluate(OUTSIDE) == 0
    assert all(height <= 48 for height in page.evaluate(HEIGHTS))
    assert page.evaluate(SMALL_TARGETS) == []
    assert axe_problems(page) == []


def test_guideline_stays_open_beside_the_work(new_worker, site):
    worker = new_worker()
    first, second = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    guideline = page.locator("#guideline")
    page.locator("[data-beside]").click()
    expect(guideline).to_be_visible()
    expect(guideline.get_by_role("button", name="Close")).to_be_focused()
    assert axe_problems(page) == []
    page.locator("#q-1").click()
    page.keyboard.press("0")
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
    settled(page)
    page.goto(f"{site.url}/work/{second}/")
    expect(guideline).to_be_visible()
    expect(page.locator("[data-beside]")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(guideline).to_be_hidden()
    page.reload()
    expect(guideline).to_be_hidden()


CLOSINGS = [
    "document.querySelector('[data-beside]').click()",
    "document.querySelector('#guideline button').click()",
    "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))",
]


def test_closed_guideline_is_remembered_before_the_page_can_be_left(new_worker, site):
    worker = new_worker()
    page = worker.open(f"/work/{site.assignments(worker.name, 't1')[0]}/")
    for closing in CLOSINGS:
        page.locator("[data-beside]").click()
        assert "guideline-beside" in page.evaluate("document.cookie")
        assert "guideline-beside" not in page.evaluate(
            f"() => {{ {closing}; return document.cookie; }}"
        )
        expect(page.locator("[data-beside]")).to_be_focused()
