"""The systems under several sources of grades, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evaluation.data.cache import cached
from evaluation.data.selection import one_of
from evaluation.data.sources import Source
from evaluation.retrieval.board import board
from evaluation.retrieval.orders import Orders, orders
from evaluation.retrieval.params import Choice
from evaluation.retrieval.swaps import JudgePair, is_judge, judge_pairs, people_of

UNASKED = 4  # so many judges are compared where the URL names none: each is a scoring of its own


@dataclass(frozen=True)
class UnderOthers:
    """The order of the systems under every two sources, and every two judges among them."""

    sources: tuple[Source, ...]
    people: Source | None
    orders: tuple[Orders, ...]
    pairs: tuple[JudgePair, ...]


def compared_sources(choice: Choice) -> tuple[Source, ...]:
    """The sources that the URL names, parted by commas; else the chosen one, judges and a majority.

    Raises SelectionError for a name that is not there.
    """
    named = [name for name in choice.words.get("with", "").split(",") if name]
    for name in named:
        one_of("source of grades", name, (source.name for source in choice.sources))
    if not named:
        judges = [source.name for source in choice.sources if is_judge(source)][:UNASKED]
        people = people_of(choice.sources)
        named = [choice.options.source.name, *judges, *([people.name] if people else [])]
    return tuple(source for source in choice.sources if source.name in named)


def under_others(choice: Choice) -> UnderOthers:
    """The compared sources, two by two, kept until the data change."""
    found = compared_sources(choice)
    key = ("under others", found, choice.options, choice.among, choice.metric)
    return cached(choice.dataset, key, lambda: _under_others(choice, found))


def _under_others(choice: Choice, found: tuple[Source, ...]) -> UnderOthers:
    dataset, group, people = choice.dataset, choice.among, people_of(choice.sources)
    boards = {source: board(dataset, replace(choice.options, source=source)) for source in found}
    return UnderOthers(
        found,
        people,
        orders(boards, group, choice.metric),
        judge_pairs(dataset, boards, people, group, choice.options.eta),
    )
