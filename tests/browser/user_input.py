"""User input on a page: dragging over text with the mouse, and keyboard navigation."""

import re
import unicodedata
from contextlib import contextmanager

from playwright.sync_api import LocatorAssertions, Page, expect

from tests.toolbox.clock import wait_for

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


_PRESS = """(init) => document.activeElement.dispatchEvent(
  new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }))"""


def update_progress(page: Page, title: str) -> None:
    """Follow a job without scripts: press the link of the page until its heading changes."""
    heading = page.locator("h1")
    while heading.inner_text() == title:
        page.wait_for_timeout(250)  # the job itself needs the processor
        page.click("text=Update the progress")


def press_place(page: Page, key: str, code: str, **more: bool) -> None:
    """Press the key at a place of a keyboard (`code`), which gives another sign there (`key`).

    It goes where the focus is. Playwright itself presses keys of an American keyboard alone.
    """
    page.evaluate(_PRESS, {"key": key, "code": code, **more})


def ends_of(page: Page, quote: str) -> tuple[float, float, float, float]:
    """Scroll to a quote and return its ends in the window: x, y, x, y."""
    page.evaluate(_ENDS, quote)  # once to scroll
    from_x, from_y, to_x, to_y = page.evaluate(_ENDS, quote)
    return from_x, from_y, to_x, to_y


def drag_over(page: Page, quote: str) -> None:
    """Select a quote by mouse: press at its first letter, move to the last, release."""
    from_x, from_y, to_x, to_y = ends_of(page, quote)
    page.mouse.move(from_x, from_y)
    page.mouse.down()
    page.mouse.move(to_x, to_y, steps=8)
    assert not page.evaluate("getSelection().isCollapsed"), f"the mouse took nothing of {quote!r}"
    page.mouse.up()
    until(page, "getSelection().isCollapsed")


def sentence_of(page: Page, quote: str) -> tuple[int, str]:
    """Return the index (from 0) and the text of the sentence that contains the quote."""
    sentences = page.locator("#text .sentence").all_text_contents()
    return next((index, text) for index, text in enumerate(sentences) if quote in text)


def grade(page: Page, number: int, value: int) -> None:
    page.locator(f"#q-{number} input[value='{value}']").click()


def answer_all(page: Page) -> None:
    """Answer 0 to all questions, the quickest way to an item that can be submitted.

    Waits for the page: a click that led here does not.
    """
    page.locator(".question").first.wait_for(state="attached")
    for number in range(1, page.locator(".question").count() + 1):
        grade(page, number, 0)


def save_status(page: Page) -> LocatorAssertions:
    """Return expectations on the status line, which tells where answers are."""
    return expect(page.locator("#saved"))


def settled(page: Page) -> None:
    """Wait until all answers are acknowledged."""
    expect(page.locator("#saved")).to_have_text(re.compile(r"^\s*(Saved|All saved)"))


@contextmanager
def offline(page: Page):
    """Cut the network of one page, as its browser sees it; restore it at the end."""
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
    """Block the state polling of a page, so that it hears nothing from other devices.

    Without this it asks every 20 seconds.
    """
    page.route("**/state/", lambda route: route.abort())
    try:
        yield
    finally:
        page.unroute("**/state/")


def select_by_touch(page: Page, quote: str) -> None:
    """Select a quote as a phone does: touch events and a selection, no mouse."""
    page.evaluate(_SELECT, quote)


def until(page: Page, expression: str) -> None:
    """Wait until a JavaScript expression is true.

    Playwright's own wait needs eval, which our CSP forbids.
    """
    wait_for(lambda: page.evaluate(expression))


def keys_for(page: Page, quote: str) -> list[str]:
    """Return the fewest keys that mark a quote.

    To its sentence, Space, then both ends by clauses and words.
    """
    index, sentence = sentence_of(page, quote.split(". ", maxsplit=1)[0])
    body = page.locator("#text").text_content()
    start, quote_start = body.index(sentence), body.index(quote)
    focused = page.evaluate(
        "[...document.querySelectorAll('#text .sentence')].findIndex(sentence => sentence.tabIndex === 0)"
    )
    keys = [
        "t",
        *["ArrowRight" if index > focused else "ArrowLeft"] * abs(index - focused),
        "Space",
    ]
    keys += _shortest(body, _edges(body, "start"), start, quote_start, "ArrowDown", "ArrowUp")
    ends = _edges(body, "end")
    return keys + _shortest(
        body, ends, start + len(sentence), quote_start + len(quote), "ArrowRight", "ArrowLeft"
    )


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign).startswith("P") and sign not in "%‰&@#*/\\"


def _edges(body: str, side: str) -> list[int]:
    """Return the starts or ends of words, with and without adjacent punctuation."""
    tokens = [(token.group(), *token.span()) for token in re.finditer(r"\S+", body)]
    edges = set()
    for token, start, end in tokens:
        inner = start + next((i for i, sign in enumerate(token) if not _is_punctuation(sign)), 0)
        last = end - next((i for i, sign in enumerate(token[::-1]) if not _is_punctuation(sign)), 0)
        edges |= {start, inner} if side == "start" else {end, last}
    return sorted(edges)


def _shortest(
    body: str, edges: list[int], start: int, to: int, forward: str, backward: str
) -> list[str]:
    """Return the keys from one edge to another: jumps over clauses, then steps over words."""
    begin, goal = edges.index(start), edges.index(to)
    step = 1 if goal > begin else -1
    clauses = [
        position
        for position in range(begin + step, len(edges) if step > 0 else -1, step)
        if body[: edges[position]].rstrip()[-1:] in tuple(",;:.!?…)–—")
    ]
    jumps = [begin, *clauses]
    best = min(range(len(jumps)), key=lambda jump: (jump + abs(goal - jumps[jump]), jump))
    remaining = goal - jumps[best]
    jump, key = (forward if step > 0 else backward), (forward if remaining > 0 else backward)
    return [f"Control+Shift+{jump}"] * best + [f"Shift+{key}"] * abs(remaining)
