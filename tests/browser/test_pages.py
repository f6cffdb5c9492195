"""Accessibility and layout of all pages: axe, overflow, two widths, day and night."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.page_audit import WIDTHS, axe_problems, faults, layout_faults
from tests.browser.user_input import until
from tests.toolbox.served_site import OTHER_FONTS

PAGES = {
    "rosa": [
        "/",
        "/?dataset=coast",
        "/datasets/coast/",
        "/datasets/coast/texts/",
        "/datasets/coast/agreement/",
        "/datasets/coast/agreement/?rubric=graded",
        "/datasets/coast/disagreements/?kind=differ",
        "/datasets/coast/reports-against-references/",
        "/datasets/coast/search/?q=storm+harbour",
        "/search/?q=storm+%22the+harbour%22",
        "/search/?q=zeppelin&dataset=coast&kind=report&in=quotes",
        "/datasets/coast/question-types/",
        "/datasets/coast/exports/",
        "/datasets/coast/history/",
        "/datasets/coast/paper/?intervals=1",
        "/campaigns/",
        "/campaigns/?dataset=coast",
        "/campaigns/t1/",
        "/rubrics/",
        "/judges/",
        "/judges/1/",
        "/judges/1/tests/?dataset=coast",
        "/judge-runs/",
        "/judge-runs/1/",
        "/help/",
        "/help/?q=kappa",
        "/help/researchers/",
        "/help/terms/",
        "/nowhere/",
    ],
    "ada": [
        "/",
        "/datasets/coast/",
        "/datasets/coast/texts/",
        "/rubrics/graded/",
        "/campaigns/new/?dataset=coast",
        "/judges/new/",
        "/judge-runs/new/?dataset=coast",
        "/datasets/coast/share/?address=/datasets/coast/agreement/",
        "/import/",
        "/datasets/coast/contents/",
        "/datasets/coast/contents/dataset/",
        "/datasets/coast/add/topic/",
        "/datasets/coast/add/question/?topic=coast-1",
        "/datasets/coast/add/text/",
        "/import/new-dataset/",
        "/people/",
        "/people/1/",
        "/projects/main/servers/",
        "/projects/main/servers/new/?preset=azure",
        "/allowed-hosts/",
        "/site-settings/",
        "/rubrics/new/?from=graded",
        "/datasets/coast/text-history/text/1/?back=/datasets/coast/",
    ],
    "worker23": [
        "/work/",
        "/work/in/t1/",
        "/work/in/t1/messages/write/",
        "/datasets/",
        "/help/workers/",
    ],
}
# Further results pages, whose tests look at them with the usual fonts.
OF_RESULTS = [
    "/datasets/coast/matrix/",
    "/datasets/coast/matrix/8/?run=first_stage.bm25",
    "/datasets/coast/systems/",
    "/datasets/coast/systems/discriminative/",
    "/datasets/coast/systems/relevance/",
    "/datasets/coast/mixed-model/",
    "/datasets/coast/calibration/?rubric=graded&judge=lexical",
    "/datasets/locks/label-next/?size=2",
    "/datasets/tide/sequences/?rubric=graded",
]


@pytest.mark.parametrize("account", PAGES)
def test_pages_are_accessible(visit, site, account):
    visitor = visit(account)
    page = visitor.open("/")
    for path in PAGES[account]:
        page.goto(site.url + path)
        assert faults(page) == [], path
    # Not found and forbidden are pages here, and Chromium logs each.
    visitor.errors[:] = [e for e in visitor.errors if "404" not in e and "403" not in e]


def open_guideline(page: Page) -> None:
    """Open it unless it has stayed open, as on a wide page it does from text to text."""
    guideline = page.locator("#guideline")
    if not guideline.is_visible():
        page.locator("[data-beside=guideline]").click()
    expect(guideline).to_be_visible()


@pytest.mark.parametrize("fonts", [OTHER_FONTS])
def test_layout_of_pages_does_not_depend_on_fonts(visit, site):
    """Only the checks of `faults` that a font can change are repeated."""
    visitors = {account: visit(account) for account in [*PAGES, "worker22"]}
    by_path = {}
    for account, paths in {**PAGES, "rosa": [*PAGES["rosa"], *OF_RESULTS]}.items():
        page = visitors[account].open("/")
        for path in paths:
            page.goto(site.url + path)
            by_path[path] = layout_faults(page)
        page.close()
        visitors[
            account
        ].errors.clear()  # Chromium logs pages that are not found, and those are shown above
    for campaign in ("t1", "t2"):
        (item, *_) = site.assignments("worker22", campaign)
        page = visitors["worker22"].open(f"/work/{item}/")
        by_path[campaign] = layout_faults(page)
        open_guideline(page)
        by_path[f"{campaign}, guideline"] = layout_faults(page)
        page.close()
    assert {path: problems for path, problems in by_path.items() if problems} == {}


@pytest.mark.parametrize("width", WIDTHS)
def test_task_pages_are_accessible_at(visit, site, width):
    visitor = visit("worker22", width=width, height=844)
    for campaign in ("t1", "t2"):
        (item, *_) = site.assignments("worker22", campaign)
        page = visitor.open(f"/work/{item}/")
        assert faults(page, width) == []
        page.locator("#q-1 input[name=grade]").first.check()
        page.locator("#submit button").click()
        expect(page.locator("#missing")).to_be_visible()
        assert faults(page, width) == []
        open_guideline(page)
        assert faults(page, width) == []
        page.close()


def test_pair_is_two_clicks_from_the_number(visit):
    visitor = visit("rosa")
    page = visitor.open("/datasets/coast/agreement/")
    page.locator(".tile a.figure").first.click()
    page.locator(".cases a").first.click()
    expect(page.locator("#text .sentence").nth(3)).to_be_attached()
    until(page, "CSS.highlights.size > 0")
    assert axe_problems(page) == []
