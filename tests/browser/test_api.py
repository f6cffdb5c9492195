"""Pages of the API in a browser: the description, a token, and a tried request.

Swagger UI, which shows the description, is not ours: axe finds faults in it that no stylesheet mends, and is
given the page without it.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import faults


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_accessible_at(visit, width):
    visitor = visit("rosa", width=width)
    page = visitor.open("/api/v1/docs/try/")
    expect(page.locator(".opblock").first).to_be_visible()
    page.evaluate("document.getElementById('api').remove()")
    assert faults(page, width) == []
    page.goto(visitor.site.url + "/account/")
    page.get_by_label("Name").fill(f"program at {width}")
    page.get_by_role("button", name="Create token").click()
    expect(page.locator(".code")).to_be_visible()
    expect(page.get_by_role("button", name=f"Revoke program at {width}")).to_be_visible()
    assert faults(page, width) == []


def test_request_is_tried_under_the_strict_policy(visit):
    """The policy refuses no style or script of Swagger UI: the visitor has no errors."""
    page = visit("ada").open("/api/v1/docs/try/")
    operation = page.locator(".opblock", has_text="All rubrics")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    answer = operation.locator(".live-responses-table tbody .response-col_status").first
    expect(answer).to_contain_text("200")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_tried_post_passes_csrf_check(visit):
    """A POST carries the CSRF token: it is refused for its content, not for its sender."""
    visitor = visit("ada")
    page = visitor.open("/api/v1/docs/try/")
    operation = page.locator(".opblock", has_text="Cancel a judge run")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_placeholder("id").fill("999999")
    operation.get_by_role("button", name="Execute").click()
    answer = operation.locator(".live-responses-table tbody .response-col_status").first
    expect(answer).to_contain_text("404")
    visitor.errors[:] = [error for error in visitor.errors if "404" not in error]
