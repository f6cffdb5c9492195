"""Accessibility and layout audit of pages, in several widths and colour schemes."""

import json
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.user_input import until

# Passes are not described: that takes longer than finding the violations.
_VIOLATIONS = {"resultTypes": ["violations"]}
_COLOUR_RULES = ["color-contrast", "link-in-text-block"]
_ALL_RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    **_VIOLATIONS,
}
BUT_SIZES = {**_ALL_RULES, "rules": {"target-size": {"enabled": False}}}
"""Rules for a page on which a menu or a sticky head covers a part of links."""
_COLOURS = {"runOnly": {"type": "rule", "values": _COLOUR_RULES}, **_VIOLATIONS}
_BUT_COLOURS = {**_ALL_RULES, "rules": {rule: {"enabled": False} for rule in _COLOUR_RULES}}
_SIZES = {
    "runOnly": {"type": "rule", "values": ["target-size", "scrollable-region-focusable"]},
    **_VIOLATIONS,
}
WIDE, PHONE, NARROWEST = WIDTHS = [1280, 390, 320]
# Each view checks only what the others cannot: by night only colours differ, colours are the same at every
# width, and the narrowest window shows what a phone shows. Two thirds of axe's time are colours.
VIEWS = [
    (WIDE, "light", _ALL_RULES),
    (WIDE, "dark", _COLOURS),
    (PHONE, "light", _BUT_COLOURS),
    (NARROWEST, "light", _SIZES),
]
# The task pages have other colours on a phone, and are led to at each width.
VIEWS_BY_WIDTH = {
    WIDE: [(WIDE, "light", _ALL_RULES), (WIDE, "dark", _COLOURS)],
    PHONE: [(PHONE, "light", _ALL_RULES), (PHONE, "dark", _COLOURS)],
    NARROWEST: [(NARROWEST, "light", _SIZES)],
}
_RUN = "options => axe.run(document, options).then(results => results.violations)"
_AXE = Axe().axe_script
# A button that is just changing its colour has a contrast of its own.
_FINISH_ANIMATIONS = """() => document.getAnimations()
  .filter(animation => animation.effect.getComputedTiming().endTime !== Infinity)
  .forEach(animation => animation.finish())"""


def axe_problems(page: Page, options: dict[str, Any] = _ALL_RULES) -> list[str]:
    """Return axe-core violations of WCAG 2.2 AA and best practice; empty is good."""
    page.wait_for_load_state()  # a click waits for the new page to begin, not to be whole
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    return [
        f"{violation['id']}: {json.dumps([node['html'][:160] for node in violation['nodes']])}"
        for violation in page.evaluate(_RUN, options)
    ]


def layout_faults(page: Page) -> list[str]:
    """Return layout faults that depend on fonts, in a wide window and in the narrowest.

    Targets that are too small or too close, and overflow.
    """
    problems = []
    before = page.viewport_size
    for width in (WIDE, NARROWEST):
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
    """Return axe-core violations and horizontal overflow in all views; empty is good.

    With `width`, only the views of that width: the steps that led to the page were then done at that width.
    Afterwards the page is restored.
    """
    problems = []
    before = page.viewport_size
    for view_width, scheme, options in VIEWS_BY_WIDTH[width] if width else VIEWS:
        page.set_viewport_size({"width": view_width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        until(page, f"innerWidth === {view_width}")
        page.evaluate(_FINISH_ANIMATIONS)
        problems += [f"{view_width} {scheme}: {problem}" for problem in axe_problems(page, options)]
        problems += _overflow(page, view_width)
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="null")
    return problems
