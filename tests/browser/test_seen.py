"""Recall of retrieved evidence in a real browser: from Retrieval to a topic's items."""

from playwright.sync_api import expect

from tests.browser.page_audit import faults


def test_recall_leads_from_retrieval_to_the_items_of_a_topic(visit):
    page = visit("rosa").open("/datasets/coast/systems/")
    page.get_by_role("link", name="Recall of retrieved evidence").click()
    expect(page.locator("h1")).to_have_text("Recall of retrieved evidence")
    assert faults(page) == []
    before = page.locator("table").first.inner_text()
    page.locator(".filter > summary").click()
    page.get_by_label("Rel of answers").select_option("asked")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**rel=asked**")
    assert page.locator("table").first.inner_text() != before
    page.locator("tbody th a").first.click()
    expect(page.locator("#topics-title")).to_be_visible()
    # What was chosen goes along.
    expect(page.get_by_label("Rel of answers")).to_have_value("asked")
    assert faults(page) == []
    topic = page.locator("[aria-labelledby=topics-title] tbody a").first
    name = topic.inner_text()
    topic.click()
    expect(page.locator("h1")).to_have_text(name)
    expect(
        page.get_by_role("region", name="Sub-questions").locator("tbody tr").first
    ).to_be_visible()
    assert faults(page) == []
