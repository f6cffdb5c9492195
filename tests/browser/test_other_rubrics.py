"""Other rubrics by mouse, keys and touch, offline too; and two rubrics on one page."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems, faults
from tests.browser.touch_targets import PHONE, SMALL_TARGETS
from tests.browser.user_input import (
    drag_over,
    grade,
    offline,
    save_status,
    select_by_touch,
    settled,
    unaware,
)
from tests.toolbox.rubric_studies import BODY

QUOTE = "a crack in the lower gate"
SPAN = (BODY.index(QUOTE), BODY.index(QUOTE) + len(QUOTE), QUOTE)
KINDS = "kind-of-fact"


@pytest.fixture
def at(visit, site):
    """Return a function that opens an item: at("worker26", "utility", ...).

    It returns the worker, the page of their first item of a study, and all items of the study.
    """
    visitors = []

    def open_item(name, study, **options):
        worker = visit(name, **options)
        visitors.append(worker)
        items = site.assignments(name, study)
        return worker, worker.open(f"/work/{items[0]}/"), items

    yield open_item
    for worker in visitors:  # Chromium logs every request that fails, and these are meant to
        worker.errors[:] = [error for error in worker.errors if "Failed to load" not in error]


def answered(site, item: int) -> list[tuple[int, str | None, int | None]]:
    """Return all answers to an item in order: question position, further rubric, grade."""
    return site.rows(
        "select q.position, u.slug, a.grade from annotation_answer a"
        " join annotation_subquestion q on q.id = a.question_id"
        " left join annotation_rubric u on u.id = a.rubric_id"
        " where a.assignment_id = ? order by a.id",
        item,
    )


def onwards(page, site, item: int) -> None:
    page.wait_for_url(lambda url: f"/work/{item}/" not in url)
    assert site.state(item) == "submitted"


def test_grades_without_words_by_mouse_and_offline(at, site):
    _, page, (item, _) = at("worker26", "utility")
    assert faults(page) == []
    for name in (".evidence", ".hint", ".touch-take", "#text [tabindex]"):
        assert page.locator(name).count() == 0
    grade(page, 1, 5)
    drag_over_nothing(page)
    page.keyboard.press("t")  # leads nowhere where nothing is marked
    settled(page)
    with offline(page):
        grade(page, 2, 3)
        grade(page, 1, 4)
        save_status(page).to_contain_text("2 waiting")
        page.keyboard.press("u")
        expect(page.locator("#q-1 input[value='5']")).to_be_checked()
    settled(page)
    page.click("#submit button")
    expect(page.locator("#missing a")).to_have_text(["3 open"])
    grade(page, 3, 1)
    page.click("#submit button")
    onwards(page, site, item)
    assert site.answers(item) == [(0, 5), (1, 3), (0, 4), (0, 5), (2, 1)]
    assert site.ratings("worker26", "utility") == {0: (5, []), 1: (3, []), 2: (1, [])}


def drag_over_nothing(page) -> None:
    """Drag over the text: it stays selected, as on any page, and marks no span."""
    box = page.locator("#text p").first.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 150, box["y"] + 10, steps=4)
    page.mouse.up()
    assert not page.evaluate("getSelection().isCollapsed")
    expect(page.locator("#text mark, .spans li, .margin")).to_have_count(0)


def test_names_by_keys_of_their_own_and_offline(at, site):
    _, page, (item, _) = at("worker26", KINDS)
    assert faults(page) == []
    page.keyboard.press("4")  # a digit is no key here
    page.keyboard.press("C")  # with caps lock
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
    settled(page)
    with offline(page):
        page.keyboard.press("d")
        page.keyboard.press("p")
        save_status(page).to_contain_text("2 waiting")
    settled(page)
    page.keyboard.press("?")
    expect(page.locator("#help .keys")).to_contain_text("n p d c")
    assert "sentence" not in page.locator("#help").inner_text()
    assert axe_problems(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    onwards(page, site, item)
    assert site.ratings("worker26", KINDS) == {0: (4, []), 1: (3, []), 2: (2, [])}


def test_names_by_touch_and_in_two_places(at, visit, site):
    worker, page, (item, _) = at("worker27", KINDS, **PHONE)
    other_page = visit(worker.name).open(f"/work/{item}/")
    assert page.evaluate(SMALL_TARGETS) == []
    with unaware(page):
        other_page.keyboard.press("n")
        settled(other_page)
        page.locator("#q-1 label", has_text="A cause").tap()
        page.locator("#elsewhere a").tap()  # the page has gone on to the next question
        expect(page.locator("#q-1 .conflict dd")).to_have_text(
            ["A cause or a reason", "None of these"]
        )
        page.locator("#q-1 .conflict [data-keep]").tap()
    expect(page.locator("#q-1 .conflict")).to_have_count(0)
    page.locator("[data-step='1']").tap()
    for number in (2, 3):
        page.locator(f"#q-{number} label", has_text="None of these").tap()
        expect(page.locator(f"#q-{number} input[value='1']")).to_be_checked()
    settled(page)
    page.locator("#submit button").tap()
    onwards(page, site, item)
    assert site.answers(item) == [(0, 1), (0, 4), (1, 1), (2, 1)]


def test_rubric_pair_by_keys_and_offline(at, site):
    _, page, (item, _) = at("worker26", "both")
    assert faults(page) == []
    expect(page.locator(".question[data-active]")).to_have_id("q-1a")
    page.keyboard.press("0")
    expect(page.locator(".question[data-active]")).to_have_id("q-1b")
    page.keyboard.press("0")  # a grade of the other rubric
    page.keyboard.press("c")
    settled(page)
    with offline(page):
        for key in ("0", "d", "0", "p"):
            page.keyboard.press(key)
        page.keyboard.press("u")
        page.keyboard.press("n")
        save_status(page).to_contain_text("6 waiting")
        page.keyboard.press("Control+Enter")
        save_status(page).to_contain_text("7 waiting")
    onwards(page, site, item)
    assert answered(site, item) == [
        *((0, None, 0), (0, KINDS, 4), (1, None, 0), (1, KINDS, 3)),
        *((2, None, 0), (2, KINDS, 2), (2, KINDS, None), (2, KINDS, 1)),
    ]


def test_rubric_pair_by_mouse_and_after_a_reload(at, site):
    _, page, (item, _) = at("worker28", "both")
    drag_over(page, QUOTE)  # answers 1 under the one rubric
    expect(page.locator("#q-1a input[value='1']")).to_be_checked()
    page.context.route("**/answers/**", lambda route: route.abort())
    grade(page, "1b", 4)
    drag_over(page, "nine weeks")
    save_status(page).to_have_text("Question 1b takes no marked words.")
    grade(page, "2a", 0)
    save_status(page).to_contain_text("2 waiting")
    page.reload()
    expect(page.locator("#q-1b input[value='4']")).to_be_checked()
    page.context.unroute("**/answers/**")
    settled(page)
    assert site.ratings("worker28", "answerable") == {0: (1, [SPAN]), 1: (0, [])}
    assert answered(site, item)[1:] == [(0, KINDS, 4), (1, None, 0)]
    page.click("#submit button")
    expect(page.locator("#missing a")).to_have_text(["2b open", "3a open", "3b open"])


def test_rubric_pair_by_touch(at, site):
    _, page, (item, _) = at("worker27", "both", **PHONE)
    select_by_touch(page, QUOTE)
    page.locator("#q-1a .touch-take [data-next]").tap()
    expect(page.locator("#q-1b")).to_have_attribute("data-active", "")
    select_by_touch(page, "nine weeks")
    expect(page.locator(".touch-take:visible")).to_have_count(0)
    assert page.evaluate(SMALL_TARGETS) == []
    page.locator("#q-1b label", has_text="A cause").tap()
    expect(page.locator("#q-1b input[value='4']")).to_be_checked()
    assert axe_problems(page) == []
    for number in (2, 3):
        for letter, label in (("a", "not answerable"), ("b", "None of these")):
            page.locator(f"#q-{number}{letter} label", has_text=label).tap()
            expect(page.locator(f"#q-{number}{letter} input:checked")).to_have_count(1)
    settled(page)
    page.locator("#submit button").tap()
    onwards(page, site, item)
    assert len(answered(site, item)) == 6


def test_rubric_without_a_text_by_keys_and_without_scripts(at, visit, site):
    worker, page, (item,) = at("worker26", "importance")
    assert page.locator("#text, .text-pane, .apart").count() == 0
    expect(page.locator(".request")).to_contain_text("Say what became of the lock at Wend.")
    assert faults(page) == []
    page.keyboard.press("2")
    settled(page)
    plain = visit(worker.name, java_script_enabled=False).open(f"/work/{item}/")
    plain.locator("#q-2 input[value='1']").check()
    plain.locator("#q-2 button", has_text="Save question 2").click()
    expect(plain.locator("#q-2 input[value='1']")).to_be_checked()
    assert site.answers(item) == [(0, 2), (1, 1)]


LABEL = "#q-{} input[name=label][value='{}']"


def is_ticked(page, number: int, *values: str) -> None:
    """Expect that of the labels of a question these alone are ticked."""
    chosen = page.locator(f"#q-{number} input:checked")
    expect(chosen).to_have_count(len(values))
    for value in values:
        expect(page.locator(LABEL.format(number, value))).to_be_checked()


def test_labels_by_mouse_and_keys(at, site):
    _, page, (item, _) = at("worker26", "faults")
    assert faults(page) == []
    page.keyboard.press("1")
    page.keyboard.press("3")
    is_ticked(page, 1, "1", "4")
    expect(page.locator("#q-1")).to_have_attribute("data-active", "")  # more may follow
    page.keyboard.press("0")
    is_ticked(page, 1, "0")
    page.keyboard.press("2")
    is_ticked(page, 1, "2")
    page.keyboard.press("2")
    is_ticked(page, 1)
    expect(page.locator("#q-1")).to_have_attribute("data-state", "open")
    page.keyboard.press("u")
    is_ticked(page, 1, "2")
    page.keyboard.press("Enter")
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
    for value in ("1", "2", "0", "4"):
        page.locator(f"#q-2 .level:has([value='{value}'])").click()
    is_ticked(page, 2, "4")
    settled(page)
    assert axe_problems(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator("#missing a")).to_have_text(["3 open"])
    page.keyboard.press("0")
    page.keyboard.press("Control+Enter")
    onwards(page, site, item)
    assert site.ratings("worker26", "faults") == {0: (2, []), 1: (4, []), 2: (0, [])}


def test_labels_by_touch_and_in_two_places(at, visit, site):
    worker, page, (item, _) = at("worker27", "faults", **PHONE)
    other_page = visit(worker.name).open(f"/work/{item}/")
    assert page.evaluate(SMALL_TARGETS) == []
    for value in ("1", "4"):
        page.locator(f"#q-1 .level:has([value='{value}'])").tap()
    is_ticked(page, 1, "1", "4")
    expect(page.locator("#q-1")).to_have_attribute("data-active", "")
    settled(page)
    is_ticked(other_page, 1, "1", "4")
    expect(other_page.locator("#elsewhere")).to_contain_text(
        "A part is missing + It cannot be understood"
    )
    assert axe_problems(page) == []


def test_labels_without_scripts(at, site):
    _, page, (item, _) = at("worker29", "faults", java_script_enabled=False)
    page.locator(LABEL.format(1, "1")).check()
    page.locator(LABEL.format(1, "4")).check()
    page.get_by_role("button", name="Save question 1").click()
    is_ticked(page, 1, "1", "4")
    page.locator(LABEL.format(1, "0")).check()
    page.get_by_role("button", name="Save question 1").click()
    expect(page.get_by_role("alert")).to_contain_text("none of these")
    is_ticked(page, 1, "1", "4")  # as sent, with the sum: labels count
    assert site.answers(item) == [(0, 5)]
