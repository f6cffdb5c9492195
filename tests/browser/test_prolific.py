"""Complete path of a Prolific participant, on a real server.

Arrival, consent, check, parts, and return.
"""

import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.page_audit import WIDTHS, axe_problems, faults
from tests.browser.user_input import drag_over, grade, save_status, settled
from tests.toolbox.german_study import QUOTE, find_english
from tests.toolbox.prolific_study import prolific_id

RETURN_URL = "https://app.prolific.com/submissions/complete?cc="


@pytest.fixture
def guest(site, chromium):
    """Return a function that creates a visitor with a clean profile, not logged in."""
    contexts, guests = [], []

    def start(*, width: int = 1280, height: int = 844, **options) -> Visitor:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        # Nothing outside is asked: what would go to Prolific is answered here.
        context.route(
            lambda url: not url.startswith(site.url),
            lambda route: route.fulfill(body="back", content_type="text/html"),
        )
        contexts.append(context)
        guests.append(Visitor(site, context, "guest"))
        return guests[-1]

    yield start
    for context in contexts:
        context.close()
    for visitor in guests:
        # A try that was wrong is answered by a 422, and a door that is shut by a 403.
        assert [error for error in visitor.errors if "status of 4" not in error] == []


def arrive(guest: Visitor, pid: str, session: str = "first", study: str = "prolific") -> Page:
    ids = f"PROLIFIC_PID={prolific_id(pid)}&STUDY_ID=study-{session}&SESSION_ID={session}-{pid}"
    return guest.open(f"/start/{study}/?{ids}")


def answer(page: Page, right: dict[str, str], button: str) -> None:
    """Choose an option for each question, by its label, and go on."""
    for question, option in right.items():
        page.get_by_role("group", name=question).get_by_label(option, exact=True).check()
    page.get_by_role("button", name=button).click()


def agree(page: Page, option: str = "Yes") -> None:
    answer(page, {"Do you read English every week?": option}, "I agree, continue")


def comprehension(page: Page, first: str = "No", button: str = "Start part 1") -> None:
    right = {"May you use what you know?": first, "What does a 1 need?": "Marked words"}
    answer(page, right, button)


def wait_to_leave(page: Page, url: str) -> None:
    """Wait for another page; an anchor in the same page does not count."""
    page.wait_for_url(lambda address: address != url and not address.startswith(f"{url}#"))


def do_item(page: Page) -> str:
    """Answer 0 to all questions and attention checks, submit the item; return its URL."""
    url = page.url
    if (unfold := page.locator("[data-all]")).is_visible():
        unfold.click()  # a phone shows one question at a time
    questions = page.locator(".question")
    for index in range(questions.count()):
        questions.nth(index).locator("input[name=grade][value='0']").click()
    page.locator("#submit button").click()
    wait_to_leave(page, url)
    return url


def do_part(page: Page) -> None:
    while "/work/in/" not in page.url:
        do_item(page)


def stop_the_clock(page: Page) -> None:
    """Pause the clock of this page and later ones; the last redirects after 15 seconds."""
    page.clock.install()
    page.clock.pause_at(time.time() + 3600)  # a time in the past cannot be paused at


def test_whole_journey_and_the_return_on_a_clean_profile(guest, site):
    pid = "5f1d2c3b4a59687786950413"
    visitor = guest()
    page = arrive(visitor, pid)
    expect(page.get_by_role("heading", level=1)).to_have_text("Before you begin")
    agree(page)
    comprehension(page, first="Yes")  # wrong
    expect(page.get_by_role("alert")).to_contain_text("You have one more try")
    expect(page.get_by_text("The text alone counts, not what you know.")).to_be_visible()
    expect(page.locator("main")).to_contain_text("4.50 GBP")
    comprehension(page)

    # Practice comes first, and says what was expected.
    page.wait_for_url("**/work/*/")
    practice = do_item(page)
    expect(page).to_have_url(f"{practice}feedback/")
    expect(page.locator("main")).to_contain_text("You agree on 1 of 2 questions.")
    page.get_by_role("link", name="Continue").first.click()

    # Two texts, of which one asks to be attentive.
    page.wait_for_url("**/work/*/")
    stop_the_clock(page)
    do_part(page)
    expect(page).to_have_url(f"{site.url}/work/in/prolific/end/")
    assert site.rows(
        "select a.grade, c.expected from annotation_answer a"
        " join annotation_attentioncheck c on c.id = a.check_asked_id"
        " join annotation_assignment s on s.id = a.assignment_id"
        " join annotation_participant p on p.id = s.participant_id where p.external_id = ?",
        pid,
    ) == [(0, 0)]
    expect(page.locator("#code")).to_have_text("DONE1")
    expect(page.get_by_role("link", name="Back to Prolific")).to_have_attribute(
        "href", f"{RETURN_URL}DONE1"
    )
    expect(page.get_by_role("button", name="Stay on this page")).to_be_visible()
    page.clock.run_for(16_000)
    page.wait_for_url(f"{RETURN_URL}DONE1")

    # Another day, another device, a new submission.
    page = arrive(guest(), pid, session="second")
    expect(page.locator("main")).to_contain_text("Next is part 2 of 2")
    page.get_by_role("button", name="Start part 2").click()
    page.wait_for_url("**/work/*/")
    stop_the_clock(page)
    do_part(page)
    expect(page.locator("main")).to_contain_text("You have done all of it")
    page.get_by_role("button", name="Stay on this page").click()
    page.get_by_role("link", name="Back to Prolific").click()
    page.wait_for_url(f"{RETURN_URL}DONE1")
    assert site.rows(
        "select s.number, s.outcome, s.session_id from annotation_part s"
        " join annotation_participant p on p.id = s.participant_id"
        " where p.external_id = ? order by s.number",
        pid,
    ) == [(1, "done", f"first-{pid}"), (2, "done", f"second-{pid}")]


def test_survey_before_and_after_the_work_is_accessible_on_a_phone(guest):
    page = arrive(guest(width=390, has_touch=True), "surveyed-person", study="surveyed")
    agree(page)
    comprehension(page, button="Continue")
    expect(page.get_by_role("heading", level=1)).to_have_text("Questions before the work")
    assert faults(page, 390) == []
    age = page.get_by_role("group", name="How old are you?")
    age.get_by_label("30 or older").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Start part 1").click()
    page.wait_for_url("**/work/*/")
    do_part(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Questions after the work")
    expect(page.locator("#code")).to_have_text("DONE1")
    page.locator("form.checks").evaluate("form => { form.noValidate = true }")
    page.get_by_role("button", name="Save the answers").click()
    expect(page.get_by_text("Please choose an answer.")).to_be_visible()
    assert faults(page, 390) == []
    page.get_by_role("group", name="How hard was the work?").get_by_label("5: very hard").check()
    page.get_by_role("button", name="Save the answers").click()
    expect(page.locator("#code")).to_have_text("DONE1")
    expect(page.get_by_text("1 question about the study is left.")).to_be_visible()


def test_study_is_german_from_arrival_to_code(guest, site):
    def fine(page: Page) -> None:
        """Check that all text is German, also hidden text and scripts' text; run axe."""
        assert find_english(page.content()) == [], page.url
        assert axe_problems(page) == [], page.url

    def go_on(page: Page, right: dict[str, str], button: str) -> None:
        for question, option in right.items():
            page.get_by_role("group", name=question).get_by_label(option, exact=True).check()
        fine(page)
        page.get_by_role("button", name=button).click()

    page = arrive(guest(locale="de-DE"), "liest-deutsch", study="german")
    fine(page)
    right = {"Lesen Sie jede Woche Deutsch?": "Ja"}
    go_on(page, right, "Ich bin einverstanden, weiter")
    expect(page.locator("main")).to_contain_text("4,50 EUR für jeden fertigen Teil")
    right = {
        "Zählt, was Sie selbst wissen?": "Nein",
        "Was braucht eine Stufe ab 1?": "Markierte Wörter",
    }
    go_on(page, right, "Teil 1 beginnen")
    page.wait_for_url("**/work/*/")
    expect(page.locator("#q-1")).to_contain_text("Beantwortet die Frage vollständig und klar")
    fine(page)
    page.locator("#submit button").click()
    expect(page.locator("#missing")).to_contain_text("Vor dem Abgeben fehlen noch 2 Fragen:")
    fine(page)
    drag_over(page, QUOTE)
    expect(page.locator("#q-1 .needs")).to_be_hidden()
    grade(page, 1, 4)
    grade(page, 2, 0)
    expect(page.locator("#saved")).to_contain_text("Gespeichert")
    page.keyboard.press("?")
    fine(page)  # the help
    page.keyboard.press("Escape")
    practice = page.url
    page.locator("#submit button").click()
    page.wait_for_url("**/feedback/")
    expect(page.locator("main")).to_contain_text("Beantwortet sie; eine Einzelheit fehlt")
    fine(page)
    page.get_by_role("link", name="Weiter").first.click()
    page.wait_for_url(lambda url: url.endswith("/") and "feedback" not in url and url != practice)
    page.context.route(f"{RETURN_URL}*", lambda route: route.fulfill(status=204))  # then one stays
    # The first may be the attention check, which takes no marked words.
    number = page.locator(".question:has(.needs)").first.get_attribute("data-question")
    grade(page, int(number), 2)  # rests on words that are not marked yet
    expect(page.locator(f"#q-{number} .needs")).to_contain_text("Hier fehlt eine Stelle")
    fine(page)
    do_part(page)
    expect(page.locator("#code")).to_have_text("FERTIG1")
    fine(page)
    page.goto(f"{site.url}/work/in/german/")
    fine(page)
    page.goto(f"{site.url}/work/999999/")
    expect(page.locator("main")).to_contain_text("Unter dieser Adresse steht nichts")
    fine(page)


def test_staying_on_the_last_page_cancels_the_redirect(guest, site):
    page = arrive(guest(), "participants")
    agree(page)
    comprehension(page)
    page.wait_for_url("**/work/*/")
    do_item(page)
    page.get_by_role("link", name="Continue").first.click()
    page.wait_for_url("**/work/*/")
    stop_the_clock(page)
    do_part(page)
    page.get_by_role("button", name="Stay on this page").click()
    page.clock.run_for(60_000)
    expect(page).to_have_url(f"{site.url}/work/in/prolific/end/")


def test_guest_who_is_logged_out_comes_again_and_loses_nothing(guest, site):
    visitor = guest()
    page = arrive(visitor, "logged-out")
    agree(page)
    comprehension(page)
    page.wait_for_url("**/work/*/")
    item = int(page.url.rstrip("/").rpartition("/")[2])
    # The session is over; then all cookies are thrown away.
    for value, cookie_filter in enumerate([{"name": "sessionid"}, {}]):
        visitor.context.clear_cookies(**cookie_filter)
        grade(page, 1, value)
        save_status(page).to_contain_text(
            "Open the study again from where you came, then it is sent"
        )
        grade(page, 2, value)
        save_status(page).to_contain_text("2 waiting")
        assert len(site.answers(item)) == 2 * value
        page.reload()
        expect(page).to_have_url(f"{site.url}/start/prolific/again/")
        expect(page.locator("main")).to_contain_text("open the study again from where you came")
        expect(page.locator("input[type=password]")).to_have_count(0)
        page = arrive(visitor, "logged-out")
        expect(page).to_have_url(f"{site.url}/work/in/prolific/")
        settled(page)
        assert site.answers(item)[-2:] == [(0, value), (1, value)]
        page.get_by_role("link", name="Start").or_(
            page.get_by_role("link", name="Continue")
        ).click()
        page.wait_for_url("**/work/*/")
    page.locator(".where a").click()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(f"{site.url}/start/prolific/again/")
    assert axe_problems(page) == []


def test_declining_participant_is_asked_to_return_the_submission(guest):
    page = arrive(guest(), "declines")
    page.get_by_role("button", name="I do not agree").click()
    expect(page.locator("main")).to_contain_text("return your submission on Prolific")
    expect(page.locator("#back")).to_have_count(0)


def test_whole_way_without_scripts(guest, site):
    page = arrive(guest(java_script_enabled=False), "plain")
    agree(page)
    comprehension(page)
    page.wait_for_url("**/work/*/")
    while "/work/in/" not in page.url:
        item = page.url
        for number in range(1, page.locator(".question").count() + 1):
            page.locator(f"#q-{number} input[value='0']").check()
            page.locator(f"#q-{number} button:has-text('Save question')").click()
            expect(page.locator(".notices")).to_contain_text(f"Question {number} is saved")
        page.locator("#submit button").click()
        wait_to_leave(page, item)
        if page.url.endswith("/feedback/"):
            page.get_by_role("link", name="Continue").first.click()
            page.wait_for_url("**/work/*/")
    expect(page.locator("#code")).to_have_text("DONE1")
    page.get_by_role("link", name="Back to Prolific").click()
    page.wait_for_url(f"{RETURN_URL}DONE1")


def test_pages_of_the_way_are_accessible(guest):
    def fine(page: Page) -> None:
        assert faults(page) == [], page.url

    def visitor() -> Visitor:
        return guest(width=min(WIDTHS))

    name = "looks"
    page = arrive(visitor(), f"{name}-declines")
    fine(page)  # the terms
    page.get_by_role("button", name="I do not agree").click()
    fine(page)  # declined
    page = arrive(visitor(), f"{name}-other")
    agree(page, "No")
    fine(page)  # screened out
    page = arrive(visitor(), f"{name}-fails")
    agree(page)
    fine(page)  # comprehension
    comprehension(page, first="Yes")
    fine(page)  # one try is left
    comprehension(page, first="Yes")
    expect(page.locator("#code")).to_have_text("FAILED1")
    fine(page)
    page = arrive(visitor(), f"{name}-works")
    agree(page)
    comprehension(page)
    page.wait_for_url("**/work/*/")
    do_item(page)
    fine(page)  # what was expected
    page.get_by_role("link", name="Continue").first.click()
    page.wait_for_url("**/work/*/")
    page.goto(page.url.rpartition("/work/")[0] + "/work/in/prolific/")
    fine(page)  # the study within a part
    page.get_by_role("link", name="Continue").click()
    page.wait_for_url("**/work/*/")
    page.context.route(f"{RETURN_URL}*", lambda route: route.fulfill(status=204))  # then one stays
    do_part(page)
    fine(page)  # the code
    fine(visitor().open("/start/prolific/"))
    fine(visitor().open("/start/prolific/again/?unsent"))
    fine(visitor().open("/start/t1/?PROLIFIC_PID=a"))


def test_link_opened_by_staff_is_accessible(visit):
    page = visit("rosa", width=390).open("/start/prolific/?PROLIFIC_PID=a")
    assert axe_problems(page) == []
