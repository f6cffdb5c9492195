"""Assumptions of `looks`: narrow windows need no check that another view has done."""

import re

from tests.browser.page_audit import NARROWEST, PHONE
from tests.toolbox.paths import ROOT

REM = 16  # pixels
STYLES = "\n".join(path.read_text() for path in (ROOT / "static" / "css").glob("*.css"))
# Parts of the task pages, whose colours are looked at in each width.
OF_TASK_PAGES = (".question-pane", ".touch-take", ".apart", ".task-bar", ".task-foot")


def test_stylesheet_has_no_breakpoint_between_the_narrowest_windows():
    limits = re.findall(r"@media[^{]*?width: ([\d.]+)(\w+)", STYLES)
    assert {unit for _, unit in limits} == {"rem"}
    between = [limit for limit, _ in limits if NARROWEST <= REM * float(limit) <= PHONE]
    assert not between
    assert "@container" not in STYLES


def blocks_by_width() -> list[str]:
    """Return the body of each media query on width, with nested blocks."""
    blocks = []
    for query in re.finditer(r"@media[^{]*width[^{]*\{", STYLES):
        depth, end = 1, query.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(STYLES[end], 0)
            end += 1
        blocks.append(STYLES[query.end() : end - 1])
    return blocks


def test_colours_depend_on_width_on_task_pages_only():
    blocks = blocks_by_width()
    assert len(blocks) > 10
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", "\n".join(blocks))
    coloured = {
        selector.split("*/")[-1].strip()
        for selector, declarations in rules
        if re.search(r"(?:^|[\s;])(?:color|background[\w-]*|opacity|filter):", declarations)
    }
    assert coloured
    assert all(selector.startswith(OF_TASK_PAGES) for selector in coloured), coloured
