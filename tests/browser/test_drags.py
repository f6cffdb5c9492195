"""Drags that leave the text or come near its edges mark the intended words only."""

import pytest
from playwright.sync_api import expect

from tests.browser.adjudication_pages import address
from tests.browser.page_audit import axe_problems
from tests.browser.user_input import drag_over, ends_of, settled, until
from tests.toolbox.browser_texts import T1_BODY

# The words of a line of the text from a place on: what a hand means that goes on to the right.
_LINE = """(words) => {
  const body = document.getElementById('text');
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const letters = [];
  while (walker.nextNode()) {
    for (let at = 0; at < walker.currentNode.length; at += 1) letters.push([walker.currentNode, at]);
  }
  const text = letters.map(([node, at]) => node.data[at]).join('');
  const topOf = ([node, at]) => {
    const range = new Range();
    range.setStart(node, at); range.setEnd(node, at + 1);
    return range.getBoundingClientRect().top;
  };
  const from = text.indexOf(words), top = topOf(letters[from]);
  let to = from;
  while (to < letters.length && (text[to] === ' ' || Math.abs(topOf(letters[to]) - top) < 8)) to += 1;
  return text.slice(from, to).trim();
}"""
# Scrolls so that the last letter of some words is this many pixels above the lower edge of the pane.
_TO_EDGE = """([words, distance]) => {
  const pane = document.querySelector('.text-pane');
  const walker = document.createTreeWalker(document.getElementById('text'), NodeFilter.SHOW_TEXT);
  let node; do node = walker.nextNode(); while (!node.data.includes(words));
  const range = new Range(), end = node.data.indexOf(words) + words.length;
  range.setStart(node, end - 1); range.setEnd(node, end);
  pane.scrollTop += range.getBoundingClientRect().bottom - pane.getBoundingClientRect().bottom + distance;
  return pane.scrollTop;
}"""
SMALL = {"width": 1280, "height": 420}


def marked(page, number=1):
    return expect(page.locator(f"#q-{number} .spans q"))


def drag(page, start, *points, steps=4):
    page.mouse.move(*start)
    page.mouse.down()
    for point in points:
        page.mouse.move(*point, steps=steps)
    page.mouse.up()


@pytest.fixture
def page(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    return worker.open(f"/work/{item}/")


@pytest.mark.parametrize("steps", [1, 12])
@pytest.mark.parametrize("down", [0, 60])
def test_released_right_of_the_text_the_span_ends_with_its_line(page, steps, down):
    phrase = "Nobody was on"
    x, y, _, _ = ends_of(page, phrase)
    line = page.evaluate(_LINE, phrase)
    # Past the edge of the text first; then the hand may sink.
    drag(page, (x, y), (1240, y), (1240, y + down), steps=steps)
    until(page, "getSelection().isCollapsed")
    marked(page).to_have_text([line])


def test_released_left_of_the_text_the_span_begins_with_its_line(page):
    _, _, x, y = ends_of(page, "a freight train had passed")
    drag(page, (x, y), (2, y))
    until(page, "getSelection().isCollapsed")
    [quote] = page.locator("#q-1 .spans q").all_text_contents()
    line = page.evaluate(_LINE, quote)
    assert line.startswith(quote)
    assert quote.endswith("train had passed")


@pytest.mark.timing
@pytest.mark.parametrize("outside", ["footer.task-foot", "header.task-bar"])
def test_released_above_or_below_the_pane_the_span_ends_at_its_edge(new_worker, site, outside):
    worker = new_worker(**SMALL)
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    x, y, _, _ = ends_of(page, "four metres of clay")
    box = page.locator(outside).bounding_box()
    before = page.evaluate("document.querySelector('.text-pane').scrollTop")
    drag(page, (x, y), (x + 60, box["y"] + box["height"] / 2), steps=6)
    page.wait_for_timeout(300)  # a browser that scrolls by itself would have
    assert page.evaluate("document.querySelector('.text-pane').scrollTop") == before
    selected = page.locator("#q-1 .large-span, #q-1 .spans q").first
    expect(selected).to_be_visible()
    if page.locator("#q-1 [data-large=take]").is_visible():
        page.click("#q-1 [data-large=take]")
    [quote] = page.locator("#q-1 .spans q").all_text_contents()
    assert quote in T1_BODY.replace("\r\n", "\n") or quote in T1_BODY
    # All of it can be seen: nothing lies beyond the edges of the pane.
    x1, y1, x2, y2 = page.evaluate(
        """() => {
          const [range] = CSS.highlights.get('mark-1');
          const rects = [...range.getClientRects()], first = rects[0], last = rects.at(-1);
          const pane = document.querySelector('.text-pane').getBoundingClientRect();
          return [pane.top, first.bottom, last.top, pane.bottom];
        }"""
    )
    assert x1 < y1
    assert x2 < y2


@pytest.mark.timing
@pytest.mark.parametrize(("distance", "clicks"), [(2, 1), (8, 1), (14, 1), (8, 2)])
def test_line_at_the_lower_edge_is_marked_as_it_was_meant(new_worker, site, distance, clicks):
    """A drag that begins with a double click selects whole words, and is the browser's own."""
    worker = new_worker(**SMALL)
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    phrase = "found 27 that needed work at once"
    ends_of(page, phrase)
    before = page.evaluate(_TO_EDGE, [phrase.rsplit(maxsplit=1)[-1], distance])
    from_x, from_y, to_x, to_y = page.evaluate(
        """(words) => {
          const walker = document.createTreeWalker(document.getElementById('text'), NodeFilter.SHOW_TEXT);
          let node; do node = walker.nextNode(); while (!node.data.includes(words));
          const range = new Range(), at = node.data.indexOf(words);
          range.setStart(node, at); range.setEnd(node, at + words.length);
          const rects = [...range.getClientRects()], a = rects[0], b = rects.at(-1);
          return [a.left + 1, a.top + a.height / 2, b.right - 1, b.top + b.height / 2];
        }""",
        phrase,
    )
    page.mouse.move(from_x, from_y)
    if clicks == 2:
        page.mouse.down()
        page.mouse.up()
    page.mouse.down(click_count=clicks)
    page.mouse.move(to_x, to_y, steps=8)
    page.wait_for_timeout(400)  # the hand rests: a browser that scrolls by itself would have
    page.mouse.up(click_count=clicks)
    until(page, "getSelection().isCollapsed")
    marked(page).to_have_text([phrase if clicks == 1 else f"{phrase}."])
    assert page.evaluate("document.querySelector('.text-pane').scrollTop") == before


def test_wheel_still_scrolls_during_a_drag(new_worker, site):
    worker = new_worker(**SMALL)
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    x, y, _, _ = ends_of(page, "four metres of clay")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.wheel(0, 100)
    until(page, "document.querySelector('.text-pane').scrollTop > 20")
    page.mouse.move(x + 40, y, steps=3)
    page.mouse.up()
    expect(page.locator("#q-1 .spans q, #q-1 .large-span:visible").first).to_be_visible()
    settled(page)


def test_double_click_marks_a_word_and_its_drag_ends_with_the_line(page):
    x, y, _, _ = ends_of(page, "landslip")
    page.mouse.dblclick(x + 8, y)
    until(page, "getSelection().isCollapsed")
    marked(page).to_have_text(["landslip"])
    page.keyboard.press("j")
    phrase = "Engineers blamed"
    x, y, _, _ = ends_of(page, phrase)
    line = page.evaluate(_LINE, phrase)
    page.mouse.move(x + 8, y)
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)
    page.mouse.down(click_count=2)
    page.mouse.move(1240, y, steps=5)
    page.mouse.up(click_count=2)
    until(page, "getSelection().isCollapsed")
    marked(page, 2).to_have_text([line])


def test_drag_begun_beside_a_line_marks_the_line_from_its_beginning(page):
    phrase = "four metres of clay"
    _, y, end_x, _ = ends_of(page, phrase)
    left_edge = page.evaluate("document.getElementById('text').getBoundingClientRect().left")
    drag(page, (left_edge - 10, y), (end_x, y))
    until(page, "getSelection().isCollapsed")
    [quote] = page.locator("#q-1 .spans q").all_text_contents()
    assert quote.endswith(phrase)
    assert page.evaluate(_LINE, quote).startswith(quote)


def test_span_over_two_paragraphs_is_asked_about(page, site, worker):
    phrase = "the same night."
    from_x, from_y, _, _ = ends_of(page, phrase)
    _, _, to_x, to_y = ends_of(page, "Engineers blamed")
    ask = page.locator("#q-1 .large-span")
    drag(page, (from_x, from_y), (to_x, to_y), steps=6)
    expect(ask).to_contain_text("You selected 5 words. Mark all of them?")
    expect(ask.locator("[data-large=take]")).to_be_focused()
    assert axe_problems(page) == []
    page.click("#q-1 [data-large=leave]")
    expect(ask).to_be_hidden()
    marked(page).to_have_count(0)
    drag(page, (from_x, from_y), (to_x, to_y), steps=6)
    expect(ask.locator("[data-large=take]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#q-1 .spans q")).to_have_count(1)
    settled(page)
    start, end = T1_BODY.index(phrase), T1_BODY.index(" a culvert")
    assert site.ratings(worker.name, "answerable")[0] == (1, [(start, end, T1_BODY[start:end])])


def test_sixty_words_are_marked_and_one_more_is_asked_about(worker, site):
    item, _ = site.assignments(worker.name, "t1")
    page = worker.open(f"/work/{item}/")
    paragraph = T1_BODY[T1_BODY.index("Buses replaced") : T1_BODY.index("\r\n\r\nThe clay")]
    tokens = paragraph.split(" ")
    sixty, one_more = " ".join(tokens[:60]), " ".join(tokens[:61])
    drag_over(page, sixty)
    marked(page).to_have_text([sixty])
    page.keyboard.press("j")
    drag_over(page, one_more)
    expect(page.locator("#q-2 .large-span")).to_contain_text("61 words")
    marked(page, 2).to_have_count(0)


def test_adjudication_ends_a_drag_at_the_edge_and_asks_about_many_words(visit, site):
    page = visit("ada").open(address(site, 1))
    phrase = "Nobody was on"
    x, y, _, _ = ends_of(page, phrase)
    line = page.evaluate(_LINE, phrase)
    drag(page, (x, y), (1240, y))
    until(page, "getSelection().isCollapsed")
    expect(page.locator("#said")).to_have_text(f"Taken: {line}")
    from_x, from_y, _, _ = ends_of(page, "the same night.")
    _, _, to_x, to_y = ends_of(page, "Engineers blamed")
    before = page.locator("#takes input:checked").count()
    drag(page, (from_x, from_y), (to_x, to_y), steps=6)
    expect(page.locator("#said")).to_contain_text("You selected 5 words")
    assert page.locator("#takes input:checked").count() == before
    expect(page.locator("#takes input").last).to_be_focused()
