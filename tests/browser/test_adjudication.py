"""Adjudication and the pages of quality, in a real browser."""

import json
import re

from playwright.sync_api import expect

from tests.browser.adjudication_pages import LIST, address
from tests.browser.disagreement_study import CLAY, NOBODY
from tests.browser.page_audit import faults
from tests.browser.user_input import LATE_TIMERS, drag_over, until
from tests.toolbox.browser_texts import T1_BODY

QUALITY = "/campaigns/differ-answerable/quality/"


def decided(site, number: int) -> tuple[int, list[str]]:
    """Return the newest decision about a question: the grade, and its quotes."""
    item, question = address(site, number).split("/")[-3:-1]
    (grade, spans), *_ = site.rows(
        "select grade, spans from annotation_decision where item_id = ? and question_id = ?"
        " order by id desc",
        item,
        question,
    )
    stored = json.loads(spans)
    assert [span["quote"] for span in stored] == [T1_BODY[s["start"] : s["end"]] for s in stored]
    return grade, [span["quote"] for span in stored]


def test_decision_from_the_list_stores_own_spans(visit, site):
    rosa = visit("rosa")
    page = rosa.open(LIST)
    page.get_by_role("link", name="What failed on the Halden?").click()
    until(page, "CSS.highlights.size >= 3")
    page.evaluate(LATE_TIMERS)
    assert "dora" not in page.locator("main").inner_text()
    page.locator("#takes label", has_text=CLAY).click()
    drag_over(page, "a freight train had passed eleven minutes earlier")
    expect(page.locator("#takes label", has_text="yours")).to_have_count(1)
    page.locator("#decision .level").first.click()
    page.get_by_role("button", name="Save and next").click()
    page.wait_for_url(lambda url: url != site.url + address(site, 1))
    expect(page.locator(".notices")).to_contain_text("Decided: 1.")
    assert decided(site, 1) == (1, [CLAY, "a freight train had passed eleven minutes earlier"])


def test_sentence_by_keyboard_and_a_rater_switched_off(visit, site):
    rosa = visit("rosa")
    page = rosa.open(address(site, 2))
    page.locator("#raters input").first.uncheck()
    page.locator("#text .sentence").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    box = page.locator("#takes input:checked")
    expect(box).to_have_count(1)
    expect(page.locator("#said")).to_contain_text(NOBODY)
    page.locator("#decision .level").first.click()
    page.get_by_role("button", name="Save and next").click()
    page.wait_for_url(lambda url: url != site.url + address(site, 2))
    grade, (quote,) = decided(site, 2)
    assert grade == 1
    assert quote.startswith(NOBODY)


def test_decision_without_scripts_is_stored(visit, site):
    ada = visit("ada", java_script_enabled=False)
    page = ada.open(address(site, 3))
    expect(page.locator("#text mark").first).to_be_attached()
    page.locator("#decision .level input").first.check()
    page.get_by_role("button", name="Save and next").click()
    expect(page.locator("[role=alert]")).to_contain_text("needs evidence")
    page.locator("#decision textarea[name=quotes]").fill(NOBODY)
    page.get_by_role("button", name="Save and next").click()
    expect(page.locator(".notices")).to_contain_text("Decided: 1.")
    assert decided(site, 3) == (1, [NOBODY])
    ada.errors.clear()  # the refused form is a 422, which Chromium logs


def test_pages_are_accessible(visit, site):
    page = visit("rosa").open(LIST)
    item = address(site, 1).split("/")[-3]
    for path in (
        LIST,
        f"{LIST}?kind=spans",
        address(site, 1),
        f"{address(site, 3)}?names=on",
        QUALITY,
        f"{QUALITY}?sort=-kappa",
        f"{QUALITY}raters/finn/",
        f"{QUALITY}items/{item}/",
        "/campaigns/field/quality/",
    ):
        page.goto(site.url + path)
        assert faults(page) == [], path


def test_quality_leads_from_a_rater_to_the_words(visit):
    rosa = visit("rosa")
    page = rosa.open(QUALITY)
    page.get_by_role("link", name="finn").click()
    page.get_by_role("link", name=re.compile(r"^differ-\s?1 \(annotated\.\s?oracle\)")).click()
    page.get_by_role("link", name="Who was prosecuted?", exact=True).click()
    until(page, "CSS.highlights.size > 0")
    page.get_by_role("link", name="Adjudicate this question").click()
    expect(page.locator("#decision")).to_be_visible()


def test_raters_answer_is_taken_by_one_click_or_by_its_letter(visit, site):
    """At the width of a phone, where the page is longer than the window."""
    page = visit("rosa", width=390, height=700).open(address(site, 1))
    until(page, "CSS.highlights.size >= 3")
    button = page.locator("[data-take]").first
    expect(button).to_be_in_viewport()
    expect(page.get_by_role("button", name="Save and next")).to_be_in_viewport()
    page.mouse.wheel(0, 5000)
    expect(button).to_be_in_viewport()
    grade, span_keys = int(button.get_attribute("data-grade")), button.get_attribute("data-words")
    page.locator("body").press("a")
    expect(page.locator("#decision input[name=grade]:checked")).to_have_value(str(grade))
    expect(page.locator("#takes input:checked")).to_have_count(len(span_keys.split()))
    page.keyboard.press("Control+Enter")
    expect(page.locator(".notices")).to_contain_text(f"Decided: {grade}.")
    by_key = decided(site, 1)
    page.goto(site.url + address(site, 1))
    page.locator("[data-take]").last.click()
    expect(page.locator(".notices")).to_contain_text("answered.")
    page.goto(site.url + address(site, 1))
    page.locator("[data-take]").first.click()
    expect(page.locator(".notices")).to_contain_text(f"Decided: {grade}, as A answered.")
    assert decided(site, 1) == by_key
