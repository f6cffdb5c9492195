"""What was read or made last, held in this process as it is: for what is too large to be packed each time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from annotation import unwritten

Made = TypeVar("Made")

_NOTHING = object()


class Held:
    """The `most` things that were asked for last. All threads get the same ones, and change nothing of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        made: Any = self.find(key, _NOTHING)
        if made is _NOTHING:
            made = make()
            self.put(key, made)
        return cast(Made, made)

    def find(self, key: Hashable, default: Any = None) -> Any:
        """The object under this key, or the default."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key, default)

    def put(self, key: Hashable, made: Any) -> None:
        with self._lock:
            self._made[key] = made
            while len(self._made) > self._most:
                self._made.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._made.clear()

    def while_unwritten(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What was made under this key, if nothing at all was written to the database since."""
        mark = unwritten.mark()  # before: what is written meanwhile makes another mark
        return make() if mark is None else self.get((key, mark), make)


COUNTED = Held(500)
"""Small things that pages would count or list anew each time, by what they are and of which dataset."""
