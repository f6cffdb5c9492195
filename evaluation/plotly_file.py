"""Static files finder for plotly.js: the one file inside the installed Python package.

Only the pages of interactive figures load it. Our content security policy allows no style that a
script writes, and plotly.js writes two when it starts; it leaves either out where the page already
has an element with the id that it would give it. Those ids are known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import plotly
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

FOLDER = Path(plotly.__file__).parent / "package_data"
FILE = "plotly.min.js"
URL = f"plotly/{FILE}"
# The style of maps has its hash as id, which changes with the version.
HASHED = re.compile(r'document\.getElementById\("([0-9a-f]{64})"\)')


@cache
def style_ids() -> tuple[str, ...]:
    """Return the ids of the styles that plotly.js skips if the page has such an element."""
    return tuple(dict.fromkeys(HASHED.findall((FOLDER / FILE).read_text("utf-8"))))


class PlotlyFinder(BaseFinder):
    """Finder of plotly/plotly.min.js alone, without the other 5 MB beside it."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.storage = FileSystemStorage(location=FOLDER)
        self.storage.prefix = "plotly"  # type: ignore[attr-defined] # as collectstatic reads it

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        paths = [str(FOLDER / FILE)] if path == URL else []
        return paths if find_all else next(iter(paths), [])

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        yield FILE, self.storage
