"""Retrieval pages in a real browser: accessibility and interactive figures.

The figures work under the strict content security policy.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import faults
from tests.browser.user_input import until

ROOM = "/datasets/coast/systems/"
PAGES = [
    "",
    "runs/first_stage.dense/",
    "compare/",
    "judges/",
    "figure/metrics/",
    "figure/topics/",
    "figure/compare/",
    "?source=nobody",
]


@pytest.fixture
def rosa(visit):
    return visit("rosa")


def test_pages_are_accessible(rosa, site):
    page = rosa.open(ROOM)
    for path in PAGES:
        page.goto(f"{site.url}{ROOM}{path}")
        if path.startswith("figure/"):
            expect(page.locator("#figure .main-svg").first).to_be_visible()
        page.evaluate(
            "document.querySelectorAll('details:not(.menu)').forEach(part => { part.open = true; })"
        )
        assert faults(page) == [], path
    # Chromium logs the refusal that was asked for; a violation of the policy would stand here too.
    rosa.errors[:] = [error for error in rosa.errors if "400" not in error]


def test_point_opens_the_matrix_of_its_topic(rosa):
    page = rosa.open(ROOM)
    point = page.locator(".strips a").first
    topic = point.get_attribute("aria-label").split(":")[0]
    point.focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(topic)


def test_points_can_be_skipped_by_keyboard(rosa):
    page = rosa.open(ROOM)
    page.locator("main .skip-link").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_table_is_ordered_by_a_click(rosa):
    page = rosa.open(ROOM)
    page.locator("th").get_by_role("link", name="α-nDCG", exact=True).click()
    page.wait_for_url("**sort=systems:-alpha_ndcg**")
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("α-nDCG")


def test_pair_of_systems_is_two_clicks_from_its_topics(rosa):
    page = rosa.open(ROOM)
    page.get_by_role("link", name="Pairwise comparison", exact=True).click()
    expect(page.locator("h1")).to_have_text("Pairwise comparison")
    page.locator("tbody a").first.click()
    page.wait_for_url("**/matrix/**")


@pytest.mark.timing
def test_figure_tells_a_point_and_opens_its_topic(rosa):
    page = rosa.open(f"{ROOM}figure/topics/")
    # The points are there before anything listens to the mouse; Plotly's emitter tells of the last to come.
    until(page, "document.getElementById('figure')._ev?.listenerCount('plotly_click') > 0")
    box = page.locator("#figure .point").last.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x + 1, y)
    page.mouse.move(x, y)
    expect(page.locator("#figure .hovertext")).to_contain_text("Coverage")
    # Plotly passes over a press that comes while it looks up what is under the pointer.
    until(page, "document.getElementById('figure')._hoverdata?.length > 0")
    page.wait_for_timeout(100)  # twice as long as it waits before it looks once more
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/matrix/**")


def test_figure_follows_the_theme(rosa):
    page = rosa.open(f"{ROOM}figure/metrics/")
    text = page.locator("#figure .xtick text").first
    expect(text).to_be_visible()
    by_day = text.evaluate("node => getComputedStyle(node).fill")
    page.locator("[data-theme-toggle]").click()
    expect(text).not_to_have_css("fill", by_day)


def test_tables_are_shown_without_scripts(visit):
    page = visit("rosa", java_script_enabled=False).open(f"{ROOM}figure/compare/")
    expect(page.locator("table")).to_be_visible()
    expect(page.locator("#figure")).to_be_hidden()
