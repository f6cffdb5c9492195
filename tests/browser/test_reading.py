"""Unusual texts and windows on the task page.

Code, tables, verse, right-to-left words, very long words; small windows, many questions.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import axe_problems
from tests.browser.user_input import drag_over, settled

BODY = (
    "The log, line by line:\n\n"
    "    if steering.lost:\n\tcall(tug)\n\n        # then wait\n\n"
    "Port\tTime\nTarn\t14:03\nAveril\t15:10\n\n"
    "The ferry, the ferry,\r\nit drifts upon the sea.\r\n\r\n"
    "\u05e9\u05dc\u05d5\u05dd \u05d4\u05de\u05e2\u05d1\u05d5\u05e8\u05ea.\n\n"
    f"See https://example.org/{'x' * 200} for more."
)
SEED = f"""
from annotation.builder.drafts import open_campaign
from annotation.models import Campaign, Dataset, Rubric, SubQuestion, Text, Topic, User
from annotation.participation.assigning import rater_of
from tests.toolbox.browser_texts import PASSWORD

reader = User.objects.create_user("odd-reader", password=PASSWORD, role="worker")
dataset = Dataset.objects.create(slug="odd", title="Odd texts")
topic = Topic.objects.create(dataset=dataset, name="odd", request="Write about:", position=0)
for number in range(40):
    body = "\u05de\u05d4 \u05d6\u05d4?" if number == 2 else f"What is said of number {{number}}?"
    SubQuestion.objects.create(topic=topic, position=number, body=body)
text = Text.objects.create(
    dataset=dataset, topic=topic, kind="report", system="odd", name="odd", body={BODY!r}
)
campaign = Campaign(
    dataset=dataset, rubric=Rubric.objects.get(slug="answerable"), slug="odd", title="Odd texts"
)
open_campaign(campaign, [text], [rater_of(reader)])
"""

# Where some words stand: the left, right, top and bottom of their first rectangle.
_BOX = """(words) => {
  const walker = document.createTreeWalker(document.getElementById('text'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const start = walker.currentNode.data.indexOf(words);
    if (start < 0) continue;
    const range = new Range();
    range.setStart(walker.currentNode, start); range.setEnd(walker.currentNode, start + words.length);
    const { left, right, top, bottom } = range.getClientRects()[0];
    return { left, right, top, bottom };
  }
}"""
_OVERFLOWS = """() => [document.documentElement, ...document.querySelectorAll('.pane')]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.className || 'page')"""
# What of an element can be seen: within the window, and within the pane that scrolls it.
_VISIBLE_HEIGHT = """(name) => {
  const box = document.querySelector(name).getBoundingClientRect();
  const pane = document.querySelector(name).closest('.pane').getBoundingClientRect();
  return Math.min(box.bottom, pane.bottom, innerHeight) - Math.max(box.top, pane.top, 0);
}"""
CHOICES = ".question[data-active] .choices"


@pytest.fixture(scope="module")
def path(site):
    site.run(SEED)
    [item] = site.assignments("odd-reader", "odd")
    return f"/work/{item}/"


@pytest.fixture
def open_at(visit, path):
    """Return a function that opens the item in a window: open_at(width, height)."""
    return lambda width, height: visit("odd-reader", width=width, height=height).open(path)


def test_lines_tabs_and_directions_of_a_text_are_its_own(open_at, site, path):
    page = open_at(1280, 800)
    box = {
        phrase: page.evaluate(_BOX, phrase)
        for phrase in ("if steering", "call(tug)", "# then", "14:03", "15:10", "it drifts", "שלום")
    }
    text = page.locator("#text").bounding_box()
    assert box["call(tug)"]["top"] > box["if steering"]["bottom"] - 8
    assert text["x"] + 8 < box["if steering"]["left"] < box["call(tug)"]["left"]
    assert box["# then"]["left"] > box["if steering"]["left"]
    assert box["14:03"]["left"] == box["15:10"]["left"]
    assert box["it drifts"]["left"] == text["x"]
    assert box["שלום"]["right"] == pytest.approx(text["x"] + text["width"], abs=2)
    question = page.locator("#q-3 legend span")
    assert question.evaluate("element => getComputedStyle(element).direction") == "rtl"
    assert page.locator("#text").evaluate("text => text.textContent") == BODY


def test_span_over_a_line_end_keeps_its_characters(open_at, site, path):
    page = open_at(1280, 800)
    quote = "the ferry,\r\nit drifts"
    drag_over(page, quote)
    settled(page)
    start = BODY.index(quote)
    ratings = site.ratings("odd-reader", "answerable")
    assert ratings[0] == (1, [(start, start + len(quote), quote)])
    page.locator("#undo").click()
    settled(page)


@pytest.mark.parametrize(
    ("width", "height"), [(1280, 800), (820, 1000), (640, 360), (390, 844), (320, 256)]
)
def test_panes_do_not_overflow(open_at, width, height):
    page = open_at(width, height)
    assert page.evaluate(_OVERFLOWS) == []
    assert axe_problems(page) == []


@pytest.mark.parametrize(("width", "height"), [(1280, 400), (960, 450), (640, 360), (844, 390)])
def test_short_window_shows_text_beside_question(open_at, width, height):
    page = open_at(width, height)
    assert page.evaluate(_VISIBLE_HEIGHT, "#text") > 100
    page.locator(".text-pane").evaluate("pane => pane.scrollTo(0, 9999)")
    assert page.evaluate(_VISIBLE_HEIGHT, CHOICES) > 30
    page.locator("#submit button").click(trial=True)  # in sight as well


def test_tiny_window_switches_between_text_and_question(open_at):
    page = open_at(320, 256)
    page.locator(".apart a").last.click()
    assert page.evaluate(_VISIBLE_HEIGHT, CHOICES) > 30
    page.locator(".apart a").first.click()
    assert page.evaluate(_VISIBLE_HEIGHT, "#text") > 30


@pytest.mark.parametrize(("width", "height"), [(390, 844), (640, 360)])
def test_forty_open_questions_leave_the_text_and_the_active_one_in_sight(open_at, width, height):
    page = open_at(width, height)
    page.locator("#submit button").click()
    expect(page.locator("#missing a")).to_have_count(40)
    assert page.locator("#missing").bounding_box()["height"] <= 150
    assert page.evaluate(_VISIBLE_HEIGHT, "#text") > 0.2 * height
    assert page.evaluate(_VISIBLE_HEIGHT, CHOICES) > 30
    page.locator("#missing a").last.click()
    expect(page.locator("#q-40")).to_have_attribute("data-active", "")
