"""Annotation tools, as their makers publish them, read what is written here.

They need the environment that `make test-tools` builds, and are skipped, aloud, in `make test`.
"""

from pathlib import Path

import pytest

from tests.tools.material import PYTHON

HERE = f"{Path(__file__).parent}/"  # as words: every test of all is asked, and a path is slow to answer


def pytest_collection_modifyitems(items):
    if PYTHON:
        return
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker(pytest.mark.skip(reason="annotation tools: `make test-tools` runs it"))
