"""Where plotly.js is served from: the one file inside the installed Python package.

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
# Maps bring their style along with an id that is the hash of it, and changes with their version.
HASHED = re.compile(r'document\.getElementById\("([0-9a-f]{64})"\)')


@cache
def style_ids() -> tuple[str, ...]:
    """The ids of the styles that plotly.js leaves out where the page has an element of that id."""
    return tuple(dict.fromkeys(HASHED.findall((FOLDER / FILE).read_text("utf-8"))))


class PlotlyFinder(BaseFinder):
    """Finds that file as plotly/plotly.min.js, and none of the other 5 MB beside it."""

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
