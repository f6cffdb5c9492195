"""Explore pages in a real browser: figures, their files, and their tables without scripts.

A violation of the content security policy is an error of the console, which `visit` reports.
"""

from pathlib import Path

import pytest
from lxml import etree
from playwright.sync_api import expect

from tests.browser.page_audit import faults
from tests.browser.user_input import until

DATASET = "/datasets/coast/"
FIGURES = [
    "agreement/figure/coverage/",
    "agreement/figure/sweep/",
    "question-types/figure/",
    "systems/figure/topics/",
]
SVG = "{http://www.w3.org/2000/svg}"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def rosa(visit):
    return visit("rosa")


def test_figures_have_points_and_are_accessible(rosa, site):
    page = rosa.open(DATASET)
    for path in FIGURES:
        page.goto(f"{site.url}{DATASET}{path}")
        expect(page.locator("#figure .plot-container .point").first).to_be_attached()
        assert faults(page) == [], path


def test_figures_are_downloaded_on_white_with_titles_of_axes(visit, site, tmp_path):
    page = visit("rosa", color_scheme="dark", width=390).open(DATASET)
    for path, title in zip(
        FIGURES,
        ("report (rank", "η (lowest grade", "weight of the", "Coverage (share"),
        strict=True,
    ):
        page.goto(f"{site.url}{DATASET}{path}")
        expect(page.locator("#figure .point").first).to_be_attached()
        files = {ending: saved(page, ending, tmp_path) for ending in ("svg", "png")}
        drawing = etree.fromstring(files["svg"].read_bytes())
        assert (drawing.tag, drawing.get("width")) == (f"{SVG}svg", "1000")
        text = " ".join(drawing.itertext())
        assert title in text
        background = next(drawing.iter(f"{SVG}rect"))
        assert background.get("width") == "1000"
        assert "fill: rgb(255, 255, 255)" in background.get("style")
        image = files["png"].read_bytes()
        assert image.startswith(PNG_SIGNATURE)
        assert int.from_bytes(image[16:20]) == 3000


def saved(page, ending: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.click(f"[data-download={ending}]")
    assert download.value.suggested_filename.endswith(f".{ending}")
    path = folder / f"figure.{ending}"
    download.value.save_as(path)
    return path


@pytest.mark.timing
def test_point_of_a_rater_opens_the_pairs_of_its_report(rosa):
    page = rosa.open(f"{DATASET}agreement/figure/coverage/")
    until(page, "document.getElementById('figure')._ev?.listenerCount('plotly_click') > 0")
    point = page.locator("#figure .scatterlayer .point").first
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x + 1, y)
    page.mouse.move(x, y)
    expect(page.locator("#figure .hovertext")).to_contain_text("n = ")
    # Plotly passes over a press that comes while it looks up what is under the pointer.
    until(page, "document.getElementById('figure')._hoverdata?.length > 0")
    page.wait_for_timeout(100)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/disagreements/?**text=**")


def test_explore_links_lead_to_the_figures(rosa, site):
    page = rosa.open(f"{DATASET}agreement/")
    page.get_by_role("link", name="Explore: coverage of each report").click()
    page.wait_for_url("**/agreement/figure/coverage/**")
    expect(page.locator("#figure .point").first).to_be_attached()


def test_tables_are_shown_without_scripts(visit):
    page = visit("rosa", java_script_enabled=False).open(f"{DATASET}agreement/figure/sweep/")
    expect(page.locator("table")).to_be_visible()
    expect(page.locator("#figure")).to_be_hidden()
    expect(page.get_by_text("Download SVG")).to_be_hidden()
