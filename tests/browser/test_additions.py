"""Additions by hand, by mouse: from an empty dataset to a report, and undone again."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import faults


@pytest.mark.parametrize(("scripts", "width"), [(True, 1280), (False, 390)])
def test_small_study_is_added_by_hand_and_undone(visit, site, scripts, width):
    slug = f"mill-by-hand-{width}"
    visitor = visit("ada", java_script_enabled=scripts, width=width)
    page = visitor.open("/import/")
    page.get_by_role("link", name="Create an empty dataset").click()
    page.get_by_label("Title").fill("The mill")
    page.get_by_label("Name in addresses").fill(slug)
    check(page, scripts)
    page.get_by_role("button", name="Create dataset").click()

    expect(page.get_by_role("heading", name="Add topic")).to_be_visible()
    page.get_by_label("Id").fill("mill-1")
    page.get_by_label("Request").fill("What drives the mill, and what does it sell?")
    check(page, scripts)
    page.get_by_role("button", name="Add topic").click()

    for question in ("What drives the mill?", "What does the mill sell?"):
        expect(page.get_by_label("Topic")).to_have_value("mill-1")
        page.get_by_role("textbox", name="Sub-question").fill(question)
        page.get_by_role("button", name="Add sub-question").click()
        expect(page.get_by_role("listitem").filter(has_text=question)).to_be_visible()
    check(page, scripts)

    page.get_by_role("link", name="Add text").click()
    page.get_by_label("report: an answer").check()
    page.locator("#id_system").fill("bot")
    page.locator("#id_body").fill("The stream drives it.\nIt sells flour.")
    check(page, scripts)
    page.get_by_role("button", name="Add text").click()
    expect(page.get_by_text("Added: report mill-1 of bot.")).to_be_visible()
    assert rows(site, slug) == [("mill-1", 2, "The stream drives it.\nIt sells flour.")]

    open_page(page, "Texts")
    expect(page.get_by_role("link", name="Add text to mill-1")).to_be_visible()
    check(page, scripts)
    open_page(page, "History")
    for remaining in (("mill-1", 2, None), ("mill-1", 1, None), ("mill-1", 0, None), None):
        page.get_by_role("link", name="Undo the addition").first.click()
        page.get_by_role("button", name="Undo the addition").click()
        expect(page.get_by_text("is undone.")).to_be_visible()
        assert rows(site, slug) == ([remaining] if remaining else [])
    expect(page.get_by_role("link", name="Undo the addition")).to_have_count(0)


def open_page(page, name: str) -> None:
    """Open a page by the list of pages, which is a popover on a phone."""
    if page.locator(".where").is_visible():
        page.locator(".where").click()
    page.locator("#dataset-pages").get_by_role("link", name=name).first.click()


def check(page, scripts: bool) -> None:
    """Look for faults of the page; axe needs scripts."""
    if scripts:
        assert faults(page) == []


def rows(site, slug: str) -> list[tuple]:
    """Return each topic with its number of sub-questions and the body of its report."""
    return site.rows(
        "select t.name, (select count(*) from annotation_subquestion q where q.topic_id = t.id),"
        " (select x.body from annotation_text x where x.topic_id = t.id)"
        " from annotation_topic t join annotation_dataset d on d.id = t.dataset_id where d.slug = ?",
        slug,
    )
