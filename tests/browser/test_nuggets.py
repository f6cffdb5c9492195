"""Nuggets: imported from a file, assigned by a worker, scored on their page."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import faults
from tests.browser.user_input import settled

NUGGETS = {"Ottilie Marsh mended the wheel": "vital", "it turned in May": "okay"}
LINE = {
    "query": "What became of the mill at Saltrigg?",
    "qid": "mill",
    "run_id": "heron",
    "answer_text": "Ottilie Marsh mended the wheel of the mill.",
    "nuggets": [
        {"text": text, "importance": importance, "mapped_sub_narrative": "Who mended it?"}
        for text, importance in NUGGETS.items()
    ],
}
HAND_OUT = """
from annotation.models import Dataset, User
from annotation.models.standard import NUGGET_SUPPORT, add_standard
from tests.toolbox.factories import make_campaign
add_standard(NUGGET_SUPPORT)
make_campaign(
    Dataset.objects.get(slug="mill"), User.objects.get(username="worker29"), rubric="nugget-support"
)
"""


@pytest.fixture
def files(tmp_path):
    path = tmp_path / "model-a.jsonl"
    path.write_text(json.dumps(LINE) + "\n")
    return [path]


def test_nuggets_are_imported_assigned_and_scored(visit, site, files):
    page = visit("ada").open("/import/")
    page.fill("#id_dataset", "mill")
    page.select_option("select[name=format]", "nuggets")
    page.set_input_files("#id_files", files)
    page.click("text=Upload and preview")
    expect(page.locator("h1")).to_have_text("Preview of changes to mill")
    page.get_by_role("button", name="Import", exact=True).click()
    page.click("text=Open the dataset")
    page.locator("#dataset-pages").get_by_role("link", name="Systems").click()
    page.locator("#dataset-pages").get_by_role("link", name="Nuggets").click()
    expect(page.locator("h1")).to_have_text("Nuggets")
    expect(page.locator(".note").first).to_contain_text("1 vital, 1 okay, 0 without importance")
    expect(page.locator("main > .note").first).to_contain_text("have no nugget assignments yet")

    site.run(HAND_OUT)
    (item,) = site.assignments("worker29", "mill-nugget-support")
    work = visit("worker29").open(f"/work/{item}/")
    work.keyboard.press("2")
    work.keyboard.press("1")
    settled(work)
    work.keyboard.press("Control+Enter")
    work.wait_for_url(lambda url: f"/work/{item}/" not in url)

    page.reload()
    row = page.locator("tr", has=page.get_by_role("rowheader", name="heron")).locator("td")
    # Of two nuggets one in full and one in part: 1/1, 1/2, 1/1, 3/4.
    for cell, value in zip(row.all(), ("1.00", "0.50", "1.00", "0.75"), strict=True):
        expect(cell).to_contain_text(value)
    assert faults(page) == []
    page.get_by_role("link", name="mill", exact=True).last.click()
    expect(page.locator("tbody td")).to_have_text(["vital", "support", "okay", "partial support"])
    assert faults(page) == []
    page.click("text=it turned in May")
    expect(page.locator("main")).to_contain_text(LINE["answer_text"])
