"""Keyboard only: a whole T1 item in few keys, conflicts, and the help with its switches."""

import re

from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems
from tests.browser.user_input import grade, keys_for, press_place, settled, unaware, until
from tests.toolbox.browser_texts import EXPECTED_T1, T1_ANSWERS

MAY_PRESS = 120
BY_MOUSE = sum(1 + len(quotes) for _, quotes in T1_ANSWERS)  # a click for the grade, a drag a span


def test_t1_by_keyboard_in_few_keys(worker, site):
    first, second = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{first}/")
    pressed = 0

    def press(key):
        nonlocal pressed
        page.keyboard.press(key)
        pressed += 1

    for _, quotes in T1_ANSWERS:
        for quote in quotes:
            for key in keys_for(page, quote):
                press(key)
        press("Enter" if quotes else "0")
    settled(page)
    assert site.ratings(worker.name, "answerable") == EXPECTED_T1
    assert len(site.answers(first)) <= BY_MOUSE
    press("Control+Enter")
    page.wait_for_url(f"**/work/{second}/")
    assert pressed <= MAY_PRESS


def test_conflict_is_decided_by_keyboard(worker, visit, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    other_page = visit(worker.name).open(f"/work/{item}/")
    panel = page.locator("#q-1 .conflict")
    with unaware(page):
        grade(other_page, 1, 0)
        settled(other_page)
        page.keyboard.press("1")
        expect(panel).to_be_visible()
    page.locator("#q-1 input:checked").focus()
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("'keep' in document.activeElement.dataset"):
            break
    expect(panel.locator("[data-keep]")).to_be_focused()
    page.keyboard.press("Space")
    settled(page)
    assert site.answers(item) == [(0, 0), (0, 1)]
    expect(page.locator("#q-1 input:checked")).to_be_focused()
    worker.errors.clear()  # a conflict is a 409, which Chromium logs


def test_single_keys_can_be_switched_off_and_stay_off(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    page.keyboard.press("?")
    page.locator("#single-keys").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.locator("#questions").focus()
    for key in ("0", "j", "u", "?"):
        page.keyboard.press(key)
    expect(page.locator("#help")).to_be_hidden()
    expect(page.locator(".question input:checked")).to_have_count(0)
    assert site.answers(item) == []


def test_text_size_and_line_length_are_remembered_and_printed(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    text = page.locator("#text")
    font = "element => parseFloat(getComputedStyle(element).fontSize)"
    before, wide = text.evaluate(font), text.evaluate("element => element.offsetWidth")
    page.keyboard.press("?")
    page.get_by_label("huge").check()
    page.get_by_label("short").check()
    assert text.evaluate(font) > 1.3 * before
    assert axe_problems(page) == []
    served = page.request.get(page.url).text()
    assert 'data-text-size="huge"' in served.split("<head>")[0]
    assert 'data-line-length="short"' in served.split("<head>")[0]
    page.reload()
    assert text.evaluate(font) > 1.3 * before
    page.keyboard.press("?")
    page.get_by_label("short").press("ArrowLeft")  # round to the last: long
    page.get_by_label("large").check()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1800, "height": 900})
    until(page, "innerWidth === 1800")
    assert text.evaluate("element => element.offsetWidth") >= wide


def test_attention_check_asks_for_no_words(visit, site):
    worker = visit("worker10")
    (item,) = site.assignments(worker.name, "crowd")
    page = worker.open(f"/work/{item}/")
    check = page.locator(".question[data-check]")
    expect(check).to_contain_text("Please choose 0 here.")
    assert check.locator(".evidence").count() == 0
    check.locator("input[value='1']").click()
    expect(check).to_have_attribute("data-state", "absent")
    page.keyboard.press("t")
    page.keyboard.press("Space")  # a span would belong to the active question, which takes none
    expect(page.locator(".spans li")).to_have_count(0)
    check.locator("input[value='0']").click()
    settled(page)
    assert axe_problems(page) == []
    assert site.rows(
        "select grade, spans from annotation_answer"
        " where assignment_id = ? and check_asked_id is not null order by id",
        item,
    ) == [(1, "[]"), (0, "[]")]
    page.reload()
    expect(page.locator("#progress-words")).to_have_text("1 of 16")


def test_message_of_the_researchers_is_put_away_for_good(visit, site):
    worker = visit("worker11")
    (item,) = site.assignments(worker.name, "crowd")
    page = worker.open(f"/work/{item}/")
    news = page.locator("#news")
    expect(news).to_contain_text("The guideline has a new example.")
    assert axe_problems(page) == []
    with page.expect_response("**/messages/"):
        news.locator("button").click()
    expect(news).to_be_hidden()
    page.reload()
    expect(page.locator("#news")).to_have_count(0)


def test_end_of_the_part_is_shown_and_warned_of(visit, site):
    worker = visit("worker12")
    (item,) = site.assignments(worker.name, "crowd")
    page = worker.context.new_page()
    page.clock.install()
    page.goto(f"{worker.site.url}/work/{item}/")
    time_left = page.locator("#time-left")
    expect(time_left).to_contain_text(re.compile("Time left: [123] hours?"))
    # The part began with the site, and all the tests before this one took their time.
    seconds = page.locator("#main").evaluate("({ dataset }) => dataset.partEnds - dataset.now")
    page.clock.fast_forward((seconds - 8 * 60) * 1000)
    warning = page.locator("#part-warning")
    expect(warning).to_contain_text("The time for this part ends in")
    warning.locator("button").click()
    expect(warning).to_be_hidden()
    page.clock.fast_forward("20:00")
    expect(page.locator("#part-over")).to_contain_text("The time for this part is over")
    expect(time_left).to_have_text("The time is over")


def test_keys_of_other_keyboards_are_known_by_their_place(worker, site):
    """The row of digits in France, j in Cyrillic.

    With Shift, or as a Latin letter, a character means itself.
    """
    item = site.assignments(worker.name, "t2")[0]
    page = worker.open(f"/work/{item}/")

    press_place(page, "!", "Digit1", shiftKey=True)
    press_place(page, "h", "KeyJ")
    expect(page.locator("input[name=grade]:checked")).to_have_count(0)
    press_place(page, "о", "KeyJ")
    press_place(page, "&", "Digit1")
    expect(page.locator("#q-2 input[value='1']")).to_be_checked()
    expect(page.locator("#q-1 input:checked")).to_have_count(0)
    press_place(page, "à", "Digit0")
    page.keyboard.press("Enter")  # it lacked marked words, and asks
    expect(page.locator("input[value='0']:checked")).to_have_count(1)
    settled(page)


def test_undo_and_redo_by_chords_of_any_keyboard(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    chosen = page.locator("#q-1 input:checked")
    page.keyboard.press("0")
    page.keyboard.press("0")
    page.keyboard.press("Control+z")
    press_place(page, "\u044f", "KeyZ", ctrlKey=True)  # Z of a Cyrillic keyboard
    expect(chosen).to_have_count(0)
    page.keyboard.press("Control+y")
    expect(chosen).to_have_value("0")
    page.keyboard.press("Control+Shift+Z")
    expect(page.locator("#q-2 input:checked")).to_have_value("0")
    settled(page)  # or the acknowledgement of the last save replaces the message
    page.keyboard.press("Control+y")
    expect(page.locator("#saved")).to_have_text("Nothing to redo")
    page.keyboard.press("u")
    page.locator("#q-3 input[value='0']").click()  # a new answer ends what can be redone
    page.keyboard.press("Control+y")
    expect(page.locator("#q-2 input:checked")).to_have_count(0)
    page.locator("#q-4 input[value='0']").click()
    settled(page)
    assert site.answers(item) == [
        *((0, 0), (1, 0), (1, None), (0, None), (0, 0)),
        *((1, 0), (1, None), (2, 0), (3, 0)),
    ]


def test_grade_key_asks_before_it_changes_a_question_without_its_span(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    page.keyboard.press("1")  # it waits for marked words
    page.keyboard.press("0")  # meant for the next question
    ask = page.locator("#q-1 .regrade")
    expect(ask).to_contain_text("Question 1 has grade 1 and needs a span. Change it to 0?")
    expect(ask.locator("[data-regrade=take]")).to_be_focused()
    assert axe_problems(page) == []
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(ask).to_be_hidden()
    expect(page.locator("#q-1 input:checked")).to_have_value("1")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
    settled(page)
    assert site.answers(item) == [(0, 1), (0, 0)]


def test_left_hand_and_own_keys_stay_with_the_person(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    page.keyboard.press("?")
    page.get_by_label("left hand").check()
    expect(page.locator("#help kbd[data-key=next]")).to_have_text("s")
    page.keyboard.press("Escape")
    page.keyboard.press("q")  # the lowest grade
    page.keyboard.press("w")
    expect(page.locator("#q-1")).to_have_attribute("data-active", "")
    page.keyboard.press("z")
    expect(page.locator("#q-1 input:checked")).to_have_count(0)
    settled(page)  # a page loaded before that begins with question 2
    page.reload()
    page.keyboard.press("?")
    expect(page.get_by_label("left hand")).to_be_checked()
    page.get_by_label("my own").check()
    page.locator("#keys [data-action=next]").fill("1")
    page.locator("#keys [data-action=undo]").focus()
    expect(page.locator("#keys [role=alert]")).to_contain_text("The key 1 gives a grade")
    page.locator("#keys [data-action=next]").fill("n")
    page.keyboard.press("Tab")
    expect(page.locator("#keys [role=alert]")).to_be_hidden()
    assert axe_problems(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
    settled(page)


def test_key_right_after_a_dialog_closes_is_the_pages(worker, site):
    """The field of a closed dialog has the focus until the dialog's close event."""
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    page.keyboard.press("?")
    page.get_by_label("my own").check()
    page.locator("#keys [data-action=undo]").focus()
    focused = page.evaluate(
        """() => {
            document.getElementById("help").close();
            const field = document.activeElement;
            field.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
            return field.dataset.action;
        }"""
    )
    assert focused == "undo"
    expect(page.locator("#q-2")).to_have_attribute("data-active", "")
