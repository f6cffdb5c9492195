"""An upload in the browser: the page follows the look by itself, and without scripts by its link."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.looks import faults

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"


@pytest.mark.parametrize("scripts", [True, False])
def test_a_look_is_followed_to_its_end(visit, site, scripts):
    page = visit("ada", java_script_enabled=scripts).open("/import/")
    page.fill("#id_dataset", "looked-at")
    page.set_input_files("#id_files", [DEMO / "topics.jsonl", DEMO / "passages.jsonl"])
    page.click("text=Upload and look")
    heading = page.locator("h1")
    if not scripts:
        while heading.inner_text() == "Looking at the upload":
            page.click("text=See how far it is")
    expect(heading).to_have_text("What would change in looked-at")
    if scripts:
        assert faults(page) == []
    assert site.rows("select 1 from annotation_dataset where slug = 'looked-at'") == []


def test_what_a_file_would_replace_is_looked_at(visit, site):
    page = visit("ada").open("/datasets/coast/contents/run/?name=first_stage.bm25")
    page.click("text=Replace it from files")
    assert faults(page) == []
    page.set_input_files("#id_files", DEMO / "runs" / "first_stage.bm25.run")
    page.click("text=Upload and look")
    expect(page.locator("button.main")).to_have_text("Replace it")
    assert faults(page) == []
    (replaced,) = page.locator("table", has_text="In the place of the retrieval run").all()
    assert "ranked texts\t32\t32" in replaced.inner_text()
