"""A co-author finds the results for a paper from Home, without help, in few acts.

An act is a click or a key; reading and scrolling are none.
"""

import re

from playwright.sync_api import Locator, Page, expect

MOST_ACTS = 12


class Reader:
    """Reader of a page, who is counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.n_acts = 0

    def press(self, target: Locator) -> None:
        """Click something that is in sight, as an act."""
        expect(target).to_be_visible()
        target.click()
        self.n_acts += 1

    def open_section(self, name: str) -> None:
        """Open a page by the list beside each page of the dataset."""
        rail = self.page.get_by_role("navigation", name=re.compile("^Pages of "))
        self.press(rail.get_by_role("link", name=re.compile(rf"^{name}\b")))
        expect(self.page.locator("h1")).to_have_text(name)


def test_results_for_a_paper_are_found_in_few_acts(visit):
    visitor = visit("rosa", permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open("/")
    reader = Reader(page)
    reader.press(page.locator("main table").get_by_role("link", name="Coast", exact=False).first)
    reader.open_section("Systems")
    # The table is ordered by coverage, the highest first, in each group of systems.
    runs = page.locator("#systems tbody").filter(has_text="Retrieval runs")
    best = runs.locator("tr:not(.part) th").first.inner_text().split("\n")[0].strip()
    assert best
    # Whether the difference is significant: a row for each pair, with p, below the table of systems.
    tests = page.locator("#tests tbody tr").filter(has_text=best)
    expect(tests.first).to_be_visible()
    expect(page.locator("#tests thead")).to_contain_text("p")
    # The LaTeX of the table of systems.
    menu = page.locator("#systems .menu")
    reader.press(menu.locator("summary"))
    reader.press(menu.locator("[data-copy]").first)
    expect(menu.locator("[data-copy]").first).to_have_text("Copied")
    latex = page.evaluate("navigator.clipboard.readText()")
    assert best.replace("_", r"\_") in latex
    # The pair that people disagree on most: the first of the list.
    reader.open_section("Disagreements")
    expect(page.locator("#rows-title")).to_contain_text("grades differ")
    reader.press(page.locator(".cases a").first)
    page.wait_for_url("**/pairs/*/*/**")
    expect(page.locator(".grades")).to_be_visible()
    assert reader.n_acts <= MOST_ACTS
    assert reader.n_acts == 6
