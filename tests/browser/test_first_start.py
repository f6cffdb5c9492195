"""First start of an empty site: the first admin by the printed token, then the demo."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.page_audit import faults
from tests.toolbox.browser_texts import PASSWORD

pytestmark = pytest.mark.soak


def fill(page: Page, name: str) -> None:
    page.fill("#id_username", name)
    page.fill("#id_password1", PASSWORD)
    page.fill("#id_password2", PASSWORD)


def test_first_admin_is_created_once_and_loads_the_demo(printed_address, open_page):
    site, _, token = re.fullmatch(r"(.+)(/first-admin/\?token=)(.+)", printed_address).groups()
    page, second_page = open_page(f"{site}/datasets/"), open_page(printed_address)
    assert page.url == f"{site}/first-admin/"
    assert faults(page) == []
    page.fill("#id_token", "a guess")
    fill(page, "ada")
    page.click("main button")
    expect(page.locator("#id_token_error")).to_have_text("This is not the token of this site.")
    assert faults(page) == []
    page.fill("#id_token", token)
    fill(page, "ada")
    page.click("main button")
    page.wait_for_url(f"{site}/")
    expect(page.locator(".door h2")).to_have_text(["Import a table", "Load the demo", "Annotate"])
    assert faults(page) == []

    expect(second_page.locator("#id_token")).to_have_value(token)
    fill(second_page, "eve")
    second_page.click("main button")
    expect(second_page.locator("h1")).to_have_text("Page not found")
    second_page.goto(printed_address)
    expect(second_page.locator("h1")).to_have_text("Page not found")
    second_page.goto(f"{site}/login/")
    second_page.fill("#id_username", "eve")
    second_page.fill("#id_password", PASSWORD)
    second_page.click("main button")
    expect(second_page.locator("[role=alert]")).to_contain_text("do not go together")

    page.get_by_role("button", name="Load the demo").click()
    page.wait_for_url(f"{site}/demo/")
    expect(page.locator("#work li").first).to_be_visible()
    page.wait_for_url(f"{site}/")  # by itself, at the end
    expect(page.locator(".cards tbody th a")).to_have_text(
        ["Built demo", "Citations of the built demo", "Certificate demo", "Coastal demo"]
    )
    page.goto(f"{site}/datasets/coastal-demo/agreement/")
    expect(page.locator("h1")).to_contain_text("Agreement")


def test_doors_lead_to_existing_pages(printed_address, open_page):
    page = open_page(printed_address)
    fill(page, "ada")
    page.click("main button")
    expect(page.locator(".doors")).to_be_visible()
    home = page.url
    for name, heading in (
        ("Import a table", "Import a study"),
        ("Open My work", "My work"),
        ("People", "People"),
        ("Formats other than tables", "File formats"),
        ("Projects and their members", "For admins"),
    ):
        page.goto(home)
        page.locator("main").get_by_role("link", name=name).click()
        expect(page.locator("h1")).to_have_text(heading)
    page.goto(f"{home}demo/")
    expect(page.locator("h1")).to_have_text("Demo")
    assert faults(page) == []
