"""Regular expressions that all supported versions of Python match alike."""

import re

from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.paths import ROOT

# `(...)*+`, `(...)++`, `(...)?+`, `(...){2,3}+`, and `{NAME}*+` of an f-string, whose value may be a group.
POSSESSIVE_GROUP = re.compile(r"[)}][*+?]\+|\)\{\{?[0-9,]+\}\}?\+")
# The package `regex`, which is right in all versions, compiles the possessive groups of this file.
COMPILED_BY_REGEX = "building/analysis/lucene_en.py"


def test_groups_are_atomic_and_not_possessive():
    """Python up to 3.11.4 matches possessive groups wrongly; Debian 12 has 3.11.2.

    There `(?:\\.a)?+` consumes the point of ".b". The atomic group `(?>(?:\\.a)?)` means the same and matches
    correctly. Source: python/cpython issue 106052.
    """
    wrong = {
        f"{path.relative_to(ROOT)}:{number}"
        for app in (*OUR_APPS, "client")
        for path in (ROOT / app).rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    }
    # So the search finds such groups.
    assert {name.split(":")[0] for name in wrong} == {COMPILED_BY_REGEX}
