"""Our own rubrics.jsonl: complete rubrics, except the two that always exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from annotation.formats.history import superseded_rubrics
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import RubricRow
from annotation.formats.writing import json_line
from annotation.models import Dataset, Project, Rubric, RubricLevel
from annotation.models.rubric_rules import (
    EXAMPLE_LENGTHS,
    IMPOSSIBLE_FIELDS,
    LEVEL_FIELDS,
    RUBRIC_FIELDS,
    RubricError,
    store_rubric,
)
from annotation.models.standard import DEFAULT_RUBRICS

if TYPE_CHECKING:
    from annotation.formats.target import Target

# May differ here, like the examples of levels, without other meanings of grades: what is there stays.
EDITED = ("title", "question", "guideline", "impossible")


def read(target: Target, source: Source) -> None:
    """Create missing rubrics in the project. An existing one must have the same levels.

    If it belongs to another project, it becomes one of the site: both groups have it in their files.
    """
    summary = target.summary.file(source.name)
    for line, row in rows(target, source, RubricRow):
        stored = Rubric.objects.prefetch_related("levels").filter(slug=row.slug).first()
        if stored is None:
            problems = _make(row, target.dataset.project)
            summary.created += not problems
            target.summary.created["rubrics"] += not problems
        else:
            problems = _differences(as_dict(stored), row)
            summary.unchanged += not problems
            if not problems and stored.project_id not in (None, target.dataset.project_id):
                Rubric.objects.filter(pk=stored.pk).update(project=None)
        for field, message in problems:
            target.problem(source, line, field, message)


def _make(row: RubricRow, project: Project) -> list[tuple[str, str]]:
    rubric = Rubric(**row.model_dump(include=set(RUBRIC_FIELDS)), project=project)
    try:
        store_rubric(rubric, [RubricLevel(**level.model_dump()) for level in row.levels])
    except RubricError as error:
        return error.problems
    return []


def _differences(stored: dict[str, Any], row: RubricRow) -> list[tuple[str, str]]:
    sent = row.model_dump()
    sent["levels"].sort(key=lambda level: -level["grade"])
    for level in (*sent["levels"], *stored["levels"]):
        del level["examples"]
    sent["shows"].sort()
    stored = stored | {"shows": sorted(stored["shows"])}
    return [
        (name, f"the rubric {row.slug} is there already, and has other {name}")
        for name in stored
        if name not in EDITED and sent[name] != stored[name]
    ]


def as_dict(rubric: Rubric) -> dict[str, Any]:
    """Return a rubric as a line of the file, with levels from the highest grade down."""
    levels = [
        {name: getattr(level, name) for name in LEVEL_FIELDS}
        | {
            # The keys of a JSON column have no order.
            "examples": [
                {name: example[name] for name in EXAMPLE_LENGTHS} for example in level.examples
            ]
        }
        for level in rubric.levels.all()
    ]
    impossible = [
        {name: declared[name] for name in IMPOSSIBLE_FIELDS} for declared in rubric.impossible
    ]
    fields = {name: getattr(rubric, name) for name in RUBRIC_FIELDS}
    return fields | {"impossible": impossible, "levels": levels}


def lines(dataset: Dataset) -> Iterator[str]:
    """Yield the rubrics of the dataset's ratings, also superseded ones, except built-in ones."""
    always = [standard.slug for standard in DEFAULT_RUBRICS]
    superseded = Q(pk__in=superseded_rubrics(dataset))
    used = Rubric.objects.filter(Q(ratings__text__dataset=dataset) | superseded)
    used = used.exclude(slug__in=always)
    for rubric in used.distinct().prefetch_related("levels").order_by("slug"):
        yield json_line(as_dict(rubric))
