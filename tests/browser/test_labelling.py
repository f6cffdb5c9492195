"""Label next: accessible at all widths, and a sample drawn by a researcher."""

import pytest

from tests.browser.page_audit import WIDTHS, faults

PAGE = "/datasets/locks/label-next/?size=2"


@pytest.mark.parametrize("width", WIDTHS)
def test_page_and_sample_are_accessible_at(visit, width):
    page = visit("rosa", width=width, height=844).open(PAGE)
    assert faults(page, width) == []
    page.get_by_role("button", name="Draw sample (2)").click()
    page.wait_for_url("**/label-next/samples/*/")
    assert page.locator("tbody tr").count() == 2
    assert faults(page, width) == []
