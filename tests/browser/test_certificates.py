"""Certificates: accessible at all widths, tested on the page, void after a changed grade."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import WIDTHS, faults

LIST = "/datasets/harbour/certificates/"
AGREEMENT = "/datasets/harbour/agreement/?rubric=graded&judge=near"
CHANGE = (
    "from annotation.models import Rating;"
    "r = Rating.objects.filter(rater__name='ben', text__dataset__slug='harbour').first();"
    "Rating.objects.filter(pk=r.pk).update(grade=(r.grade + 1) % 5)"
)


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_are_accessible_at(visit, width):
    page = visit("rosa", width=width, height=844).open(LIST)
    assert faults(page, width) == []
    page.get_by_role("link", name="far", exact=True).click()
    page.wait_for_url("**/certificates/graded/*/")
    assert faults(page, width) == []
    page.get_by_role("button", name="Test judge").click()
    expect(page.locator("main")).to_contain_text("far was not shown to be able to stand in")
    assert faults(page, width) == []


def test_certificate_holds_until_a_grade_changes(visit, site):
    page = visit("rosa").open(LIST)
    page.get_by_role("link", name="near", exact=True).click()
    page.get_by_role("button", name="Test judge").click()
    expect(page.locator("main .badge").first).to_have_text("holds")
    page.goto(site.url + AGREEMENT)
    badge = page.locator("details.filter .badge")
    expect(badge).to_have_text("holds")
    site.run(CHANGE)
    page.reload()
    expect(badge).to_have_text("void: 1 grade changed in bay-1")
    badge.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Certificate of near")
    expect(page.locator("main .badge").first).to_have_text("void: 1 grade changed in bay-1")


def test_disagreements_become_an_open_campaign_in_three_acts(visit):
    page = visit("ada").open("/datasets/harbour/disagreements/?rubric=graded&kind=differ")
    page.get_by_role("link", name="Create campaign of these pairs").click()
    assert faults(page) == []
    page.get_by_label("Anyone with a link").check()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("main")).to_contain_text("chosen pairs, because they match the filter")
    assert faults(page) == []
    page.get_by_role("button", name="Open campaign").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Invitations")
