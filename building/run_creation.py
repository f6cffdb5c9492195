"""Create a retrieval run from its recipe; an identical run is reused."""

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

from annotation.errors import UserError
from annotation.models import Dataset, Topic
from annotation.prepared import insert_new
from building.engine.origins import origins_of_steps
from building.retrieval.recipe import parse_recipe
from building.steps import Ranking, RecipeContext, StepError, prepare
from evaluation.data.selection import one_of
from evaluation.models import RankedText, RetrievalRun
from judging.llm.errors import BackendError

PACKAGES = ("numpy", "regex", "scipy")  # that tokens and scores come from
AT_ONCE = 5_000  # rows of an insert
_COLUMNS = ("run_id", "topic_id", "text_id", "rank", "score")
FROM_FILE = "from_file"  # in an origin that is told by a file of an import
_NAME = re.compile(r"\w[\w.+-]{0,119}")


class RunCreationError(UserError):
    """A run that cannot be created; a sentence for a person."""


@dataclass(frozen=True)
class CreatedRun:
    """A created run, or with `is_new` False the existing identical one."""

    run: RetrievalRun
    is_new: bool


def make_run(
    dataset: Dataset,
    name: str,
    line: str,
    kitchen: RecipeContext,
    topics: Sequence[str] = (),
    on_run: Callable[[RetrievalRun], object] = lambda run: None,
) -> CreatedRun:
    """Rank texts for all topics, or those named, and store the rankings as a run.

    A topic for which nothing is found is counted in the run's origin. `on_run` is given the run, and where it
    raises, no run is stored. No transaction is open while steps work: they may ask servers for hours.

    Raises RunCreationError for a name that is taken or cannot be, and for a topic that was not ranked;
    SelectionError for a topic that is not there; RecipeError, and what a step raises that cannot be prepared:
    a UserError.
    """
    if not _NAME.fullmatch(name):
        raise RunCreationError(
            "The name of a run must have at most 120 letters, digits and - _ . +, and must not "
            "begin with - . or +."
        )
    recipe = parse_recipe(line)
    chosen = _topics(dataset, topics)
    began = time.monotonic()
    prepared = prepare(recipe, kitchen)
    provenance = {
        "steps": prepared.made_from,
        "requests": _hash([(topic.name, topic.request) for topic in chosen]),
        "versions": {package: version(package) for package in PACKAGES},
    }
    fingerprint = fingerprint_of(provenance)
    runs = RetrievalRun.objects.filter(dataset=dataset)
    if existing := runs.filter(fingerprint=fingerprint).first():
        on_run(existing)
        return CreatedRun(existing, is_new=False)
    if runs.filter(name=name).exists():
        raise RunCreationError(f"{dataset} already has a run {name}: choose another name.")
    try:
        rankings = prepared.rank_all(chosen)
    except (BackendError, StepError) as error:
        raise RunCreationError(f"{error} No run was created.") from error
    origin = {
        **provenance,
        "topics": len(chosen),
        "without_results": [topic.name for topic, ranking in rankings.items() if not ranking.texts],
        "unknown_terms": {
            topic.name: sorted(ranking.unknown)
            for topic, ranking in rankings.items()
            if ranking.unknown
        },
        "left_out": {
            topic.name: ranking.n_left_out
            for topic, ranking in rankings.items()
            if ranking.n_left_out
        },
        "cut_passages": dict(_cut_passages(prepared.made_from)),
        "seconds": round(time.monotonic() - began, 3),
    }
    run = RetrievalRun(
        dataset=dataset,
        name=name,
        recipe=str(recipe),
        origin=origin,
        fingerprint=fingerprint,
        origins=origins_of_steps(dataset, prepared.made_from),
    )
    try:
        _store(run, rankings, on_run)
    except IntegrityError:
        raise RunCreationError(f"Somebody has just created {name} or an identical run.") from None
    return CreatedRun(run, is_new=True)


def _cut_passages(steps: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield (model, number of truncated passages or “unknown”) of the embedding steps."""
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
    """Hash the steps, requests and versions of an origin; it identifies the run."""
    return _hash({name: origin[name] for name in ("steps", "requests", "versions")})


def _hash(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@transaction.atomic
def _store(
    run: RetrievalRun, rankings: dict[Topic, Ranking], on_run: Callable[[RetrievalRun], object]
) -> None:
    Dataset.objects.lock(run.dataset_id)
    run.save(force_insert=True)
    rows = [
        (run.pk, topic.pk, text, rank, score)
        for topic, ranking in rankings.items()
        for rank, (text, score) in enumerate(ranking.texts, 1)
    ]
    for start in range(0, len(rows), AT_ONCE):
        batch = rows[start : start + AT_ONCE]
        if insert_new(RankedText, _COLUMNS, batch) < len(batch):
            raise IntegrityError("A ranking has a text twice.")
    on_run(run)
