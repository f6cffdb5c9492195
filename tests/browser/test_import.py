"""Upload in the browser: progress of its check by scripts, and without them by a link."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import faults
from tests.browser.user_input import update_progress

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"


@pytest.mark.parametrize("scripts", [True, False])
def test_upload_check_is_followed_to_its_end(visit, site, scripts):
    page = visit("ada", java_script_enabled=scripts).open("/import/")
    page.fill("#id_dataset", "looked-at")
    page.set_input_files("#id_files", [DEMO / "topics.jsonl", DEMO / "passages.jsonl"])
    page.click("text=Upload and preview")
    heading = page.locator("h1")
    if not scripts:
        update_progress(page, "Reading the upload")
    expect(heading).to_have_text("Preview of changes to looked-at")
    if scripts:
        assert faults(page) == []
    assert site.rows("select 1 from annotation_dataset where slug = 'looked-at'") == []


def test_replacement_of_a_run_is_previewed(visit, site):
    page = visit("ada").open("/datasets/coast/contents/run/?name=first_stage.bm25")
    page.click("text=Replace from files")
    assert faults(page) == []
    page.set_input_files("#id_files", DEMO / "runs" / "first_stage.bm25.run")
    page.click("text=Upload and preview")
    expect(page.locator("button.main")).to_have_text("Replace")
    assert faults(page) == []
    (replaced,) = page.locator("table", has_text="In the place of the retrieval run").all()
    assert "ranked texts\t32\t32" in replaced.inner_text()
