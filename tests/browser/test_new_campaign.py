"""New campaign: from the dataset to the first text of an annotator, in a few acts."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SURROUNDINGS, Visitor
from tests.browser.page_audit import faults

MOST_ACTS = 8


class Acts:
    """Clicks, typed fields and choices of one person, counted."""

    def __init__(self, page):
        self.page = page
        self.n = 0

    def click(self, role, name):
        self.page.get_by_role(role, name=name, exact=True).click()
        self.n += 1

    def choose(self, role, name):
        self.page.get_by_role(role, name=name).check()
        self.n += 1

    def type(self, label, value):
        self.page.get_by_label(label).fill(value)
        self.n += 1


@pytest.fixture
def stranger(site, chromium):
    """Return a function that opens a fresh profile without an account."""
    contexts = []

    def start(**options) -> Visitor:
        contexts.append(chromium.new_context(**(SURROUNDINGS | options)))
        return Visitor(site, contexts[-1], "stranger")

    yield start
    for context in contexts:
        context.close()


def opened(visit, audience, fill_in=None, audit=lambda _: None, **options):
    """Open a campaign from the page of the dataset; return its page of links and the acts.

    `audit` is called with each page on the way.
    """
    page = visit("ada", **options).open("/datasets/coast/")
    acts = Acts(page)
    acts.click("link", "New campaign")
    acts.choose("radio", audience)
    if fill_in:
        fill_in(acts)
    acts.click("button", "Next")
    expect(page.locator(".summary")).to_be_visible()
    audit(page)
    acts.click("button", "Open campaign")
    page.wait_for_url("**/invitations/")
    expect(page.locator(".notices")).to_contain_text("is open")
    audit(page)
    return page, acts


def assert_no_faults(page):
    assert faults(page) == []


def path_of(site, link):
    return link.removeprefix(site.url)


def name_colleagues(acts):
    acts.choose("checkbox", "worker22")
    acts.type("People without an account", "Ann")


SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


@SCRIPTS
def test_open_link_leads_anyone_to_the_first_text(visit, site, stranger, scripts):
    audit = assert_no_faults if scripts else lambda _: None
    page, acts = opened(visit, "Anyone with a link", audit=audit, java_script_enabled=scripts)
    assert acts.n <= MOST_ACTS
    link = page.locator("#open-link").inner_text()
    visitor = stranger(java_script_enabled=scripts, viewport={"width": 390, "height": 844})
    theirs = visitor.open(path_of(site, link))
    expect(theirs.get_by_text("Taking part is voluntary.")).to_be_visible()
    audit(theirs)
    theirs.get_by_role("button", name="I agree").click()
    expect(theirs.get_by_role("heading", name="Your personal link")).to_be_visible()
    audit(theirs)
    theirs.get_by_role("button", name="Start").click()
    expect(theirs.locator(".task-bar")).to_contain_text("Passage 1 of")
    assert visitor.faults() == []


@SCRIPTS
def test_colleagues_start_by_account_and_by_personal_link(visit, site, stranger, scripts):
    page, acts = opened(visit, "Colleagues", name_colleagues, java_script_enabled=scripts)
    assert acts.n <= MOST_ACTS
    expect(page.get_by_role("region", name="Links", exact=True)).to_contain_text("Ann")
    links = page.locator("[id^=link-]")
    theirs = stranger().open(path_of(site, links.inner_text()))
    theirs.get_by_role("button", name="Start").click()
    expect(theirs.locator(".task-bar")).to_contain_text("Passage 1 of")
    work_link = page.locator("#work-link").inner_text()
    colleague = visit("worker22").open(path_of(site, work_link))
    colleague.get_by_role("button", name="Start").click()
    expect(colleague.locator(".task-bar")).to_contain_text("Passage 1 of")


def test_prolific_with_pay_displays_the_values_to_paste(visit):
    def pay(acts):
        acts.type("Minutes for a text", "2.5")
        acts.type("Pay for an hour", "9")

    page, acts = opened(visit, "Prolific", pay)
    assert acts.n <= MOST_ACTS
    table = page.get_by_role("region", name="Values to paste")
    expect(table).to_contain_text("PROLIFIC_PID={{%PROLIFIC_PID%}}")
    expect(table).to_contain_text("3.00")
    expect(table).not_to_contain_text("not stated")


def test_setting_is_changed_before_the_opening(visit):
    page = visit("ada").open("/datasets/coast/")
    acts = Acts(page)
    acts.click("link", "New campaign")
    acts.choose("radio", "Anyone with a link")
    acts.click("button", "Next")
    page.get_by_text("Change these settings").click()
    acts.click("link", "Assignment")
    acts.type("Texts in a part", "4")
    acts.click("button", "Save and review")
    expect(page.locator(".summary")).to_contain_text("parts of 4 texts")
    acts.click("button", "Open campaign")
    page.wait_for_url("**/invitations/")
    assert acts.n + 1 <= MOST_ACTS


def test_page_displays_the_fields_of_the_chosen_audience(visit, site):
    visitor = visit("ada", width=390, height=844)
    page = visitor.open("/campaigns/new/?dataset=coast")
    names, minutes, pay = (
        page.get_by_label(label)
        for label in ("People without an account", "Minutes for a text", "Pay for an hour")
    )
    for audience, displayed in (
        ("Colleagues", (names,)),
        ("Anyone with a link", (minutes,)),
        ("Prolific", (minutes, pay)),
    ):
        page.get_by_role("radio", name=audience).check()
        for field in (names, minutes, pay):
            expect(field).to_be_visible(visible=field in displayed)
    assert_no_faults(page)
    page.get_by_label("Pay for an hour").fill("9")
    before = site.rows("select count(*) from annotation_campaign")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Say how many minutes a text takes")).to_be_visible()
    assert_no_faults(page)
    visitor.errors[:] = [error for error in visitor.errors if "422" not in error]
    assert site.rows("select count(*) from annotation_campaign") == before
