"""What to label next: readable at every width, and a sample that a researcher makes."""

import pytest

from tests.browser.looks import WIDTHS, faults

PAGE = "/datasets/locks/label-next/?size=2"


@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_accessible_and_so_is_a_draw_at(visit, width):
    page = visit("rosa", width=width, height=844).open(PAGE)
    assert faults(page, width) == []
    page.get_by_role("button", name="Draw 2 of them").click()
    page.wait_for_url("**/label-next/samples/*/")
    assert page.locator("tbody tr").count() == 2
    assert faults(page, width) == []
