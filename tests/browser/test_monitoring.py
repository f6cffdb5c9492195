"""Monitoring in a browser: live counts, confirmations, and accessibility."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems, faults

HOME = "/campaigns/field/"
PAGES = [
    *("", "participants/", "participants/?status=invited", "participants/?status=working"),
    *("messages/", "invitations/", "reconcile/", "log/"),
]
HEAD = "Submission id,Participant id,Status,Started at,Completion code\n"


def participant(site, pid: str) -> str:
    [(key,)] = site.rows(
        "select p.id from annotation_participant p join annotation_campaign c"
        " on c.id = p.campaign_id where c.slug = 'field' and p.external_id = ?",
        pid,
    )
    return f"{HOME}participants/{key}/"


@pytest.mark.parametrize("account", ["ada", "rosa"])
def test_pages_are_accessible(visit, site, account):
    visitor = visit(account)
    page = visitor.open(HOME)
    detail = participant(site, "pid-working")
    for path in [*(HOME + path for path in PAGES), detail]:
        page.goto(site.url + path)
        page.evaluate(
            "document.querySelectorAll('details').forEach(details => { details.open = true; })"
        )
        assert faults(page) == [], path
    # A researcher is refused the admins' pages, and Chromium logs it.
    visitor.errors[:] = [error for error in visitor.errors if "403" not in error]


def test_numbers_are_refreshed_and_can_be_paused(visit):
    visitor = visit("rosa")
    visitor.context.clock.install()
    page = visitor.open(HOME)
    requests = []
    page.on(
        "request",
        lambda request: requests.append(request) if "hx-request" in request.headers else None,
    )
    with page.expect_response(lambda response: "hx-request" in response.request.headers):
        page.clock.run_for(10_000)
    expect(page.locator("#numbers .tiles")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    page.get_by_role("button", name="Pause updates").click()
    expect(page.locator("[data-live-says]")).to_have_text("The numbers stand still.")
    before = len(requests)
    page.clock.run_for(30_000)
    assert len(requests) == before


def test_session_that_ended_puts_no_log_in_page_into_the_numbers(visit):
    visitor = visit("rosa")
    visitor.context.clock.install()
    page = visitor.open(HOME)
    visitor.context.clear_cookies()
    page.clock.run_for(10_000)
    expect(page.locator("[data-live-says]")).to_contain_text("Log in again")
    expect(page.locator("#numbers .tiles")).to_have_count(1)
    expect(page.locator("#id_password")).to_have_count(0)


def test_admin_pauses_and_goes_on(visit, site):
    page = visit("ada").open(HOME)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text("is paused: no new work is assigned")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("is open.")).to_be_visible()
    page.goto(site.url + HOME + "log/")
    expect(page.locator("tbody tr").first).to_contain_text("opened again")


def test_irreversible_action_asks_first(visit, site):
    page = visit("ada").open(participant(site, "pid-overdue"))
    page.get_by_text("End participation…").click()
    page.get_by_role("button", name="End participation").click()
    # The browser itself asks for the tick: the page is still the same.
    expect(page.get_by_role("button", name="End participation")).to_be_visible()
    page.locator("form[action$='return/'] input[name=confirm]").check()
    page.get_by_role("button", name="End participation").click()
    expect(page.get_by_text("has ended, and 3 items returned")).to_be_visible()
    page.get_by_role("button", name="Readmit").click()
    expect(page.get_by_text("can continue.")).to_be_visible()


def test_link_is_made_and_copied(visit, site):
    visitor = visit("ada")
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open(HOME + "invitations/")
    page.get_by_label("Names").fill("Amal")
    page.get_by_role("button", name="Create links").click()
    button = page.get_by_role("button", name="Copy the link of Amal")
    expect(button).to_be_visible()
    page.wait_for_load_state()  # with its scripts
    button.click()
    expect(button).to_have_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{site.url}/invited/")
    address = page.get_by_role("button", name="Copy: Address of the study")
    address.click()
    expect(address).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(
        f"{site.url}/start/field/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID"
    )


def test_prolific_list_is_compared_and_the_comparison_downloaded(visit, tmp_path):
    page = visit("ada").open(HOME + "reconcile/")
    export = tmp_path / "export.csv"
    export.write_text(
        f"{HEAD}sub-done-1,pid-done,AWAITING REVIEW,x,DONE1\n"
        "sub-done-2,pid-done,TIMED-OUT,x,\nsub-x,pid-x,AWAITING REVIEW,x,NOCODE\n"
    )
    page.set_input_files("input[type=file]", export)
    page.get_by_role("button", name="Compare").click()
    rows = page.get_by_role("region", name="Submissions and parts", exact=True).locator("tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("approve")
    expect(page.get_by_role("region", name="Pay due").locator("tbody tr")).to_have_count(3)
    page.get_by_text("Edit rules").click()
    assert axe_problems(page) == []
    with page.expect_download() as started:
        page.get_by_role("link", name="Download as CSV").click()
    assert started.value.suggested_filename == "field.prolific.csv"
    lines = started.value.path().read_text().splitlines()
    assert lines[0].startswith("Submission id,Participant id,Status there")
    assert len(lines) == 5


def test_broken_list_names_the_line(visit, tmp_path):
    visitor = visit("ada")
    page = visitor.open(HOME + "reconcile/")
    export = tmp_path / "export.csv"
    export.write_text(f"{HEAD}s,,ACTIVE,x,\nt,,MAYBE,x,\n")
    page.set_input_files("input[type=file]", export)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("Line 3: “Participant id” is empty.")).to_be_visible()
    assert axe_problems(page) == []
    visitor.errors[:] = [error for error in visitor.errors if "422" not in error]


def test_export_is_downloaded(visit):
    page = visit("rosa").open(HOME)
    with page.expect_download() as started:
        page.get_by_role("button", name="Export anonymised data").click()
    assert started.value.suggested_filename == "field.anonymous.zip"
    assert started.value.path().stat().st_size > 1000
