"""Browser of an annotator at a served tool, and mouse input."""

from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

from tests.toolbox.served_site import CHROMIUM_SHELL, launched

# The left end of these words where they are last in a line of the text, their right end, and how high they are.
_WORD_BOX = """([where, words]) => {
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
    """Open a page of Chromium that blocks requests to other machines."""
    with sync_playwright() as playwright:
        browser = launched(playwright, CHROMIUM_SHELL)
        page = browser.new_page(base_url=address, viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(60_000)
        allowed = (address, "data:", "blob:")
        page.route(lambda url: not url.startswith(allowed), lambda route: route.abort())
        yield page
        browser.close()


def drag(page: Page, selector: str, first: str, last: str = "") -> None:
    """Drag over text of an element, from the start of `first` to the end of `last`."""
    (start_x, _, above), (_, end_x, below) = (
        page.evaluate(_WORD_BOX, [selector, phrase]) for phrase in (first, last or first)
    )
    page.mouse.move(start_x + 0.5, above)
    page.mouse.down()
    page.mouse.move(end_x - 5, below)
    page.mouse.move(end_x - 0.5, below)
    page.mouse.up()
