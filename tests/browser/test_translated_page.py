"""Pages changed by browser translation or by extensions that insert nodes."""

import json
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.adjudication_pages import address
from tests.browser.page_audit import axe_problems
from tests.browser.user_input import drag_over, grade, save_status, settled
from tests.toolbox.browser_texts import T1_BODY
from tests.toolbox.paths import ROOT

NOTICE = "Your browser translates this page"
CASE = ROOT.parent / "shared" / "cases" / "page-translated-by-the-browser" / "translate.js"

# What a browser's translation does: other words in font elements. It leaves out what translate="no" protects.
TRANSLATE = """(ignores) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const kept = ignores ? 'script, style, textarea' : '[translate=no], script, style, textarea';
  for (const node of nodes.filter((one) => one.data.trim() && !one.parentElement.closest(kept))) {
    const font = document.createElement('font');
    font.textContent = 'Wörter: ' + node.data;
    node.replaceWith(font);
  }
}"""

# What extensions do: wrap words, split text nodes, put signs and hidden notes between them.
EXTEND = """() => {
  const body = document.getElementById('text');
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT), nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const [at, node] of nodes.filter((one) => one.data.length > 20).entries()) {
    const rest = node.splitText(at % 2 ? 7 : 12);
    const sign = Object.assign(document.createElement('x-sign'), { textContent: at % 3 ? '✎' : 'the' });
    rest.before(sign);
    const wrap = document.createElement('x-wrap');
    rest.replaceWith(wrap);
    wrap.append(rest);
  }
  body.prepend(Object.assign(document.createElement('x-sign'), { textContent: 'Read aloud' }));
  document.querySelector('legend [data-served]').append(document.createElement('x-sign'));
}"""


@pytest.fixture
def at_work(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    return worker, worker.open(f"/work/{item}/"), item


def altered(site, item):
    return site.rows(
        "select grade, altered from annotation_answer where assignment_id = ? order by id", item
    )


def test_translated_page_keeps_its_texts_and_questions(at_work, site):
    _, page, item = at_work
    question = page.locator("#q-1 legend [data-served]").text_content()
    page.evaluate(TRANSLATE, False)
    expect(page.locator("#submit")).to_contain_text("Wörter:")
    assert page.locator("#text").text_content() == T1_BODY
    assert page.locator("#q-1 legend [data-served]").text_content() == question
    grade(page, 2, 0)
    drag_over(page, "four metres of clay")
    expect(page.locator("#q-2 .offer")).to_be_visible()
    page.click("#q-2 [data-offer=take]")
    settled_in_other_words(page, site, item, 2)
    expect(page.locator("#altered")).to_be_hidden()
    assert altered(site, item) == [(0, 0), (1, 0)]


def settled_in_other_words(page, site, item, number):
    """The line's own words may be translated, too: the answers are counted instead."""
    while len(site.answers(item)) < number:
        page.wait_for_timeout(50)


def test_full_translation_is_reported_and_takes_no_spans(at_work, site):
    _, page, item = at_work
    grade(page, 1, 0)
    settled(page)
    page.evaluate(TRANSLATE, True)
    notice = page.locator("#altered")
    expect(notice).to_contain_text(NOTICE)
    assert axe_problems(page) == []
    drag_over(page, "Nobody was on")
    save_status(page).to_contain_text(NOTICE)
    expect(page.locator("#q-1 .offer")).to_be_hidden()
    page.keyboard.press("t")
    page.keyboard.press("Space")
    save_status(page).to_contain_text(NOTICE)
    grade(page, 2, 0)
    settled(page)
    assert altered(site, item) == [(0, 0), (0, 1)]
    page.reload()  # translation is off now
    expect(notice).to_be_hidden()
    drag_over(page, "four metres of clay")
    expect(page.locator("#q-3 .spans q")).to_have_text(["four metres of clay"])
    settled(page)
    assert altered(site, item)[-1] == (1, 0)


def test_staff_see_whose_answers_came_from_an_altered_page(at_work, visit, site):
    _, page, item = at_work
    page.evaluate(TRANSLATE, True)
    expect(page.locator("#altered")).to_be_visible()
    grade(page, 2, 0)
    settled(page)
    [(participant,)] = site.rows(
        "select participant_id from annotation_assignment where id = ?", item
    )
    staff = visit("ada").open(f"/campaigns/t1/participants/{participant}/")
    expect(staff.locator("main")).to_contain_text(
        "1 answer came from a page whose text was changed by the browser, for example by translation."
    )


@pytest.mark.parametrize("moment", ["before the scripts", "after them"])
def test_nodes_of_an_extension_are_left_out_of_spans(worker, site, moment):
    item, _ = site.assignments(worker.name, "t1")
    if moment == "before the scripts":
        page = worker.context.new_page()
        routes = []
        page.route("**/js/work*.js", lambda route: routes.append(route))
        page.goto(f"{site.url}/work/{item}/", wait_until="commit")
        page.locator("#submit").wait_for()
        page.evaluate(EXTEND)
        while not routes:
            page.wait_for_timeout(50)
        routes[0].continue_()
    else:
        page = worker.open(f"/work/{item}/")
        drag_over(page, "four metres of clay")
        settled(page)
        page.evaluate(EXTEND)
    save_status(page).to_contain_text(re.compile("^(All saved|Saved)"))
    expect(page.locator("#altered")).to_be_hidden()
    page.keyboard.press("t")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
    settled(page)
    [(stored,)] = site.rows(
        "select spans from annotation_answer where assignment_id = ? order by id desc limit 1", item
    )
    spans = json.loads(stored)
    assert len(spans) >= 3
    assert all(T1_BODY[span["start"] : span["end"]] == span["quote"] for span in spans)
    assert not any("✎" in span["quote"] for span in spans)
    assert set(altered(site, item)) == {(1, 0)}


def test_changed_question_is_reported(at_work):
    _, page, _ = at_work
    page.evaluate(
        "document.querySelector('#q-3 legend [data-served]').textContent = 'Was geschah?'"
    )
    expect(page.locator("#altered")).to_contain_text(NOTICE)


def test_adjudication_of_a_translated_page_takes_no_words(visit, site):
    page = visit("ada").open(address(site, 1))
    before = page.locator("#takes input").count()
    page.evaluate(TRANSLATE, False)
    expect(page.locator("#altered")).to_be_hidden()
    page.evaluate(TRANSLATE, True)
    expect(page.locator("#altered")).to_contain_text(NOTICE)
    page.locator("#text .sentence").first.focus()
    page.keyboard.press("Space")
    assert page.locator("#takes input").count() == before


def test_case_of_a_translated_page(at_work, site):
    _, page, item = at_work
    path = Path(os.environ.get("TRANSLATED_CASE", CASE))
    if not path.is_file():
        pytest.skip(f"THE CASE OF A TRANSLATED PAGE IS NOT CHECKED: no file at {path}")
    page.evaluate(f"() => {{ {path.read_text()} }}")
    expect(page.locator("#submit")).to_contain_text("Übersetzt:")
    assert page.locator("#text").text_content() == T1_BODY
    drag_over(page, "four metres of clay")
    settled_in_other_words(page, site, item, 1)
    assert altered(site, item) == [(1, 0)]
