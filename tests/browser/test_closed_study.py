"""Answers that arrive after their study was closed: stored, reported, later counted."""

from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems
from tests.browser.user_input import drag_over, grade, offline, save_status, settled, until
from tests.toolbox.browser_texts import T2_BODY


def late_reasons(site, item):
    """Return for each answer to an item why it is no rating, in order of arrival."""
    rows = site.rows("select late from annotation_answer where assignment_id = ? order by id", item)
    return [reason for (reason,) in rows]


def test_answers_that_reach_a_closed_study_are_kept_and_the_page_says_so(visit, site):
    worker, admin = visit("worker24"), visit("ada")
    (item,) = site.assignments(worker.name, "closing")
    page = worker.open(f"/work/{item}/")
    grade(page, 1, 0)
    settled(page)
    staff = admin.open("/campaigns/closing/")
    with offline(page):
        grade(page, 1, 4)
        drag_over(page, "divers found a crack")
        grade(page, 2, 0)
        save_status(page).to_contain_text("3 waiting")
        staff.get_by_text("Close…").click()
        staff.get_by_role("button", name="Close campaign").click()
        expect(staff.locator(".notices")).to_contain_text("are stored, but do not become ratings")
    save_status(page).to_have_text(
        "Your answer is kept, but no longer counts: the study is closed."
    )
    until(page, "Object.keys(localStorage).every(name => !name.startsWith('outbox'))")
    assert site.answers(item) == [(0, 0), (0, 4), (0, 4), (1, 0)]
    assert late_reasons(site, item) == ["", "closed", "closed", "closed"]
    assert site.ratings(worker.name, "graded") == {0: (0, [])}
    page.click("#submit button")
    save_status(page).to_have_text("Not submitted; your answers are kept. This study is closed.")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # as one comes back
    expect(page.locator("#elsewhere")).to_contain_text("Its page says what happens to your part")
    page.reload()
    expect(page.locator("#submit")).to_be_hidden()
    expect(page.get_by_role("link", name="To the page of the study")).to_be_visible()
    save_status(page).to_contain_text("This study is closed: answers are kept")
    expect(page.locator("#q-1 .spans q")).to_have_text(["divers found a crack"])
    assert axe_problems(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, "innerWidth === 390")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{worker.site.url}/work/in/closing/")
    expect(page.locator("main")).to_contain_text("This study is closed.")
    expect(page.locator("main .button.main")).to_have_count(0)

    # Opened again, and submitted: now they count.
    staff.get_by_role("button", name="Open again").click()
    expect(staff.locator(".notices")).to_contain_text("is open")
    page.goto(f"{worker.site.url}/work/{item}/")
    page.click("#submit button")
    page.wait_for_url("**/work/in/closing/end/")
    start = T2_BODY.index("divers found a crack")
    assert site.ratings(worker.name, "graded") == {
        0: (4, [(start, start + 20, "divers found a crack")]),
        1: (0, []),
    }
    worker.errors.clear()  # a request without a network, and a refused submit: Chromium logs both


def test_queued_answers_are_stored_after_the_study_was_closed(visit, site):
    worker, admin = visit("worker25"), visit("ada")
    (item,) = site.assignments(worker.name, "closing-meanwhile")
    page = worker.open(f"/work/{item}/")
    worker.context.route("**/answers/**", lambda route: route.abort())
    grade(page, 2, 0)
    save_status(page).to_contain_text("1 waiting")
    page.close()
    worker.context.unroute("**/answers/**")
    staff = admin.open("/campaigns/closing-meanwhile/")
    staff.get_by_text("Close…").click()
    staff.get_by_role("button", name="Close campaign").click()
    expect(staff.locator(".notices")).to_contain_text("are stored, but do not become ratings")
    page = worker.open("/work/in/closing-meanwhile/")
    save_status(page).to_have_text(
        "Your answer is kept, but no longer counts: the study is closed."
    )
    assert (site.answers(item), late_reasons(site, item)) == ([(1, 0)], ["closed"])
    staff.get_by_role("button", name="Open again").click()
    expect(staff.locator(".notices")).to_contain_text("is open")
    worker.errors.clear()
