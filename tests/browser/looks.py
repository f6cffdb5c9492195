"""How pages look: at desktop and phone width, by day and by night, axe finds nothing and nothing overflows."""

import json
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.hands import until

# What passes is not described: that takes longer than to find what does not.
_VIOLATIONS = {"resultTypes": ["violations"]}
_COLOUR_RULES = ["color-contrast", "link-in-text-block"]
_ALL = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    **_VIOLATIONS,
}
_COLOURS = {"runOnly": {"type": "rule", "values": _COLOUR_RULES}, **_VIOLATIONS}
_BUT_COLOURS = {**_ALL, "rules": {rule: {"enabled": False} for rule in _COLOUR_RULES}}
_SIZES = {
    "runOnly": {"type": "rule", "values": ["target-size", "scrollable-region-focusable"]},
    **_VIOLATIONS,
}
WIDE, PHONE, NARROWEST = WIDTHS = [1280, 390, 320]
# In each view what another has not said: by night only colours differ, colours are the same at every width, and
# the narrowest window shows what a phone shows. Two thirds of axe's time are colours.
VIEWS = [
    (WIDE, "light", _ALL),
    (WIDE, "dark", _COLOURS),
    (PHONE, "light", _BUT_COLOURS),
    (NARROWEST, "light", _SIZES),
]
# The task pages have other colours on a phone, and are led to at each width.
VIEWS_BY_WIDTH = {
    WIDE: [(WIDE, "light", _ALL), (WIDE, "dark", _COLOURS)],
    PHONE: [(PHONE, "light", _ALL), (PHONE, "dark", _COLOURS)],
    NARROWEST: [(NARROWEST, "light", _SIZES)],
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


def layout_faults(page: Page) -> list[str]:
    """Return what depends on fonts at each width: targets that are too small or too near, and overflow."""
    problems = []
    before = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        until(page, f"innerWidth === {width}")
        problems += [f"{width}: {problem}" for problem in axe_problems(page, _SIZES)]
        problems += _overflow(page, width)
    page.set_viewport_size(before)
    return problems


def _overflow(page: Page, width: int) -> list[str]:
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [f"{width}: the page is {wide} wide"] if wide > width else []


def faults(page: Page, width: int | None = None) -> list[str]:
    """What axe finds, and how far the page is wider than its window, in each view of it; empty is good.

    In the views of one width alone, where one is given: what led to the page was then done at that width.
    Afterwards the page is again as it was.
    """
    problems = []
    before = page.viewport_size
    for view_width, scheme, options in VIEWS_BY_WIDTH[width] if width else VIEWS:
        page.set_viewport_size({"width": view_width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        until(page, f"innerWidth === {view_width}")
        page.evaluate(_STILL)
        problems += [f"{view_width} {scheme}: {problem}" for problem in axe_problems(page, options)]
        problems += _overflow(page, view_width)
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="null")
    return problems
