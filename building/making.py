"""Making a retrieval run from its recipe, once: what is the same is not made again."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Dataset, Topic
from annotation.prepared import insert_new
from building.retrieval.recipe import parsed
from building.steps import Kitchen, Ranking, StepFailed, prepare
from evaluation.data.selection import one_of
from evaluation.models import RankedText, RetrievalRun
from judging.graders.base import GraderError

PACKAGES = ("numpy", "regex", "scipy")  # that tokens and scores come from
AT_ONCE = 5_000  # rows of an insert
_COLUMNS = ("run_id", "topic_id", "text_id", "rank", "score")
FROM_FILE = "from_file"  # in an origin that is told by a file of an import
_NAME = re.compile(r"\w[\w.+-]{0,119}")


class RunRefused(ValueError):
    """A run that cannot be made; a sentence for a person."""


@dataclass(frozen=True)
class Made:
    """A run that was made now, or `is_new` False that was there: the same recipe of the same data."""

    run: RetrievalRun
    is_new: bool


def make_run(
    dataset: Dataset,
    name: str,
    line: str,
    kitchen: Kitchen,
    topics: Sequence[str] = (),
    then: Callable[[RetrievalRun], object] = lambda run: None,
) -> Made:
    """Rank texts for all topics, or those named, and store the rankings as a run.

    A topic for which nothing is found is counted in the run's origin. `then` is given the run, and where it
    raises, no run is stored. No transaction is open while steps work: they may ask servers for hours.

    Raises RunRefused for a name that is taken or cannot be, for a server that is of no use and a topic that
    a model did not rank; SelectionError for a topic that is not there, RecipeError, NoIndex, IndexBroken,
    AnseriniError.
    """
    if not _NAME.fullmatch(name):
        raise RunRefused(
            "The name of a run has letters, digits and - _ . + and no more than 120; none of - . + comes first."
        )
    recipe = parsed(line)
    chosen = _topics(dataset, topics)
    began = time.monotonic()
    try:
        prepared = prepare(recipe, kitchen)
    except GraderError as error:
        raise RunRefused(str(error)) from error
    made_from = {
        "steps": prepared.made_from,
        "requests": _hash([(topic.name, topic.request) for topic in chosen]),
        "versions": {package: version(package) for package in PACKAGES},
    }
    fingerprint = fingerprint_of(made_from)
    runs = RetrievalRun.objects.filter(dataset=dataset)
    if there := runs.filter(fingerprint=fingerprint).first():
        then(there)
        return Made(there, is_new=False)
    if runs.filter(name=name).exists():
        raise RunRefused(f"{dataset} has a run called {name} already: choose another name.")
    try:
        rankings = prepared.of_all(chosen)
    except (GraderError, StepFailed) as error:
        raise RunRefused(f"{error} No run is made.") from error
    origin = {
        **made_from,
        "topics": len(chosen),
        "without_results": [topic.name for topic, made in rankings.items() if not made.texts],
        "unknown_terms": {
            topic.name: sorted(made.unknown) for topic, made in rankings.items() if made.unknown
        },
        "left_out": {
            topic.name: made.n_left_out for topic, made in rankings.items() if made.n_left_out
        },
        "cut_passages": dict(_cut_passages(prepared.made_from)),
        "seconds": round(time.monotonic() - began, 3),
    }
    run = RetrievalRun(
        dataset=dataset, name=name, recipe=str(recipe), origin=origin, fingerprint=fingerprint
    )
    try:
        _store(run, rankings, then)
    except IntegrityError:
        raise RunRefused(f"Somebody has just made {name}, or a run that is the same.") from None
    return Made(run, is_new=True)


def _cut_passages(steps: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Of each model that read only the beginning of passages, of how many: a number, or “unknown”."""
    for step in steps:
        if step.get("cut_passages"):
            yield step["model"], step["cut_passages"]
        for part in step["of"]:
            yield from _cut_passages(part)


def _topics(dataset: Dataset, names: Sequence[str]) -> list[Topic]:
    topics = list(dataset.topics.order_by("position"))
    for name in names:
        one_of("topic", name, (topic.name for topic in topics))
    return [topic for topic in topics if not names or topic.name in names]


def fingerprint_of(origin: Mapping[str, Any]) -> str:
    """What no other run has: of the steps, the requests and the versions that an origin tells."""
    return _hash({name: origin[name] for name in ("steps", "requests", "versions")})


def _hash(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@transaction.atomic
def _store(
    run: RetrievalRun, rankings: dict[Topic, Ranking], then: Callable[[RetrievalRun], object]
) -> None:
    Dataset.objects.lock(run.dataset_id)
    run.save(force_insert=True)
    rows = [
        (run.pk, topic.pk, text, rank, score)
        for topic, made in rankings.items()
        for rank, (text, score) in enumerate(made.texts, 1)
    ]
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        if insert_new(RankedText, _COLUMNS, some) < len(some):
            raise IntegrityError("A text stands in a ranking twice.")
    then(run)
