"""Input before the script of the task page has started: it counts as if the script had."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.user_input import drag_over, ends_of, grade, save_status, settled
from tests.toolbox.browser_texts import T1_BODY
from tests.toolbox.clock import wait_for

QUOTE = "four metres of clay"
START = T1_BODY.index(QUOTE)
SPANS = [(START, START + len(QUOTE), QUOTE)]
STARTED = "document.documentElement.hasAttribute('data-started')"


@pytest.fixture
def item(worker, site) -> int:
    return site.assignments(worker.name, "t1")[0]


@pytest.fixture
def open_early(worker, item) -> Callable[[], tuple[Page, Callable[[], None]]]:
    """Return a function that opens the item while its script loads, and one that ends that."""

    def opened() -> tuple[Page, Callable[[], None]]:
        page, pending = worker.context.new_page(), list[Route]()
        page.on("pageerror", lambda error: worker.errors.append(str(error)))
        page.route("**/js/work*.js", lambda route: pending.append(route))
        page.goto(f"{worker.site.url}/work/{item}/", wait_until="commit")
        page.locator("#submit").wait_for()  # the whole item is there

        def start_script() -> None:
            assert not page.evaluate(STARTED)
            wait_for(lambda: page.evaluate("true") and pending)
            pending.pop().continue_()
            expect(page.locator("html")).to_have_attribute("data-started", "")

        return page, start_script

    return opened


def test_grade_before_the_script_is_saved_and_its_question_takes_spans(
    open_early, site, worker, item
):
    page, start_script = open_early()
    grade(page, 3, 0)
    grade(page, 2, 1)
    start_script()
    settled(page)
    assert sorted(site.answers(item)) == [(1, 1), (2, 0)]
    question = page.locator("#q-2")
    expect(question).to_have_attribute("data-active", "")
    expect(question).to_have_attribute("data-state", "needs-span")
    drag_over(page, QUOTE)
    expect(question.locator(".spans q")).to_have_text([QUOTE])
    settled(page)
    assert site.ratings(worker.name, "answerable") == {1: (1, SPANS), 2: (0, [])}


def test_grade_before_the_script_of_a_question_without_focus_makes_it_active(open_early):
    page, start_script = open_early()
    grade(page, 2, 1)
    page.locator("#q-2 input:checked").blur()
    start_script()
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")


def test_words_selected_before_the_script_are_marked(open_early, site, worker):
    page, start_script = open_early()
    grade(page, 2, 1)
    from_x, from_y, to_x, to_y = ends_of(page, QUOTE)
    page.mouse.move(from_x, from_y)
    page.mouse.down()
    page.mouse.move(to_x, to_y, steps=8)
    page.mouse.up()
    start_script()
    page.mouse.move(to_x, to_y + 40)
    expect(page.locator("#q-2 .spans q")).to_have_text([QUOTE])
    settled(page)
    assert site.ratings(worker.name, "answerable") == {1: (1, SPANS)}


def test_drag_during_the_start_of_the_script_marks_all_its_words(open_early):
    page, start_script = open_early()
    grade(page, 2, 1)
    from_x, from_y, to_x, to_y = ends_of(page, QUOTE)
    page.mouse.move(from_x, from_y)
    page.mouse.down()
    page.mouse.move((from_x + to_x) / 2, (from_y + to_y) / 2, steps=4)
    start_script()
    page.mouse.move(to_x, to_y, steps=4)
    page.mouse.up()
    expect(page.locator("#q-2 .spans q")).to_have_text([QUOTE])


def test_span_cleared_before_the_script_is_removed(open_early, site, worker, item):
    page = worker.open(f"/work/{item}/")
    drag_over(page, QUOTE)
    settled(page)
    page.close()
    page, start_script = open_early()
    page.locator("#q-1 .spans input").uncheck()
    page.locator("#q-1 input[value='0']").check()
    start_script()
    save_status(page).to_contain_text("Saved ")
    expect(page.locator("#q-1 .spans q")).to_have_count(0)
    expect(page.locator("#q-1 .denial")).to_be_hidden()
    assert site.ratings(worker.name, "answerable") == {0: (0, [])}
