"""Rankings of a run for fusion: texts by names that identify their content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from annotation.formats.foreign.qac import ids_of
from annotation.models import Dataset, Text
from evaluation.data.selection import SelectionError
from evaluation.models import RankedText

Ranking = list[tuple[str, float]]
"""Texts by the names that stand for their words, with their scores, best first."""
ByKey = Mapping[int, Sequence[tuple[int, float]]]
"""The same by the keys of the topics and of the texts."""


def rankings(dataset: Dataset, run: str, *, with_scores: bool) -> ByKey:
    """Return the texts of each topic with their scores, in the order of the run.

    Raises SelectionError for a run without scores `with_scores`.
    """
    by_topic: dict[int, list[tuple[int, float]]] = defaultdict(list)
    ranked = RankedText.objects.filter(run__dataset=dataset, run__name=run)
    for topic, text, score in ranked.order_by("topic_id", "rank").values_list(
        "topic_id", "text_id", "score"
    ):
        if score is None and with_scores:
            raise SelectionError(f"The run {run} has no scores: choose rrf, which fuses ranks.")
        by_topic[topic].append((text, score or 0.0))
    return by_topic


def names(dataset: Dataset, texts_to_name: Iterable[int]) -> dict[int, str]:
    """Return the canonical name of each of these texts: the first among identical texts.

    A text without words, which only a run names, is the one whose chunk has this id in a qac file, or the one
    passage of the topic of this name, where there is just one such.
    """
    texts = dataset.texts.filter(kind=Text.Kind.PASSAGE).order_by()
    rows = list(texts.values_list("pk", "name", "sha256", "topic__name"))
    first: dict[str, str] = {}
    for _, name, sha256, _ in rows:
        if sha256:
            first[sha256] = min(name, first.get(sha256, name))
    meant: dict[str, set[str]] = defaultdict(set)
    for _, name, sha256, topic in rows:
        if sha256 and topic:
            meant[topic].add(first[sha256])
            meant[ids_of(name)[1]].add(first[sha256])
    name_of: dict[int, str] = {}
    keys = set(texts_to_name)
    for pk, name, sha256, _ in rows:
        if pk in keys:
            candidates = meant[name] if len(meant.get(name, ())) == 1 else {name}
            name_of[pk] = first[sha256] if sha256 else next(iter(candidates))
    return name_of


def distinct(ranking: Sequence[tuple[int, float]], name_of: Mapping[int, str]) -> Ranking:
    """Return the ranking by these names, each at its first rank."""
    scores: dict[str, float] = {}
    for text, score in ranking:
        scores.setdefault(name_of[text], score)
    return list(scores.items())
