"""Import of a table by mouse: upload, columns, questions, preview, import."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import faults
from tests.browser.user_input import update_progress

GRADES = (
    b"qid,question,doc_id,passage,annotator,score,remarks\n"
    b"t1,What drives the mill?,d1,The stream drives the wheel of the mill.,anna,5,good\n"
    b"t1,What drives the mill?,d2,The miller sells flour on Saturdays.,anna,2,\n"
)


@pytest.mark.parametrize(("scripts", "width"), [(True, 1280), (False, 390)])
def test_table_is_imported_by_mouse(visit, site, scripts, width):
    slug = f"mill-{width}"
    page = visit("ada", java_script_enabled=scripts, width=width).open("/import/")
    page.fill("#table_dataset", slug)
    file = {"name": f"{slug}.csv", "mimeType": "text/csv", "buffer": GRADES}
    page.set_input_files("#table_files", file)
    page.click("text=Upload and choose columns")
    expect(page.locator("h1")).to_have_text("Import a table")
    if scripts:
        assert faults(page) == []
    page.get_by_label("Role of remarks").select_option("not read")
    page.get_by_label("0 to 5").check()
    page.get_by_label("Counts as answered from grade").select_option("3")
    page.get_by_role("button", name="Preview").click()
    heading = page.locator("h1")
    if not scripts:
        update_progress(page, "Reading the upload")
    expect(heading).to_have_text(f"Preview of changes to {slug}")
    page.get_by_role("link", name="Change the columns").click()
    expect(page.get_by_label("0 to 5")).to_be_checked()
    page.get_by_role("button", name="Preview").click()
    if not scripts:
        update_progress(page, "Reading the upload")
    page.get_by_role("button", name="Import", exact=True).click()
    if not scripts:
        update_progress(page, f"Importing into {slug}")
    expect(heading).to_have_text(f"The import into {slug} is done")
    ratings = site.rows(
        "select count(*) from annotation_rating g join annotation_text t on t.id = g.text_id"
        " join annotation_dataset d on d.id = t.dataset_id where d.slug = ?",
        slug,
    )
    assert ratings == [(2,)]


@pytest.mark.parametrize(("scripts", "width"), [(True, 1280), (False, 390)])
def test_header_row_is_chosen_by_mouse(visit, scripts, width):
    page = visit("ada", java_script_enabled=scripts, width=width).open("/import/")
    page.fill("#table_dataset", f"header-{width}")
    content = b"Grades of May,,,,,,\n" + GRADES
    file = {"name": "grades.csv", "mimeType": "text/csv", "buffer": content}
    page.set_input_files("#table_files", file)
    page.click("text=Upload and choose columns")
    page.get_by_text("How the file is read").click()
    page.get_by_label("Header row").fill("1")
    page.get_by_role("button", name="Apply").first.click()
    expect(page.get_by_label("Role of Grades of May")).to_be_visible()
    page.get_by_text("How the file is read").click()
    if scripts:
        assert faults(page) == []
    page.get_by_label("Header row").fill("2")
    page.get_by_role("button", name="Apply").first.click()
    expect(page.get_by_label("Role of score")).to_have_value("grade")
