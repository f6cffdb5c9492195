"""Making a retrieval run from its recipe, once: what is the same is not made again."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Dataset, Topic
from building.retrieval.recipe import parsed
from building.steps import Kitchen, Ranking, prepare
from evaluation.data.selection import one_of
from evaluation.models import RankedText, RetrievalRun

PACKAGES = ("numpy", "regex", "snowballstemmer")  # that tokens and scores come from
AT_ONCE = 5_000  # rows of an insert
_NAME = re.compile(r"\w[\w.+-]{0,119}")


class RunRefused(ValueError):
    """A run that cannot be made; a sentence for a person."""


@dataclass(frozen=True)
class Made:
    """A run that was made now, or `is_new` False that was there: the same recipe of the same data."""

    run: RetrievalRun
    is_new: bool


def make_run(
    dataset: Dataset, name: str, line: str, kitchen: Kitchen, topics: Sequence[str] = ()
) -> Made:
    """Rank texts for all topics, or those named, and store the rankings as a run.

    A topic for which nothing is found is counted in the run's origin. Raises RunRefused for a name that is
    taken or cannot be, SelectionError for a topic that is not there, RecipeError, NoIndex, IndexBroken.
    """
    if not _NAME.fullmatch(name):
        raise RunRefused(
            "The name of a run has letters, digits and - _ . + and no more than 120; none of - . + comes first."
        )
    recipe = parsed(line)
    chosen = _topics(dataset, topics)
    began = time.monotonic()
    prepared = prepare(recipe, kitchen)
    made_from = {
        "steps": prepared.made_from,
        "requests": _hash([(topic.name, topic.request) for topic in chosen]),
        "versions": {package: version(package) for package in PACKAGES},
    }
    fingerprint = _hash(made_from)
    runs = RetrievalRun.objects.filter(dataset=dataset)
    if there := runs.filter(fingerprint=fingerprint).first():
        return Made(there, is_new=False)
    if runs.filter(name=name).exists():
        raise RunRefused(f"{dataset} has a run called {name} already: choose another name.")
    rankings = {topic: prepared.of(topic) for topic in chosen}
    origin = {
        **made_from,
        "topics": len(chosen),
        "without_results": [topic.name for topic, made in rankings.items() if not made.texts],
        "unknown_terms": {
            topic.name: sorted(made.unknown) for topic, made in rankings.items() if made.unknown
        },
        "seconds": round(time.monotonic() - began, 3),
    }
    run = RetrievalRun(
        dataset=dataset, name=name, recipe=str(recipe), origin=origin, fingerprint=fingerprint
    )
    try:
        _store(run, rankings)
    except IntegrityError:
        raise RunRefused(f"Somebody has just made {name}, or a run that is the same.") from None
    return Made(run, is_new=True)


def _topics(dataset: Dataset, names: Sequence[str]) -> list[Topic]:
    topics = list(dataset.topics.order_by("position"))
    for name in names:
        one_of("topic", name, (topic.name for topic in topics))
    return [topic for topic in topics if not names or topic.name in names]


def _hash(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@transaction.atomic
def _store(run: RetrievalRun, rankings: dict[Topic, Ranking]) -> None:
    run.save()
    rows = (
        RankedText(run=run, topic=topic, text_id=text, rank=rank, score=score)
        for topic, made in rankings.items()
        for rank, (text, score) in enumerate(made.texts, 1)
    )
    RankedText.objects.bulk_create(rows, batch_size=AT_ONCE)
