"""Lines of templates, which a formatter leaves long, and names that one passes to another."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.toolbox.paths import TEMPLATES

LONGEST = 120
INCLUDE = re.compile(r'{%\s*include\s+"([^"]+)"(?:\s+with\s+(.*?))?\s*%}', re.DOTALL)


def test_template_lines_fit_in_120():
    lines = [
        (path, number, line)
        for path in sorted(TEMPLATES.rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
    ]
    assert lines
    assert [f"{path}:{n}: {len(line)}" for path, n, line in lines if len(line) > LONGEST] == []


def test_names_that_an_include_passes_are_used_there():
    """Django prints nothing for a name that is not there, so a misspelt one stays unseen."""
    passed_names = list(_passed_names())
    assert len(passed_names) > 100
    assert [
        f"{path}: {name} of {included}"
        for path, included, name in passed_names
        if name not in _names_in(included)
    ] == []


def _passed_names() -> Iterator[tuple[Path, str, str]]:
    for path in sorted(TEMPLATES.rglob("*.html")):
        for included, values in INCLUDE.findall(path.read_text()):
            for name in re.findall(r"(\w+)=", values):
                yield path, included, name


@cache
def _names_in(template: str) -> set[str]:
    """Names in a template and in those that it includes."""
    text = (TEMPLATES / template).read_text()
    names = set(re.findall(r"\w+", text))
    included = {name for name, _ in INCLUDE.findall(text)} - {template}  # a tree includes itself
    return names.union(*map(_names_in, included))
