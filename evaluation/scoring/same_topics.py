"""Systems on the same topics: the largest group is compared, all others are listed apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from evaluation.metrics.grades import BoolArray
from evaluation.scoring.rows import Row


class OnTopics(Protocol):
    """System with masks over topics: those with results, and those that can be scored."""

    @property
    def name(self) -> str: ...
    @property
    def has(self) -> BoolArray: ...
    @property
    def judged(self) -> BoolArray: ...


System = TypeVar("System", bound=OnTopics)


def largest_group(topics: Mapping[str, BoolArray | frozenset[int]]) -> tuple[str, ...]:
    """Return the systems of the largest group with the same topics, in the order given.

    `topics` has for each system its topics: a mask over all topics, or their keys. Of groups with equally
    many systems the one with more topics is taken, then the one that comes first. Systems without a topic
    are a group only where no system has one. Empty for no system.
    """
    keys = {name: _key(of_system) for name, of_system in topics.items()}
    sizes = Counter(key for key in keys.values() if key) or Counter(keys.values())
    if not sizes:
        return ()
    largest = max(sizes, key=lambda key: (sizes[key], len(key)))  # the first of equal ones
    return tuple(name for name, key in keys.items() if key == largest)


def _key(topics: BoolArray | frozenset[int]) -> frozenset[int]:
    return topics if isinstance(topics, frozenset) else frozenset(topics.nonzero()[0].tolist())


def on_same_topics(systems: Sequence[System]) -> tuple[System, ...]:
    """Return the largest group of systems with results on the same topics.

    These are compared by default.

    Only topics count on which something can be found: those with an answerable question or a relevant
    passage. A topic that counts as 0 for a system is none of its topics here.
    """
    names = set(largest_group({row.name: row.has & row.judged for row in systems}))
    return tuple(row for row in systems if row.name in names)


def identical_rankings(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    """Return groups of runs with identical rankings on the same topics, by name."""
    runs = [row for row in rows if row.kind == "run" and row.contexts]
    # Most runs differ on the first topic, and need no comparison of all rankings.
    first = min((min(run.contexts) for run in runs), default=0)
    similar = Counter((len(run.contexts), run.contexts.get(first)) for run in runs)
    groups: dict[frozenset[tuple[int, tuple[int, ...]]], list[str]] = {}
    for run in runs:
        if similar[len(run.contexts), run.contexts.get(first)] > 1:
            groups.setdefault(frozenset(run.contexts.items()), []).append(run.name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)
