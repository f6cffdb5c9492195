"""Model servers in the browser: an owner adds one and tests its connection.

The page tells why nothing can run yet.
"""

from playwright.sync_api import expect

from tests.browser.page_audit import faults


def test_server_is_added_and_tested_in_the_browser(visit, site):
    visitor = visit("ada")
    page = visitor.open("/projects/main/servers/new/")
    page.locator("#id_preset").select_option("azure")
    page.get_by_role("button", name="Apply preset of the kind").click()
    expect(page.locator("#id_url")).to_have_value(
        "https://RESOURCE.openai.azure.com/openai/deployments/DEPLOYMENT"
    )
    page.locator("#id_name").fill("azure")
    page.locator("#id_key").fill("sk-browser-0123456789")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("main")).to_contain_text("Replace RESOURCE with your value.")
    assert faults(page) == []
    # A name that no DNS has: nothing is called, and the page says so.
    page.locator("#id_url").fill("https://models.invalid/openai/deployments/judge")
    page.locator("#id_key").fill("sk-browser-0123456789")
    page.get_by_role("button", name="Save").click()
    page.get_by_label("Model (empty").fill("judge")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#result-title")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("the connection failed")
    assert "sk-browser" not in page.content()
    assert faults(page) == []
    page.goto(f"{site.url}/projects/main/servers/")
    expect(page.get_by_role("row", name="azure")).to_contain_text("stored")
    assert faults(page) == []
    visitor.errors[:] = [error for error in visitor.errors if "422" not in error]
