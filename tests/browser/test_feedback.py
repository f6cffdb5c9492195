"""Feedback on decisions in a real browser: read on a computer and a phone, and disagree."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.page_audit import PHONE, WIDE, faults
from tests.toolbox.prolific_study import prolific_id

STUDY = "/work/in/decided/"


@pytest.fixture
def return_person(site, chromium):
    """Return a function that brings a person of the decided study back to its page."""
    contexts, visitors = [], []

    def start(name: str, width: int, **options) -> Page:
        contexts.append(chromium.new_context(viewport={"width": width, "height": 844}, **options))
        visitors.append(Visitor(site, contexts[-1], name))
        ids = f"PROLIFIC_PID={prolific_id(name)}&STUDY_ID=st1&SESSION_ID=sub1"
        page = visitors[-1].open(f"/start/decided/?{ids}")
        page.goto(site.url + STUDY)
        return page

    yield start
    for context in contexts:
        context.close()
    for visitor in visitors:
        assert [error for error in visitor.errors if "status of 4" not in error] == []


@pytest.mark.parametrize(("width", "scripts"), [(WIDE, True), (PHONE, False)])
def test_person_reads_decisions_and_disagrees(return_person, visit, site, width, scripts):
    page = return_person("first", width, java_script_enabled=scripts)
    page.get_by_role("link", name="See the feedback").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Feedback")
    first = page.locator(".compared > li").first
    expect(first).to_contain_text("You differ")
    expect(first).to_contain_text("A pier had moved")
    expect(first).to_contain_text("Why: The pier is the reason.")
    assert scripts is False or faults(page) == []
    first.get_by_text("I disagree", exact=True).click()
    note = f"Nothing of that at {width}."
    first.get_by_label("Why do you disagree?").fill(note)
    assert scripts is False or faults(page, width) == []
    first.get_by_role("button", name="Send").click()
    expect(page.locator(".notices")).to_contain_text("Your note is sent.")
    expect(page.locator(".compared > li").first).to_contain_text(note)
    page.get_by_role("link", name="Reading about bridges").click()
    expect(page.locator("#conversation")).to_contain_text(note)

    staff = visit("ada").open("/campaigns/decided/messages/")
    message = staff.locator("#person-conversation, article", has_text=note).last
    message.get_by_role("link", name="Why was the bridge shut?").last.click()
    expect(staff.locator("#question-title")).to_have_text("Why was the bridge shut?")
    expect(staff.get_by_text("Do not name people in the note.")).to_be_visible()


def test_page_is_accessible_on_a_phone(return_person):
    page = return_person("second", PHONE, has_touch=True)
    assert faults(page, PHONE) == []
    page.get_by_role("link", name="See the feedback").click()
    expect(page.get_by_text("You agree with all decisions.")).to_be_visible()
    page.get_by_text("I disagree", exact=True).first.click()
    assert faults(page, PHONE) == []


def test_quality_page_with_feedback_is_accessible(visit):
    page = visit("ada").open("/campaigns/decided/quality/")
    expect(page.get_by_text("Grades equal to the expert’s decision")).to_be_visible()
    assert faults(page) == []
