"""Frame of the pages of a dataset in Chromium: list of pages, filter line, new ratings."""

from tests.browser.page_audit import axe_problems
from tests.browser.user_input import until

AGREEMENT = "/datasets/coast/agreement/"
NEW_RATING = """
from annotation.models import Rating
old = Rating.objects.filter(text__dataset__slug="coast").first()
fields = {name: getattr(old, name) for name in ("rubric", "text", "question", "grade")}
from annotation.models import Dataset
rater = Dataset.objects.get(slug="coast").raters.create(name="late", kind="baseline")
Rating.objects.create(rater=rater, **fields)
"""


# Of all that is not the notice itself.
TOPS = """[...document.querySelectorAll("main *")].filter(e => !e.closest("[data-new-ratings]"))
  .map(e => e.getBoundingClientRect().top)"""
UNDO = """
from annotation.models import Rater
rater = Rater.objects.get(name="late")
rater.ratings.all().delete()
rater.delete()
"""


def test_list_of_pages_opens_on_a_phone(visit):
    page = visit("rosa", width=390, height=844).open(AGREEMENT)
    rail = page.locator("#dataset-pages")
    assert not rail.is_visible()
    page.locator(".where").click()
    rail.wait_for(state="visible")
    assert not axe_problems(page)
    page.keyboard.press("Escape")
    rail.wait_for(state="hidden")
    page.locator(".where").press("Enter")
    rail.get_by_role("link", name="Systems").click()
    page.wait_for_url("**/systems/**")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Menu").click()
    page.locator("#site-menu").get_by_role("link", name="Projects").click()
    page.wait_for_url("**/projects/")


def test_choice_is_changed_behind_the_line(visit):
    page = visit("rosa").open(AGREEMENT)
    assert not page.locator("select[name=judge]").is_visible()
    page.locator(".filter > summary").press("Enter")
    page.locator("select[name=judge]").select_option("")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**judge=&**")
    assert "no judge" in page.locator(".filter > summary").inner_text()
    page.locator(".filter > summary").click()
    page.get_by_role("link", name="Reset").click()
    page.wait_for_url(f"**{AGREEMENT}")
    assert "no judge" not in page.locator(".filter > summary").inner_text()


def test_new_ratings_are_told_and_nothing_moves(visit, site):
    page = visit("rosa").open(AGREEMENT)
    before = page.evaluate(TOPS)
    site.run(NEW_RATING)
    until(page, "document.querySelector('[data-new-ratings]') !== null")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    notice = page.locator("[data-new-ratings]")
    notice.wait_for(state="visible")
    assert notice.inner_text().startswith("1 new rating.")
    assert page.evaluate(TOPS) == before
    with page.expect_navigation():
        notice.get_by_role("link", name="Update").click()
    assert not notice.is_visible()
    site.run(UNDO)


def test_without_scripts_the_results_are_read_and_chosen(visit):
    visitor = visit("rosa", width=390, height=844, java_script_enabled=False)
    page = visitor.open(AGREEMENT)
    page.locator(".where").click()
    page.locator("#dataset-pages").get_by_role("link", name="Systems").click()
    page.wait_for_url("**/systems/**")
    page.locator(".filter > summary").click()
    page.locator("select[name=eta]").select_option("4")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**eta=4**")
    assert "answerable from grade 4" in page.locator(".filter > summary").inner_text()
    page.locator("#systems thead").get_by_role("link", name="System").click()
    page.wait_for_url("**sort=**")
    assert "eta=4" in page.url
    menu = page.locator("#systems .menu")
    menu.locator("summary").click()
    assert not menu.locator("[data-copy]").first.is_visible()  # it needs a script
    with page.expect_download() as download:
        menu.get_by_role("link", name="this table, as LaTeX").click()
    assert download.value.suggested_filename.endswith(".tex")
