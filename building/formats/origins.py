"""Our origins.jsonl: how runs were made, and which models made texts, questions and runs.

{"run", "recipe", "fingerprint", "origin"} is the provenance of a run. Lines with a "role" name a model
(building/formats/origin_lines.py).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from annotation.formats.layout import Source
from annotation.formats.reading import json_object, validated
from annotation.formats.reading import lines as lines_of
from annotation.formats.records import (
    Name,
    NonEmptyText,
    RepeatedText,
    Row,
    StoredText,
    WholeNumber,
    check_text,
)
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import json_line
from annotation.models import Dataset
from annotation.origins import LONGEST_MODEL
from building.engine.origins import origins_of_steps
from building.formats import origin_lines
from building.formats.origin_lines import OriginLineRow, OriginReader
from building.retrieval.recipe import RecipeError, parse_recipe
from building.run_creation import FROM_FILE, fingerprint_of
from evaluation.models import RetrievalRun


def _checked_all(value: Any) -> Any:
    """Validate all nested strings: a database refuses some without naming the line."""
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, dict):
        for key, nested in value.items():
            check_text(key)
            _checked_all(nested)
    elif isinstance(value, list):
        for nested in value:
            _checked_all(nested)
    return value


class StepRow(Row):
    """A recipe step with its provenance; extra keys depend on the step.

    `name` is the run that a step reads, `model` and `judge` are those by which it ranks.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[Any, AfterValidator(_checked_all)]] = Field(init=False)
    step: RepeatedText
    of: list[list[StepRow]]
    cut: WholeNumber | None

    @model_validator(mode="after")
    def check_names(self) -> Self:
        """Validate the keys from which models are derived. Raises ValueError."""
        extra = self.__pydantic_extra__
        needed = {"name"} if self.step == "run" else set()
        for key in ("name", "model", "judge"):
            if key not in needed and key not in extra:
                continue
            value = extra.get(key)
            if not isinstance(value, str) or not 0 < len(value) <= LONGEST_MODEL:
                raise ValueError(
                    f"{key} of the step {self.step} must have 1 to {LONGEST_MODEL} characters"
                )
        return self


class HowRow(Row):
    steps: Annotated[list[StepRow], Field(min_length=1)]
    requests: StoredText
    versions: dict[StoredText, StoredText]
    topics: WholeNumber
    without_results: list[StoredText]
    unknown_terms: dict[StoredText, list[StoredText]]
    left_out: dict[StoredText, int]
    cut_passages: dict[StoredText, WholeNumber | StoredText]
    seconds: float


class ProvenanceRow(Row):
    run: Name
    recipe: NonEmptyText
    fingerprint: StoredText
    origin: HowRow


def read(target: Target, source: Source) -> None:
    """Import origins; what is stored stays, and a file must not contradict it."""
    runs = {run.name: run for run in RetrievalRun.objects.filter(dataset=target.dataset)}
    models = OriginReader(target, source)
    new_runs: list[RetrievalRun] = []
    for line, text in lines_of(target, source):
        value = json_object(target, source, line, text)
        if value is None:
            continue
        if "role" in value:
            if model_row := validated(target, source, line, value, OriginLineRow):
                models.add(line, model_row)
        elif row := validated(target, source, line, value, ProvenanceRow):
            new_runs += _read_provenance(target, source, line, row, runs)
    models.store()
    if not target.problems:
        _name_models(target, new_runs)


def _name_models(target: Target, runs: Iterable[RetrievalRun]) -> None:
    """Store the models of recipes whose file names none: it was written before files did."""
    for run in runs:
        run.refresh_from_db(fields=["origins"])
        if not run.origins and (origins := origins_of_steps(target.dataset, run.origin["steps"])):
            run.origins = origins
            run.save(update_fields=["origins"])
            target.named_models.setdefault((RetrievalRun, json.dumps(origins)), set()).add(run.pk)


def _read_provenance(
    target: Target, source: Source, line: int, row: ProvenanceRow, runs: dict[str, RetrievalRun]
) -> list[RetrievalRun]:
    """Store how a run was made, and return the run if that is new.

    A run that knows it keeps it, and it must be the same.
    """
    summary = target.summary.file(source.name)
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
        return [run]
    return []


def _wrong(
    row: ProvenanceRow, origin: dict[str, Any], runs: dict[str, RetrievalRun]
) -> tuple[str, str] | None:
    """Return the wrong field and the reason, or None."""
    if row.run not in runs:
        return (
            "run",
            f"there is no run {quoted_value(row.run)}: its rankings are in runs/{row.run}.run",
        )
    try:
        parse_recipe(row.recipe)
    except RecipeError as error:
        return "recipe", str(error)
    if row.fingerprint != fingerprint_of(origin):
        return "fingerprint", "is not that of these steps, requests and versions"
    if (existing := runs[row.run].fingerprint) and existing != row.fingerprint:
        return "fingerprint", f"the run {row.run} was made in another way"
    twin = next((run for run in runs.values() if run.fingerprint == row.fingerprint), None)
    if twin and twin.name != row.run:
        return "fingerprint", f"is that of the run {twin.name}"
    return None


def lines(dataset: Dataset, runs: list[RetrievalRun], left_out: Counter[str]) -> Iterator[str]:
    """Yield how runs were made by recipes, by name, and then the lines that name models."""
    run_names = {run.name for run in runs}
    made_runs = RetrievalRun.objects.filter(dataset=dataset).exclude(fingerprint="")
    for run in sorted(made_runs, key=lambda run: run.name):
        if run.name not in run_names:
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
    yield from origin_lines.lines(dataset, runs, left_out)
