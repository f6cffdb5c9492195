"""LRU caches in process memory, for objects too large to pickle (e.g. score tables).

All of them are declared below. Their objects are valid until the next write to the database, or, where they
have a version of their own, until that changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar, cast

from annotation import db_version
from annotation.db_version import Version
from evaluation.data.cache_keys import Key

KeyType = TypeVar("KeyType", bound=Hashable)
Value = TypeVar("Value")

_NOTHING = object()


class ProcessCache(Generic[KeyType]):
    """LRU cache of `max_size` objects, shared by all threads, which must not change them."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def until_db_write(self, key: KeyType, compute: Callable[[], Value]) -> Value:
        """Return the object under this key, computed again after any write to the database."""
        version = db_version.current()  # before: what is written meanwhile makes another mark
        if version is None:
            return compute()
        value: Any = self.find((key, version), _NOTHING)
        if value is _NOTHING:
            self._drop_stale(key, version)  # before: the new object needs the memory
            value = compute()
            self.put((key, version), value)
        return cast(Value, value)

    def of_version(self, key: KeyType, version: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the object under this key, computed again when its version is another one."""
        stored_version, value = self.find(key, (None, None))
        if stored_version != version:
            self.drop(key)  # before: the new object needs the memory
            value = compute()
            self.put(key, (version, value))
        return cast(Value, value)

    def _drop_stale(self, key: KeyType, version: Version) -> None:
        """Drop the objects of other versions of the database that no page is reading."""
        with self._lock:
            for name in list(self._values):
                if isinstance(name, tuple) and name[0] == key:
                    stored: Version = name[1]
                    if stored.database == version.database and not db_version.is_in_use(stored):
                        del self._values[name]

    def find(self, key: Hashable, default: Any = None) -> Any:
        """The object under this key, or the default."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key, default)

    def put(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._max_size:
                self._values.popitem(last=False)

    def drop(self, key: Hashable) -> None:
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


# Lists and counts that pages would query again each time.
SHARED_CACHE = ProcessCache[Key](500)

# Last results of `cached` (evaluation/data/cache.py): scores of 25,000 texts take two seconds to unpickle.
UNPICKLED_RESULTS = ProcessCache[str](8)

# Rows of ratings by dataset, raters and rubrics, until these raters rate again: those of a judge stay while
# people work. They are scored at several thresholds and depths in a row.
RATING_ROWS = ProcessCache[tuple[object, ...]](4)
# Topics, questions and texts of a dataset, until they change.
CORPORA = ProcessCache[tuple[object, ...]](4)
# Raters of passages under an ordinal rubric, of a dataset.
RELEVANCE_SOURCES = ProcessCache[int](8)
# Grades and evidence of a selection, for paging through its pairs: half a million ratings take some 60 MB.
RATING_MATRICES = ProcessCache[tuple[object, ...]](3)
# Counts of texts and questions for the overview of a dataset, until its content changes.
OVERVIEW_CONTENTS = ProcessCache[tuple[object, ...]](4)
# Retrieval runs and reports of a dataset, as rows to score, until its content changes.
SCORED_ROWS = ProcessCache[tuple[object, ...]](4)
# Pools of topics by scoring options; neither the depth nor the ideal ranking changes them.
POOLS = ProcessCache[tuple[object, ...]](6)
# Scores of all rows of a dataset by options: the paper's tables and the tests of its supplement share them.
ALL_SCORES = ProcessCache[tuple[object, ...]](1)
# Token counts of a dataset's texts by tokenizer, until its content changes.
TOKEN_COUNTS = ProcessCache[tuple[object, ...]](4)
# Values of systems by selection and outcome.
SYSTEM_VALUES = ProcessCache[tuple[object, ...]](4)
# Coverage arrays from which "Label next" ranks reports, by selection.
LABEL_DATA = ProcessCache[tuple[object, ...]](4)

# Rendered parts of pages, see evaluation/templatetags/fragment_cache.py.
FRAGMENTS = ProcessCache[tuple[object, ...]](40)
