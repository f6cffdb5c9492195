"""The rankings of a run as the page joins them: texts by names that stand for their words."""

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
    """The texts of each topic with their scores, in the order of the run.

    Raises SelectionError for a run without scores `with_scores`.
    """
    found: dict[int, list[tuple[int, float]]] = defaultdict(list)
    ranked = RankedText.objects.filter(run__dataset=dataset, run__name=run)
    for topic, text, score in ranked.order_by("topic_id", "rank").values_list(
        "topic_id", "text_id", "score"
    ):
        if score is None and with_scores:
            raise SelectionError(
                f"The run {run} has no scores to join: choose rrf, which joins ranks."
            )
        found[topic].append((text, score or 0.0))
    return found


def names(dataset: Dataset, wanted: Iterable[int]) -> dict[int, str]:
    """The name that stands for each of these texts: the first of those of the same words.

    A text without words, which only a run names, is the one whose chunk has this id in a qac file, or the one
    passage of the topic of this name, where there is just one such.
    """
    texts = dataset.texts.filter(kind=Text.Kind.PASSAGE).order_by()
    rows = list(texts.values_list("pk", "name", "sha256", "topic__name"))
    first: dict[str, str] = {}
    for _, name, words, _ in rows:
        if words:
            first[words] = min(name, first.get(words, name))
    meant: dict[str, set[str]] = defaultdict(set)
    for _, name, words, topic in rows:
        if words and topic:
            meant[topic].add(first[words])
            meant[ids_of(name)[1]].add(first[words])
    stands_for: dict[int, str] = {}
    keys = set(wanted)
    for pk, name, words, _ in rows:
        if pk in keys:
            alone = meant[name] if len(meant.get(name, ())) == 1 else {name}
            stands_for[pk] = first[words] if words else next(iter(alone))
    return stands_for


def distinct(ranking: Sequence[tuple[int, float]], stands_for: Mapping[int, str]) -> Ranking:
    """The ranking by these names, each at its first place."""
    scores: dict[str, float] = {}
    for text, score in ranking:
        scores.setdefault(stands_for[text], score)
    return list(scores.items())
