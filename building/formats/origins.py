"""Our own origins.jsonl: how runs were made, {"run", "recipe", "fingerprint", "origin"}."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import Name, Row, Something, Whole, Word, Words, checked_words
from annotation.formats.summary import shown
from annotation.formats.target import Target
from annotation.formats.writing import json_line
from annotation.models import Dataset
from building.making import FROM_FILE, fingerprint_of
from building.retrieval.recipe import RecipeError, parsed
from evaluation.models import RetrievalRun


def _checked_all(value: Any) -> Any:
    """Every string within, at any depth: a database refuses some, and would not say in which line."""
    if isinstance(value, str):
        checked_words(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            checked_words(key)
            _checked_all(each)
    elif isinstance(value, list):
        for each in value:
            _checked_all(each)
    return value


class StepRow(Row):
    """A step with all that decides what it makes: what else is said depends on the step."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[Any, AfterValidator(_checked_all)]] = Field(init=False)
    step: Word
    of: list[list[StepRow]]
    cut: Whole | None


class HowRow(Row):
    steps: Annotated[list[StepRow], Field(min_length=1)]
    requests: Words
    versions: dict[Words, Words]
    topics: Whole
    without_results: list[Words]
    unknown_terms: dict[Words, list[Words]]
    left_out: dict[Words, int]
    cut_passages: dict[Words, Whole | Words]
    seconds: float


class OriginRow(Row):
    run: Name
    recipe: Something
    fingerprint: Words
    origin: HowRow


def read(target: Target, source: Source) -> None:
    """Runs that came in files get their origins. One that has an origin keeps it, which must be the same."""
    summary = target.summary.file(source.name)
    runs = {run.name: run for run in RetrievalRun.objects.filter(dataset=target.dataset)}
    for line, row in rows(target, source, OriginRow):
        origin = row.origin.model_dump()
        if wrong := _wrong(row, origin, runs):
            target.problem(source, line, *wrong)
        elif runs[row.run].fingerprint:
            summary.unchanged += 1
        else:
            run = runs[row.run]
            run.recipe, run.fingerprint = row.recipe, row.fingerprint
            run.origin = {**origin, FROM_FILE: True}
            run.save(update_fields=["recipe", "fingerprint", "origin"])
            summary.created += 1
            target.summary.created["origins of runs"] += 1


def _wrong(
    row: OriginRow, origin: dict[str, Any], runs: dict[str, RetrievalRun]
) -> tuple[str, str] | None:
    """The field that is wrong, and why."""
    if row.run not in runs:
        return "run", f"there is no run {shown(row.run)}: its rankings are in runs/{row.run}.run"
    try:
        parsed(row.recipe)
    except RecipeError as error:
        return "recipe", str(error)
    if row.fingerprint != fingerprint_of(origin):
        return "fingerprint", "is not that of these steps, requests and versions"
    if (there := runs[row.run].fingerprint) and there != row.fingerprint:
        return "fingerprint", f"the run {row.run} was made in another way"
    twin = next((run for run in runs.values() if run.fingerprint == row.fingerprint), None)
    if twin and twin.name != row.run:
        return "fingerprint", f"is that of the run {twin.name}"
    return None


def lines(dataset: Dataset, runs: list[RetrievalRun], left_out: Counter[str]) -> Iterator[str]:
    """The origins of those of these runs, which have files, that were made by a recipe; by name."""
    named = {run.name for run in runs}
    made = RetrievalRun.objects.filter(dataset=dataset).exclude(fingerprint="")
    for run in sorted(made, key=lambda run: run.name):
        if run.name not in named:
            left_out["origins of runs that rank nothing"] += 1
            continue
        origin = {key: value for key, value in run.origin.items() if key != FROM_FILE}
        yield json_line(
            {
                "run": run.name,
                "recipe": run.recipe,
                "fingerprint": run.fingerprint,
                # A database may give keys back in an order of its own.
                "origin": json.loads(json.dumps(origin, sort_keys=True)),
            }
        )
