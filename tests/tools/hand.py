"""Somebody's browser before a served tool, and the hand at the mouse."""

from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

from tests.browser.site import CHROMIUM_SHELL, launched

# The left end of these words where they are last in a line of the text, their right end, and how high they are.
_PLACE = """([where, words]) => {
    const text = document.querySelector(where);
    text.scrollIntoView({block: "center"});
    const lines = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (lines.nextNode()) {
        const at = lines.currentNode.data.lastIndexOf(words);
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(lines.currentNode, at);
        range.setEnd(lines.currentNode, at + words.length);
        const {left, right, top, height} = range.getBoundingClientRect();
        return [left, right, top + height / 2];
    }
}"""


@contextmanager
def browser_at(address: str):
    """A page of Chromium, to which nothing comes from other machines."""
    with sync_playwright() as playwright:
        browser = launched(playwright, CHROMIUM_SHELL)
        page = browser.new_page(base_url=address, viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(60_000)
        here = (address, "data:", "blob:")
        page.route(lambda url: not url.startswith(here), lambda route: route.abort())
        yield page
        browser.close()


def drag(page: Page, where: str, first: str, last: str = "") -> None:
    """Over words of the text that is there, from the beginning of `first` to the end of `last`."""
    (left, _, above), (_, right, below) = (
        page.evaluate(_PLACE, [where, each]) for each in (first, last or first)
    )
    page.mouse.move(left + 0.5, above)
    page.mouse.down()
    page.mouse.move(right - 5, below)
    page.mouse.move(right - 0.5, below)
    page.mouse.up()
