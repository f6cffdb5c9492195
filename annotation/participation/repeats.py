"""Repeated items: a share of a part's items that the same person gets again later.

No Django here. A repeat is a further assignment of its item. It takes no slot, and its answers
become no ratings.
"""

import random
from collections.abc import Collection, Sequence
from typing import NamedTuple

from annotation.plurals import n_of


class QueueEntry(NamedTuple):
    """Entry in the order of a part: an item, and whether it is its repeat."""

    item: int
    is_repeat: bool = False


def repeats_due(items: int, percent: int | None, min_gap: int | None) -> int:
    """Return the number of repeats in a part of so many study items: the share, rounded up.

    A part that is too short for all of them, as a last part may be, has fewer.
    """
    if not percent or not min_gap:
        return 0
    return min(-(-items * percent // 100), max(0, items - min_gap))


def refusal(items: int, percent: int, min_gap: int) -> str:
    """Return why parts of so many study items cannot have these repeats; empty if they can."""
    n = -(-items * percent // 100)
    if repeats_due(items, percent, min_gap) == n:
        return ""
    texts = n_of(items, "text")
    if n >= items:
        return f"A part of {texts} cannot repeat {n} of them: the last one has no text after it."
    return (
        f"A part of {texts} cannot repeat {n} of them after {n_of(min_gap, 'other text')} each: "
        f"enter at most {items - n}, or longer parts."
    )


def insert(
    queue: Sequence[int], candidates: Collection[int], n: int, min_gap: int, order: random.Random
) -> list[QueueEntry]:
    """Return the entries of a part: its items in their order, and the repeats of n candidates.

    At least `min_gap` other items are between an item and its repeat, so that items too close to
    the end are not repeated.
    """
    last = len(queue) - 1
    early = [
        position
        for position, item in enumerate(queue)
        if item in candidates and position + min_gap <= last
    ]
    repeats_after: dict[int, list[int]] = {}
    for position in order.sample(early, min(n, len(early))):
        repeats_after.setdefault(order.randint(position + min_gap, last), []).append(
            queue[position]
        )
    entries: list[QueueEntry] = []
    for position, item in enumerate(queue):
        entries.append(QueueEntry(item))
        entries += [
            QueueEntry(repeat, is_repeat=True) for repeat in repeats_after.get(position, ())
        ]
    return entries
