"""Whole items by mouse and by keyboard alone, and the stored rows afterwards."""

import pytest
from playwright.sync_api import expect

from tests.browser.user_input import LATE_TIMERS, drag_over, keys_for, select_by_touch, settled
from tests.toolbox.browser_texts import EXPECTED_T1, EXPECTED_T2, T1_ANSWERS, T1_BODY, T2_ANSWERS


def test_t1_by_mouse_reload_and_submit(worker, site):
    first, second = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    assert page.locator("#text").evaluate("text => text.textContent") == T1_BODY
    for index, (_, quotes) in enumerate(T1_ANSWERS):
        page.locator(f"#q-{index + 1} input[value='{1 if quotes else 0}']").click()
        for quote in quotes:
            drag_over(page, quote)
        if index == 7:
            settled(page)
            page.reload()
    expect(page.locator("#progress-words")).to_have_text("15 of 15")
    settled(page)
    assert site.ratings(worker.name, "answerable") == EXPECTED_T1
    page.click("#submit button")
    page.wait_for_url(f"**/work/{second}/")
    assert site.rows("select state from annotation_assignment where id = ?", first) == [
        ("submitted",)
    ]


def key_spans(page, quote):
    for key in keys_for(page, quote):
        page.keyboard.press(key)


def test_t1_by_keyboard_alone(worker, site):
    first, second = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    for _ in range(3):  # to the skip link, over it to the questions, to the first answer
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "grade":
            break
        if page.evaluate("document.activeElement.className") == "skip-link":
            page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.name") == "grade"
    for _, quotes in T1_ANSWERS:
        if not quotes:
            page.keyboard.press("0")  # finishes the question and goes on
            continue
        for quote in quotes:
            key_spans(page, quote)  # the first span answers 1
        page.keyboard.press("Enter")
    settled(page)
    assert site.ratings(worker.name, "answerable") == EXPECTED_T1
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**/work/{second}/")


def test_t2_by_mouse_and_reload(worker, site):
    (only,) = site.assignments(worker.name, "t2")
    page = worker.open(f"/work/{only}/")
    for index, (_, grade, quote) in enumerate(T2_ANSWERS):
        page.locator(f"#q-{index + 1} input[value='{grade}']").click()
        drag_over(page, quote)
    settled(page)
    page.reload()
    expect(page.locator("#progress-words")).to_have_text("2 of 2")
    assert site.ratings(worker.name, "graded") == EXPECTED_T2
    page.click("#submit button")
    page.wait_for_url("**/work/in/t2/end/")


def test_drag_is_taken_whole_where_the_press_before_it_is_dealt_with_late(worker, site):
    (only,) = site.assignments(worker.name, "t2")
    page = worker.open(f"/work/{only}/")
    page.evaluate(LATE_TIMERS)
    for index, (_, grade, quote) in enumerate(T2_ANSWERS):
        page.locator(f"#q-{index + 1} input[value='{grade}']").click()
        drag_over(page, quote)
    settled(page)
    assert site.ratings(worker.name, "graded") == EXPECTED_T2


def test_t2_words_marked_before_the_grade_outlive_a_reload(worker, site):
    (only,) = site.assignments(worker.name, "t2")
    page = worker.open(f"/work/{only}/")
    _, grade, quote = T2_ANSWERS[0]
    drag_over(page, quote)
    settled(page)
    page.reload()
    expect(page.locator("#q-1 .spans q")).to_have_text([quote])
    page.keyboard.press(str(grade))
    settled(page)
    assert site.ratings(worker.name, "graded") == {0: EXPECTED_T2[0]}


def test_t2_by_keyboard_alone(worker, site):
    (only,) = site.assignments(worker.name, "t2")
    page = worker.open(f"/work/{only}/")
    for _, grade, quote in T2_ANSWERS:
        key_spans(page, quote)
        page.keyboard.press(str(grade))  # the rationale is there, so this goes on
    settled(page)
    assert site.ratings(worker.name, "graded") == EXPECTED_T2
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/work/in/t2/end/")


def test_t2_shows_nothing_of_t1(worker, site):
    (only,) = site.assignments(worker.name, "t2")
    page = worker.open(f"/work/{only}/")
    assert page.locator("#text mark").count() == 0
    assert "answerable" not in page.locator("main").inner_text().lower()


def test_undo_takes_back_an_answer_and_a_span(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    drag_over(page, "four metres of clay")  # answers 1 as well
    page.keyboard.press("u")
    settled(page)
    assert site.ratings(worker.name, "answerable") == {}
    # What was said is still there, in order: nothing a person saved is ever deleted.
    answers = site.rows(
        "select grade from annotation_answer where assignment_id = ? order by id", first
    )
    assert answers == [(1,), (None,)]


def test_drag_on_a_denied_question_offers_to_change_it(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    page.locator("#q-1 input[value='0']").click()
    drag_over(page, "four metres of clay")
    expect(page.locator("#q-1 .offer")).to_be_visible()
    settled(page)
    assert site.ratings(worker.name, "answerable") == {0: (0, [])}
    page.click("#q-1 [data-offer=take]")
    settled(page)
    start = T1_BODY.index("four metres of clay")
    assert site.ratings(worker.name, "answerable")[0] == (
        1,
        [(start, start + 19, "four metres of clay")],
    )


def test_grade_that_denies_marked_words_asks_before_it_takes_them_away(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    drag_over(page, "four metres of clay")
    settled(page)
    ratings = site.ratings(worker.name, "answerable")
    ask = page.locator("#q-1 .denial")
    page.locator("#q-1 input[value='0']").click()
    expect(ask).to_contain_text("Grade 0 needs no marked words.")
    expect(ask.locator("[data-denial=take]")).to_be_focused()
    page.click("#submit button")  # it is not decided
    expect(page.locator("#missing a").first).to_have_text("1 open")
    page.click("#q-1 [data-denial=leave]")
    expect(page.locator("#q-1 input[value='1']")).to_be_checked()
    assert site.ratings(worker.name, "answerable") == ratings
    page.keyboard.press("0")
    page.keyboard.press("Enter")  # yes
    expect(page.locator("#q-1 .spans q")).to_have_count(0)
    settled(page)
    assert site.ratings(worker.name, "answerable") == {0: (0, [])}
    page.keyboard.press("u")
    expect(page.locator("#q-1 .spans q")).to_have_text(["four metres of clay"])
    settled(page)
    assert site.ratings(worker.name, "answerable") == ratings
    assert site.answers(first) == [(0, 1), (0, 0), (0, 1)]


def test_t2_words_marked_before_a_grade_of_0_are_asked_about_too(worker, site):
    (only,) = site.assignments(worker.name, "t2")
    page = worker.open(f"/work/{only}/")
    drag_over(page, T2_ANSWERS[0][2])
    page.keyboard.press("0")
    page.click("#q-1 [data-denial=leave]")
    expect(page.locator("#q-1 input:checked")).to_have_count(0)
    page.keyboard.press("1")  # rests on words, so nothing is asked
    settled(page)
    assert site.ratings(worker.name, "graded") == {0: (1, EXPECTED_T2[0][1])}


def test_submit_lists_what_is_missing_and_goes_there(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    page.locator("#q-1 input[value='1']").click()
    page.click("#submit button")
    expect(page.locator("#missing")).to_contain_text("15 questions are left")
    expect(page.locator("#missing a").first).to_have_text("1 needs a span")
    expect(page.locator("#q-1 input:checked")).to_be_focused()


def test_spans_can_be_removed(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    drag_over(page, "four metres of clay")
    drag_over(page, "Nobody was on the line")
    expect(page.locator("#q-1 .spans li")).to_have_count(2)
    page.locator("#q-1 .remove").first.click()
    expect(page.locator("#q-1 .spans li")).to_have_count(1)
    settled(page)
    assert len(site.ratings(worker.name, "answerable")[0][1]) == 1


def test_selection_by_touch_gets_a_button_that_names_the_question(new_worker, site):
    worker = new_worker(width=390, height=844, has_touch=True, is_mobile=True)
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    select_by_touch(page, "Nobody was on the line")
    button = page.locator("#q-1 .touch-take")
    button.wait_for()
    expect(button).to_contain_text("question 1")
    button.tap()
    expect(page.locator("#q-1 .spans li")).to_have_count(1)  # a tap is back before its click
    settled(page)
    ((_, _, quote),) = site.ratings(worker.name, "answerable")[0][1]
    assert quote == "Nobody was on the line"


@pytest.mark.parametrize("code", [500, 409])
def test_failed_answer_is_reported_and_sent_again(worker, site, code):
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    page.route("**/answers/**", lambda route: route.fulfill(status=code))
    page.locator("#q-1 input[value='0']").click()
    expect(page.locator("#saved")).to_contain_text("Not saved")
    page.unroute("**/answers/**")
    settled(page)
    assert site.ratings(worker.name, "answerable") == {0: (0, [])}
    worker.errors.clear()  # Chromium logs every failed request, and these were meant


def test_answer_given_while_logged_out_waits_and_is_sent_after_login(worker, site):
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    worker.context.clear_cookies(name="sessionid")
    page.locator("#q-1 input[value='0']").click()
    expect(page.locator("#saved")).to_contain_text("You were logged out")
    page.locator("#q-2 input[value='0']").click()
    expect(page.locator("#saved")).to_contain_text("2 waiting")
    assert site.ratings(worker.name, "answerable") == {}
    worker.log_in()  # in another tab
    settled(page)
    assert site.ratings(worker.name, "answerable") == {0: (0, []), 1: (0, [])}
    # A try that the login overtakes bears the token from before it: refused, logged, and made again.
    worker.errors[:] = [error for error in worker.errors if "status of 403" not in error]


def test_item_can_be_answered_without_scripts(new_worker, site):
    worker = new_worker(java_script_enabled=False)
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    page.locator("#q-1 input[value='1']").check()
    page.locator("#q-1 [name=quotes]").fill("four metres of clay\nNobody was on the line")
    page.locator("#q-1 button:has-text('Save question 1')").click()
    expect(page.locator("#q-1 [name=keep]")).to_have_count(2)
    expect(page.locator("mark")).to_have_count(2)
    page.locator("#q-1 [name=keep]").first.uncheck()
    page.locator("#q-1 button:has-text('Save question 1')").click()
    expect(page.locator("#q-1 [name=keep]")).to_have_count(1)
    grade, spans = site.ratings(worker.name, "answerable")[0]
    assert (grade, [quote for _, _, quote in spans]) == (1, ["Nobody was on the line"])
    page.locator("#q-2 [name=quotes]").fill("words that are not there")
    page.locator("#q-2 input[value='1']").check()
    page.locator("#q-2 button:has-text('Save question 2')").click()
    # The form comes back at its place, as it was filled in.
    expect(page.locator("#refused-2")).to_contain_text("are not in it")
    expect(page.locator("#refused-2")).to_be_in_viewport()
    expect(page.locator("#q-2 [name=quotes]")).to_have_value("words that are not there")
    expect(page.locator("#q-2 input[value='1']")).to_be_checked()
    page.locator("#submit button").click()
    expect(page.locator("#missing")).to_contain_text("14 questions are left")
    worker.errors.clear()  # a refusal is a 422, which Chromium logs


@pytest.mark.parametrize("width", [1280, 390])
def test_guideline_without_scripts_opens_and_offers_no_keys(new_worker, site, width):
    worker = new_worker(java_script_enabled=False, width=width, height=800)
    first, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    guideline = page.locator("#guideline")
    expect(guideline).to_be_hidden()
    page.locator("header a", has_text="Guideline").click()
    expect(guideline).to_be_in_viewport()
    guideline.locator("a", has_text="Back to the report").click()
    expect(guideline).to_be_hidden()
    assert page.locator("kbd:visible").count() == 0
    assert page.locator(".hint:visible").count() == 0
    page.locator("#q-15 input[value='0']").check()  # every question can be reached
    page.locator("#q-15 button:has-text('Save question 15')").click()
    expect(page.locator("#q-15 input[value='0']")).to_be_checked()
