"""Own study: import, text edits, undo, a co-author, a reviewer, and the paper."""

import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.browser.page_audit import faults

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
WHOLE = [path for path in sorted(DEMO.rglob("*.*")) if path.suffix in (".jsonl", ".run")]
LATE = [path for path in WHOLE if "rater2" in path.name]


@pytest.fixture
def nobody(site, chromium):
    """Return a function that creates a visitor with a clean profile and no account."""
    contexts = []

    def start() -> Visitor:
        contexts.append(chromium.new_context(viewport={"width": 1280, "height": 844}))
        return Visitor(site, contexts[-1], "nobody")

    yield start
    for context in contexts:
        context.close()


def bring(page, files) -> None:
    """Upload, check and import files, from the page of the project."""
    page.get_by_role("link", name="Import a study").click()
    page.fill("#id_dataset", "bay")
    page.fill("#id_title", "The bay")
    page.set_input_files("#id_files", files)
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name="Open the dataset").click()


def test_study_from_import_to_paper_with_co_author_and_reviewer(visit, site, nobody, tmp_path):
    rosa = visit("rosa")
    page = rosa.open("/projects/")
    page.get_by_label("Title").fill("Bay studies")
    page.get_by_label("Name in URLs").fill("bay-studies")
    page.get_by_role("button", name="Create project").click()
    bring(page, [path for path in WHOLE if path not in LATE])
    page.goto(f"{site.url}/projects/bay-studies/")
    bring(page, LATE)

    # A passage and a question are mended: looked at first, then changed.
    [(text, body)] = site.rows(
        "select t.id, t.body from annotation_text t join annotation_dataset d on d.id = t.dataset_id"
        " where d.slug = 'bay' and t.kind = 'passage' and t.body is not null order by t.id limit 1"
    )
    page.goto(f"{site.url}/datasets/bay/text-history/text/{text}/")
    page.get_by_label("Text:", exact=True).fill(f"{body} It was corrected.")
    page.get_by_role("button", name="Preview the edit").click()
    expect(page.get_by_role("heading", name="Effects of the edit")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("button", name="Save the edit").click()
    expect(page.get_by_role("heading", name="Version 1")).to_be_visible()
    assert faults(page) == []
    [(question,)] = site.rows(
        "select q.id from annotation_subquestion q join annotation_topic t on t.id = q.topic_id"
        " join annotation_dataset d on d.id = t.dataset_id where d.slug = 'bay' order by q.id limit 1"
    )
    page.goto(f"{site.url}/datasets/bay/text-history/question/{question}/")
    page.get_by_label("Text:", exact=True).fill("What was closed first, and why?")
    page.get_by_role("button", name="Preview the edit").click()
    page.get_by_role("button", name="Save the edit").click()
    expect(page.get_by_role("heading", name="Version 1")).to_be_visible()
    page.get_by_role("link", name="Restore version 1").click()
    expect(page.locator(".wording-diff ins")).not_to_have_count(0)
    assert faults(page) == []
    page.get_by_role("button", name="Restore this version").click()
    expect(page.get_by_text("The earlier version is restored.")).to_be_visible()

    # The second import is taken back: what it alone brought goes.
    rater2 = "select count(*) from annotation_rating g join annotation_rater r on r.id = g.rater_id"
    of_bay = f"{rater2} join annotation_dataset d on d.id = r.dataset_id where d.slug = 'bay'"
    of_it = f"{of_bay} and r.name = 'demo_rater2'"
    before, [(went,)] = site.rows(of_bay), site.rows(of_it)
    page.goto(f"{site.url}/datasets/bay/history/")
    assert faults(page) == []
    page.get_by_role("link", name="Undo the import").first.click()
    page.get_by_role("button", name="Undo the import").click()
    expect(page.get_by_text("undid the import").first).to_be_visible()
    assert (site.rows(of_bay), went > 0) == ([(before[0][0] - went,)], True)

    # A co-author comes by a link, and sees this project alone.
    page.goto(f"{site.url}/projects/bay-studies/")
    page.fill("#id_for_whom", "Ottilie")
    page.get_by_role("button", name="Create link").click()
    link = page.locator(".code").inner_text()
    assert faults(page) == []
    author = nobody()
    theirs = author.open(link.removeprefix(site.url))
    assert faults(theirs) == []
    theirs.fill("#id_username", "ottilie")
    theirs.fill("#id_password1", "grey-heron-8")
    theirs.fill("#id_password2", "grey-heron-8")
    theirs.get_by_role("button", name="Create account and join").click()
    expect(theirs.get_by_role("heading", name="Bay studies")).to_be_visible()
    theirs.goto(f"{site.url}/")
    expect(theirs.locator(".cards tbody tr")).to_have_count(1)
    expect(theirs.get_by_role("link", name="The bay", exact=True)).to_be_visible()
    assert theirs.goto(f"{site.url}/datasets/coast/").status == 404

    # A reviewer reads the agreement without an account, and nothing else.
    page.goto(f"{site.url}/datasets/bay/agreement/")
    page.get_by_role("link", name="Share").click()
    page.fill("#id_for_whom", "Reviewer 2")
    page.get_by_role("button", name="Create link").click()
    link = page.locator(".code").last.inner_text()
    reviewers = nobody().open(link.removeprefix(site.url))
    expect(reviewers.get_by_text("shared until")).to_be_visible()
    assert faults(reviewers) == []
    assert reviewers.goto(f"{site.url}/datasets/bay/disagreements/").status == 404

    # And the paper.
    page.goto(f"{site.url}/datasets/bay/paper/")
    with page.expect_download() as waited:
        page.get_by_role("link", name="Download all files with provenance").click()
    waited.value.save_as(tmp_path / "paper.zip")
    names = zipfile.ZipFile(tmp_path / "paper.zip").namelist()
    assert {"table1.tex", "table1.csv", "provenance.json"} <= {Path(name).name for name in names}
