"""Regular expressions that all supported versions of Python match alike."""

import re

from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.paths import ROOT

# `(...)*+`, `(...)++`, `(...)?+` and `(...){2,3}+`
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{\{?[0-9,]+\}\}?)\+")
# Its possessive groups are compiled by the package `regex`.
COMPILED_BY_REGEX = {"building/analysis/lucene_en.py"}


def test_groups_are_atomic_and_not_possessive():
    """Python up to 3.11.4 matches possessive groups wrongly; Debian 12 has 3.11.2.

    `(?:\\.a)?+` then consumes the point of ".b". An atomic group, `(?>(?:\\.a)?)`, is the same and is right.
    Source: python/cpython issue 106052.
    """
    wrong = {
        f"{path.relative_to(ROOT)}:{number}"
        for app in OUR_APPS
        for path in (ROOT / app).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if POSSESSIVE_GROUP.search(line) and not app.startswith("tests")
    }
    assert {name for name in wrong if name.split(":")[0] not in COMPILED_BY_REGEX} == set()
    assert POSSESSIVE_GROUP.search(r"[a-z](?:-\w)*+")
