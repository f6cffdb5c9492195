"""Answers that cannot both be right: saved, asked about on the card, and listed."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.page_audit import axe_problems, faults
from tests.browser.touch_targets import PHONE, SMALL_TARGETS
from tests.browser.user_input import grade, save_status, settled, until

OF_1A = (
    "You chose “not answerable” and “Exactly what was asked for”. "
    "They cannot both be right. Check both answers."
)
OF_1B = (
    "You chose “Exactly what was asked for” and “not answerable”. "
    "They cannot both be right. Check both answers."
)
NOTE_HINT = "If both are right, write why in the note of one of them."


@pytest.fixture
def at(visit, site):
    """Return a function that opens the first item of the study: at("worker150", ...)."""
    visitors = []

    def open_item(name, **options):
        visitor = visit(name, **options)
        visitors.append(visitor)
        (item, _second) = site.assignments(name, "useful")
        return visitor, visitor.open(f"/work/{item}/"), item

    yield open_item
    for visitor in visitors:  # Chromium logs every request that is refused, and these are meant to
        visitor.errors[:] = [error for error in visitor.errors if "Failed to load" not in error]


def panel(page: Page, number: str):
    return page.locator(f"#q-{number} .contradiction")


def grades(site, item: int) -> list[tuple[int, str | None, int]]:
    return site.rows(
        "select q.position, u.slug, a.grade from annotation_answer a"
        " join annotation_subquestion q on q.id = a.question_id"
        " left join annotation_rubric u on u.id = a.rubric_id"
        " where a.assignment_id = ? order by a.id",
        item,
    )


def answer_others(page: Page) -> None:
    """Answer the second and third question without a contradiction."""
    for number in (2, 3):
        grade(page, f"{number}a", 0)
        grade(page, f"{number}b", 1)


def test_second_answer_by_key_stays_and_is_asked_about(at, site):
    _, page, item = at("worker150")
    expect(panel(page, "1b")).to_be_hidden()
    page.keyboard.press("0")
    expect(page.locator(".question[data-active]")).to_have_id("q-1b")
    page.keyboard.press("5")
    expect(panel(page, "1b")).to_be_visible()
    expect(panel(page, "1b").get_by_role("alert")).to_have_text(OF_1B)
    expect(panel(page, "1b").get_by_role("link", name="Check question 1a")).to_be_focused()
    expect(panel(page, "1a")).to_be_hidden()
    for number in ("1a", "1b"):
        expect(page.locator(f"[data-tick='{number}']")).to_have_attribute(
            "aria-label", f"Question {number}: does not fit another answer"
        )
    expect(page.locator("#progress-words")).to_have_text("0 of 3")
    settled(page)
    assert grades(site, item) == [(0, None, 0), (0, "utility", 5)]
    assert faults(page) == []
    page.keyboard.press("Tab")
    expect(
        panel(page, "1b").get_by_role("button", name="Keep both answers and write why")
    ).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".question[data-active]")).to_have_id("q-1a")
    expect(page.locator("#q-1a input:checked")).to_be_focused()
    expect(panel(page, "1a").get_by_role("alert")).to_have_text(OF_1A)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("4")  # settles it, and goes on
    expect(page.locator(".question[data-active]")).to_have_id("q-2a")
    expect(page.locator(".contradiction:visible")).to_have_count(0)
    expect(page.locator("#q-1a")).to_have_attribute("data-state", "absent")
    page.keyboard.press("u")
    expect(panel(page, "1b")).to_be_visible()


def test_item_is_submitted_after_a_note_that_says_why_both_are_right(at, site):
    _, page, item = at("worker151")
    grade(page, "1a", 0)
    grade(page, "1b", 5)
    answer_others(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#missing a")).to_have_text(
        ["1a does not fit another answer", "1b does not fit another answer"]
    )
    expect(page.locator("#missing p")).to_have_text([f"1a, 1b: {OF_1A} {NOTE_HINT}"])
    expect(page.locator(".question[data-active]")).to_have_id("q-1a")
    expect(panel(page, "1a")).to_be_visible()
    assert axe_problems(page) == []
    panel(page, "1a").get_by_role("button", name="Keep both answers and write why").click()
    note = page.locator("#q-1a textarea[name=note]")
    expect(note).to_be_focused()
    page.keyboard.type("It repeats the question.")
    expect(panel(page, "1a")).to_be_visible()  # nothing moves under the words
    page.keyboard.press("Tab")
    expect(panel(page, "1a")).to_be_hidden()
    expect(page.locator("#missing")).to_be_hidden()
    settled(page)
    page.reload()
    expect(page.locator("#q-1a")).to_have_attribute("data-state", "absent")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: f"/work/{item}/" not in url)
    assert site.state(item) == "submitted"
    assert site.rows(
        "select note from annotation_answer where assignment_id = ? and note <> ''", item
    )[-1] == ("It repeats the question.",)


def test_phone_stays_at_the_question_while_a_contradiction_stands(at, site):
    _, page, item = at("worker152", **PHONE)
    page.locator("#q-1a label", has_text="not answerable").tap()
    expect(page.locator("#q-1b")).to_have_attribute("data-active", "")
    page.locator("#q-1b label", has_text="Exactly what").tap()
    expect(panel(page, "1b").get_by_role("alert")).to_have_text(OF_1B)
    expect(panel(page, "1b").get_by_role("alert")).to_be_in_viewport()
    expect(page.locator("#q-1b")).to_have_attribute("data-active", "")
    assert page.evaluate(SMALL_TARGETS) == []
    assert axe_problems(page) == []
    settled(page)
    panel(page, "1b").get_by_role("link", name="Check question 1a").tap()
    expect(panel(page, "1a")).to_be_visible()
    page.locator("[data-step='1']").tap()
    page.locator("#q-1b label", has_text="Nothing of what").tap()
    expect(page.locator("#q-2a")).to_have_attribute("data-active", "")
    settled(page)
    assert [row[2] for row in grades(site, item)] == [0, 5, 1]


def test_answers_of_two_tabs_are_asked_about_in_both(at, site):
    visitor, first, item = at("worker153")
    second = visitor.open(f"/work/{item}/")
    expect(first.locator("#elsewhere")).to_contain_text("open in another tab too")
    grade(first, "1a", 0)
    expect(second.locator("#q-1a input[value='0']")).to_be_checked()
    grade(second, "1b", 5)
    expect(panel(second, "1b")).to_be_visible()
    expect(panel(first, "1a").get_by_role("alert")).to_have_text(OF_1A)
    answer_others(second)
    settled(second)
    until(first, "document.querySelector('#q-3b input:checked') !== null")
    first.keyboard.press("Control+Enter")
    expect(first.locator("#missing")).to_contain_text(OF_1A)
    assert site.state(item) == "open"


def test_answer_of_another_device_is_asked_about_at_the_submission(at, site):
    _, first, item = at("worker154")
    grade(first, "1a", 0)
    grade(first, "1b", 1)
    answer_others(first)
    settled(first)
    _, second, _ = at("worker154")
    grade(second, "1b", 5)
    settled(second)
    first.locator("#submit button").click()  # does not know of the other device's answer
    save_status(first).to_contain_text("Not submitted; your answers are kept.")
    save_status(first).to_contain_text("They cannot both be right.")
    expect(first.locator("#q-1b input[value='5']")).to_be_checked()
    assert site.state(item) == "open"
    second.locator("#q-1b summary").click()
    second.locator("#q-1b textarea[name=note]").fill("It repeats the question.")
    second.locator("#q-1b textarea[name=note]").blur()
    settled(second)
    first.locator("#submit button").click()
    expect(first.locator("#missing")).to_contain_text(OF_1A)
    first.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # looks again
    expect(first.locator("#missing")).to_be_hidden()
    first.locator("#submit button").click()
    first.wait_for_url(lambda url: f"/work/{item}/" not in url)
    assert site.state(item) == "submitted"


def test_without_scripts_the_page_asks_and_lists(at, site):
    _, page, item = at("worker155", java_script_enabled=False)
    for number, value in (("1a", 0), ("1b", 5), ("2a", 0), ("2b", 1), ("3a", 0), ("3b", 1)):
        page.locator(f"#q-{number} input[value='{value}']").check()
        page.get_by_role("button", name=f"Save question {number}", exact=True).click()
        if number == "1b":
            expect(page.locator(".notices")).to_contain_text("Question 1b is saved.")
            expect(page.locator(".notices")).to_contain_text(OF_1B)
            expect(panel(page, "1b").get_by_role("link")).to_have_text(["Check question 1a"])
            expect(
                page.get_by_role("button", name="Keep both answers and write why")
            ).to_have_count(0)
    page.locator("#submit button").click()
    expect(page.locator("#missing a")).to_have_count(2)
    expect(page.locator("#missing")).to_contain_text(f"1a, 1b: {OF_1A} {NOTE_HINT}")
    page.locator("#q-1b textarea[name=note]").fill("It repeats the question.")
    page.get_by_role("button", name="Save question 1b", exact=True).click()
    expect(page.locator(".contradiction:visible")).to_have_count(0)
    page.locator("#submit button").click()
    assert site.state(item) == "submitted"
