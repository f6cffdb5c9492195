"""How pages look: at desktop and phone width, by day and by night, axe finds nothing and nothing overflows."""

import json
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.hands import until

WIDTHS = [1280, 390, 320]
VIEWS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"), (320, "light")]
# What passes is not described: that takes longer than to find what does not.
_ALL = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    "resultTypes": ["violations"],
}
# By night only colours differ.
_COLOURS = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
    "resultTypes": ["violations"],
}
# The narrowest window shows what a phone shows, as no rule of the stylesheet lies between: only sizes differ.
_SIZES = {
    "runOnly": {"type": "rule", "values": ["target-size", "scrollable-region-focusable"]},
    "resultTypes": ["violations"],
}
_RUN = "options => axe.run(document, options).then(results => results.violations)"
_AXE = Axe().axe_script
# A button that is just changing its colour has a contrast of its own.
_STILL = """() => document.getAnimations()
  .filter(animation => animation.effect.getComputedTiming().endTime !== Infinity)
  .forEach(animation => animation.finish())"""


def axe_problems(page: Page, options: dict[str, Any] = _ALL) -> list[str]:
    """What axe-core finds on a page against WCAG 2.2 AA and best practice; empty is good."""
    page.wait_for_load_state()  # a click waits for the new page to begin, not to be whole
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    return [
        f"{violation['id']}: {json.dumps([node['html'][:160] for node in violation['nodes']])}"
        for violation in page.evaluate(_RUN, options)
    ]


def faults(page: Page, width: int | None = None) -> list[str]:
    """What axe finds, and how far the page is wider than its window, in each view of it; empty is good.

    In the views of one width alone, where one is given: what led to the page was then done at that width.
    Afterwards the page is again as it was.
    """
    problems = []
    before = page.viewport_size
    views = [view for view in VIEWS if width in (None, view[0])]
    for view_width, scheme in views:
        page.set_viewport_size({"width": view_width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        until(page, f"innerWidth === {view_width}")
        page.evaluate(_STILL)
        problems += [
            f"{view_width} {scheme}: {problem}"
            for problem in axe_problems(page, _options(view_width, scheme))
        ]
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > view_width:
            problems.append(f"{view_width} {scheme}: the page is {wide} wide")
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="null")
    return problems


def _options(width: int, scheme: str) -> dict[str, Any]:
    """What is looked for in a view: what another view has not said already."""
    if scheme == "dark":
        return _COLOURS
    return _SIZES if width == min(WIDTHS) else _ALL
