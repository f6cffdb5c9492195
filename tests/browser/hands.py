"""What hands do on a page: dragging over words with the mouse, and walking to them by keyboard."""

import re
import unicodedata
from contextlib import contextmanager

from playwright.sync_api import LocatorAssertions, Page, expect

from tests.clock import wait_for

# The middle of the first and of the last letter of some words inside #text, as the window sees them.
_ENDS = """(words) => {
  const walker = document.createTreeWalker(document.getElementById('text'), NodeFilter.SHOW_TEXT);
  const nodes = []; let text = '';
  while (walker.nextNode()) { nodes.push([walker.currentNode, text.length]); text += walker.currentNode.data; }
  const index = text.indexOf(words);
  const letter = (offset) => {
    const [node, begin] = nodes.findLast(([, start]) => start <= offset);
    const range = new Range();
    range.setStart(node, offset - begin); range.setEnd(node, offset - begin + 1);
    node.parentElement.scrollIntoView({ block: 'nearest' });
    return range;
  };
  const first = letter(index), last = letter(index + words.length - 1);
  const a = first.getBoundingClientRect(), b = last.getBoundingClientRect();
  return [a.left + 1, a.top + a.height / 2, b.right - 1, b.top + b.height / 2];
}"""


# What a loaded machine does now and then: timers that are due at once come 40 ms later.
LATE_TIMERS = """() => {
  const real = window.setTimeout;
  window.setTimeout = (act, delay = 0) => real(act, delay + 40);
}"""

_SELECT = """(words) => {
  const body = document.getElementById('text');
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const nodes = []; let text = '';
  while (walker.nextNode()) { nodes.push([walker.currentNode, text.length]); text += walker.currentNode.data; }
  const from = text.indexOf(words), to = from + words.length;
  const [a, atA] = nodes.findLast(([, start]) => start <= from);
  const [b, atB] = nodes.findLast(([, start]) => start < to);
  const touch = new Touch({ identifier: 1, target: a.parentElement, clientX: 9, clientY: 9 });
  const fire = (kind) => a.parentElement.dispatchEvent(
    new TouchEvent(kind, { bubbles: true, changedTouches: [touch] }));
  fire('touchstart');
  getSelection().setBaseAndExtent(a, from - atA, b, to - atB);
  fire('touchend');
}"""


def ends_of(page: Page, words: str) -> tuple[float, float, float, float]:
    """Where some words begin and end in the window, brought into view: x, y, x, y."""
    page.evaluate(_ENDS, words)  # once to scroll
    from_x, from_y, to_x, to_y = page.evaluate(_ENDS, words)
    return from_x, from_y, to_x, to_y


def drag_over(page: Page, words: str) -> None:
    """Press at the first letter, move to the last, let go."""
    from_x, from_y, to_x, to_y = ends_of(page, words)
    page.mouse.move(from_x, from_y)
    page.mouse.down()
    page.mouse.move(to_x, to_y, steps=8)
    assert not page.evaluate("getSelection().isCollapsed"), f"the mouse took nothing of {words!r}"
    page.mouse.up()
    until(page, "getSelection().isCollapsed")


def sentence_of(page: Page, words: str) -> tuple[int, str]:
    """Which sentence (counted from 0) holds the words, and what it says."""
    sentences = page.locator("#text .sentence").all_text_contents()
    return next((index, text) for index, text in enumerate(sentences) if words in text)


def grade(page: Page, number: int, value: int) -> None:
    page.locator(f"#q-{number} input[value='{value}']").click()


def answer_all(page: Page) -> None:
    """0 to every question: the quickest way to an item that can be handed in.

    A click that led here does not wait for the page to come.
    """
    page.locator(".question").first.wait_for(state="attached")
    for number in range(1, page.locator(".question").count() + 1):
        grade(page, number, 0)


def said(page: Page) -> LocatorAssertions:
    """What the line has to say that tells where answers are."""
    return expect(page.locator("#saved"))


def settled(page: Page) -> None:
    """Wait until every answer is acknowledged."""
    expect(page.locator("#saved")).to_have_text(re.compile(r"^\s*(Saved|All saved)"))


@contextmanager
def offline(page: Page):
    """The network cut for one page, as its browser sees it; back at the end."""
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    away = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    wire.send("Network.emulateNetworkConditions", {"offline": True, **away})
    try:
        yield
    finally:
        wire.send("Network.emulateNetworkConditions", {"offline": False, **away})
        wire.detach()


@contextmanager
def unaware(page: Page):
    """A page that hears nothing from other devices: by itself it asks every 20 seconds what they said."""
    page.route("**/state/", lambda route: route.abort())
    try:
        yield
    finally:
        page.unroute("**/state/")


def select_by_touch(page: Page, words: str) -> None:
    """What the handles of a phone's selection do: touch events and a selection, no mouse."""
    page.evaluate(_SELECT, words)


def until(page: Page, expression: str) -> None:
    """Wait until a JavaScript expression holds. (Playwright's own wait needs eval, which our CSP forbids.)"""
    wait_for(lambda: page.evaluate(expression))


def keys_for(page: Page, quote: str) -> list[str]:
    """The fewest keys that mark a quote: to its sentence, Space, then both ends by clauses and words."""
    index, sentence = sentence_of(page, quote.split(". ", maxsplit=1)[0])
    body = page.locator("#text").text_content()
    start, quote_start = body.index(sentence), body.index(quote)
    here = page.evaluate(
        "[...document.querySelectorAll('#text .sentence')].findIndex(sentence => sentence.tabIndex === 0)"
    )
    keys = ["t", *["ArrowRight" if index > here else "ArrowLeft"] * abs(index - here), "Space"]
    keys += _shortest(body, _edges(body, "start"), start, quote_start, "ArrowDown", "ArrowUp")
    ends = _edges(body, "end")
    return keys + _shortest(
        body, ends, start + len(sentence), quote_start + len(quote), "ArrowRight", "ArrowLeft"
    )


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign).startswith("P") and sign not in "%‰&@#*/\\"


def _edges(body: str, which: str) -> list[int]:
    """Where words begin or end, with the punctuation that touches them or without."""
    words = [(word.group(), *word.span()) for word in re.finditer(r"\S+", body)]
    places = set()
    for word, start, end in words:
        inner = start + next((i for i, sign in enumerate(word) if not _is_punctuation(sign)), 0)
        last = end - next((i for i, sign in enumerate(word[::-1]) if not _is_punctuation(sign)), 0)
        places |= {start, inner} if which == "start" else {end, last}
    return sorted(places)


def _shortest(
    body: str, edges: list[int], start: int, to: int, forward: str, back: str
) -> list[str]:
    """Jumps over clauses, then steps over words, from one edge to another."""
    begin, goal = edges.index(start), edges.index(to)
    step = 1 if goal > begin else -1
    clauses = [
        place
        for place in range(begin + step, len(edges) if step > 0 else -1, step)
        if body[: edges[place]].rstrip()[-1:] in tuple(",;:.!?…)–—")
    ]
    jumps = [begin, *clauses]
    best = min(range(len(jumps)), key=lambda jump: (jump + abs(goal - jumps[jump]), jump))
    rest = goal - jumps[best]
    jump, word = (forward if step > 0 else back), (forward if rest > 0 else back)
    return [f"Control+Shift+{jump}"] * best + [f"Shift+{word}"] * abs(rest)
