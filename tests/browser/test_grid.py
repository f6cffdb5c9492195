"""Import of an archive of CRUD-RAG's files, the grid, and one report with its questions."""

import json
import zipfile
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.page_audit import faults

COLLECTION = Path(__file__).resolve().parents[2] / "fixtures" / "grid"
CANNOT_TELL = "无法推断"


def output(k: int, answer: str) -> tuple[str, str]:
    """Return the file of a system for topics of one kind, with `answer` to first questions."""
    items = json.loads((COLLECTION / "split_merged.json").read_text())["questanswer_1doc"]
    questions = json.loads((COLLECTION / "QuestAnswer1Doc_quest_gt_save.json").read_text())
    results = [
        {
            "id": item["ID"],
            "metrics": {},
            "log": {
                "generated_text": item["answers"][: 4 + k],
                "ground_truth_text": item["answers"],
                "quest_eval_save": {
                    "questions_gt": questions[item["ID"]]["question"],
                    "answers_gt4gt": questions[item["ID"]]["answers"],
                    "answers_gm4gt": [answer, CANNOT_TELL],
                },
            },
            "valid": True,
        }
        for item in items
    ]
    content = json.dumps({"info": {}, "overall": {}, "results": results}, ensure_ascii=False)
    return f"output/small_top{k}_GPT/QuestAnswer1Doc_tiny.json", content


def test_archive_becomes_a_grid(visit, tmp_path):
    archive = tmp_path / "crud.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in COLLECTION.glob("*.json"):
            packed.write(path, path.name)
        for name, content in (output(2, "潜水员"), output(8, "一个潜水员")):
            packed.writestr(name, content)
    page = visit("ada").open("/import/")
    page.fill("#id_dataset", "journey")
    page.get_by_label("Format:").select_option("crud")
    page.set_input_files("#id_files", archive)
    page.click("text=Upload and preview")
    expect(page.locator("h1")).to_have_text("Preview of changes to journey")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name="Open the dataset").click()
    page.get_by_role("link", name="Systems").first.click()
    page.get_by_role("link", name="Reports against references").click()
    expect(page.get_by_text("Systems that differ only in k, by kind of task")).to_be_visible()
    read = page.get_by_role("region", name="read-1")
    expect(read.locator("tbody tr")).to_have_count(2)
    expect(read.locator("tbody tr").nth(1)).to_contain_text("best")
    assert faults(page) == []
    page.locator(".filter > summary").click()
    page.get_by_label("Rules").select_option("authors")
    page.get_by_label("Tokens").select_option("characters")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".filter > summary")).to_contain_text("tokens: characters")
    expect(page.get_by_text("Tokens characters")).to_be_visible()
    read.get_by_role("link", name="3").nth(1).click()
    page.get_by_role("link", name="read-1.dam").click()
    answers = page.get_by_role("region", name="Questions and answers")
    expect(answers.locator("tbody tr").first).to_contain_text("一个潜水员")
    expect(answers.locator("tbody tr").nth(1)).to_contain_text("not answered")
    assert faults(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    page.go_back()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Reports against references")
    assert faults(page) == []
