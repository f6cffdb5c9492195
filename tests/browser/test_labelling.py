"""What to label next: readable at every width, and a draw that a researcher makes."""

import pytest

from tests.browser.site import axe_problems
from tests.browser.test_pages import VIEWS

PAGE = "/datasets/locks/label-next/?size=2"


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_it_is_accessible_and_so_is_a_draw_at(visit, width, scheme):
    page = visit("rosa", width=width, height=844, color_scheme=scheme).open(PAGE)
    assert axe_problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Draw 2 of them").click()
    page.wait_for_url("**/label-next/draws/*/")
    assert page.locator("tbody tr").count() == 2
    assert axe_problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
