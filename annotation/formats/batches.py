"""Items in batches, for look-ups and inserts of many rows."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

LOOK_UP = 5000  # values in one query; SQLite takes 32,766


Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch
