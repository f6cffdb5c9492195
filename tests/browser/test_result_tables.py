"""Tables of result pages in a real browser: menu, order, sticky head, copying."""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import BUT_SIZES, WIDTHS, axe_problems
from tests.browser.user_input import until

AGREEMENT = "/datasets/coast/agreement/"


def test_export_menu_works_by_keyboard_and_closes(visit):
    page = visit("rosa").open(AGREEMENT)
    menu = page.locator("#by-topic .menu")
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(menu.get_by_role("link", name="By topic, as CSV")).to_be_visible()
    assert axe_problems(page, BUT_SIZES) == []
    page.keyboard.press("Tab")
    expect(menu.get_by_role("link", name="By topic, as CSV")).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu.locator("ul")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    menu.locator("summary").click()
    page.locator("h1").click()
    expect(menu.locator("ul")).to_be_hidden()


def test_column_sorts_by_keyboard_and_reverses(visit):
    page = visit("rosa").open(f"{AGREEMENT}?rubric=graded")
    page.locator("#by-topic thead").get_by_role("link", name="Topic").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**rubric=graded&sort=by-topic:name#by-topic")
    names = page.locator("#by-topic tbody th")
    ascending = names.all_inner_texts()
    page.locator("#by-topic [aria-sort=ascending] a").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=by-topic:-name#by-topic")
    expect(page.locator("#by-topic [aria-sort]")).to_have_attribute("aria-sort", "descending")
    assert names.all_inner_texts() == ascending[::-1]


def test_latex_is_copied(visit):
    visitor = visit("rosa", permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open(AGREEMENT)
    page.locator("#by-topic .menu summary").click()
    page.locator("#by-topic [data-copy]").click()
    expect(page.locator("#by-topic [data-copy]")).to_have_text("Copied")
    expect(page.locator("#by-topic [role=status]")).to_have_text("Copied")
    assert r"\begin{tabular}" in page.evaluate("navigator.clipboard.readText()")


def test_failed_copy_is_reported(visit):
    visitor = visit("rosa", permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open(AGREEMENT)
    page.route("**/*.tex?*", lambda route: route.fulfill(status=404))
    page.locator("#by-topic .menu summary").click()
    page.locator("#by-topic [data-copy]").click()
    expect(page.locator("#by-topic [data-copy]")).to_have_text(
        "Not copied: there is no LaTeX file (404)"
    )
    visitor.errors.clear()  # Chromium logs the response


def test_copying_needs_scripts_and_files_do_not(visit):
    page = visit("rosa", java_script_enabled=False).open(AGREEMENT)
    menu = page.locator("#by-topic .menu")
    menu.locator("summary").click()
    expect(menu.get_by_role("link", name="By topic, as LaTeX")).to_be_visible()
    expect(menu.locator("[data-copy]")).to_be_hidden()


@pytest.mark.parametrize("width", WIDTHS)
def test_head_stays_in_view(visit, width):
    """At the top of a wide window, and of the table's own area in a narrow one."""
    page = visit("rosa", width=width, height=500).open(f"{AGREEMENT}?rubric=graded")
    page.locator("#by-topic tbody tr").last.scroll_into_view_if_needed()
    head, scroller = page.locator("#by-topic thead"), page.locator("#by-topic .scroller")
    if width >= 1200:
        page.evaluate(
            "scrollTo(0, scrollY + document.querySelector('#by-topic tbody').getBoundingClientRect().top + 10)"
        )
        until(page, "document.querySelector('#by-topic thead').getBoundingClientRect().top === 0")
    else:
        scroller.evaluate("area => area.scrollTo(60, 20)")
        x = page.locator("#by-topic tbody th").first.bounding_box()["x"]
        assert x == pytest.approx(scroller.bounding_box()["x"], abs=1)
        assert head.bounding_box()["y"] == pytest.approx(scroller.bounding_box()["y"], abs=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


PHONE = {"width": 390, "height": 844}


def test_phone_shows_few_columns_until_all_are_asked_for(visit):
    visitor = visit("rosa", **PHONE, java_script_enabled=False)
    page = visitor.open(AGREEMENT)
    table = page.locator("#by-topic")
    heads = table.locator("thead th:not(.bar)")
    n_heads = heads.count()
    assert 2 <= heads.locator("visible=true").count() < n_heads
    expect(table.get_by_role("columnheader", name="Topic")).to_be_visible()
    table.get_by_label("All columns").check()
    expect(heads.locator("visible=true")).to_have_count(n_heads)
    wide = visit("rosa").open(AGREEMENT).locator("#by-topic")
    expect(wide.locator("thead th:not(.bar)").locator("visible=true")).to_have_count(n_heads)
    expect(wide.get_by_label("All columns")).to_be_hidden()


def test_filter_is_a_sheet_on_a_phone_that_closes(visit):
    page = visit("rosa", **PHONE).open(AGREEMENT)
    form = page.locator(".filter form")
    for close in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.mouse.click(60, 60),  # a link of the page below
        lambda: page.locator(".filter").get_by_text("Close").click(),
    ):
        page.get_by_text("Change", exact=True).click()
        expect(form).to_be_in_viewport()
        expect(page.locator(".filter")).to_have_css("position", "fixed")
        assert axe_problems(page, BUT_SIZES) == []
        close()
        expect(form).to_be_hidden()
        assert page.url.endswith(AGREEMENT)
    page.get_by_text("Change", exact=True).click()
    form.get_by_label("Rubric").select_option("graded")
    form.get_by_role("button", name="Apply").click()
    page.wait_for_url("**rubric=graded**")
    expect(form).to_be_hidden()


def test_filter_in_the_page_of_a_wide_window_stays_open(visit):
    page = visit("rosa").open(AGREEMENT)
    page.get_by_text("Change", exact=True).click()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    expect(page.locator(".filter form")).to_be_visible()
