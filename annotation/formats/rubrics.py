"""Our own rubrics.jsonl: rubrics that are not always there, whole, one on each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from annotation.formats.history import superseded_rubrics
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import RubricRow
from annotation.formats.writing import json_line
from annotation.models import Dataset, Rubric, RubricLevel
from annotation.models.rubric_rules import OF_A_LEVEL, OF_A_RUBRIC, RubricRefused, store
from annotation.models.standard import ALWAYS

if TYPE_CHECKING:
    from annotation.formats.target import Target

EDITED = ("title", "question", "guideline")  # may be worded otherwise here: what is there stays


def read(target: Target, source: Source) -> None:
    """Make the rubrics that are new. One that is there must have the same levels and the same scale."""
    summary = target.summary.file(source.name)
    for line, row in rows(target, source, RubricRow):
        there = Rubric.objects.prefetch_related("levels").filter(slug=row.slug).first()
        if there is None:
            problems = _make(row)
            summary.created += not problems
            target.summary.created["rubrics"] += not problems
        else:
            problems = _differences(as_dict(there), row)
            summary.unchanged += not problems
        for field, message in problems:
            target.problem(source, line, field, message)


def _make(row: RubricRow) -> list[tuple[str, str]]:
    rubric = Rubric(**{name: getattr(row, name) for name in OF_A_RUBRIC})
    try:
        store(rubric, [RubricLevel(**level.model_dump()) for level in row.levels])
    except RubricRefused as error:
        return error.problems
    return []


def _differences(there: dict[str, Any], row: RubricRow) -> list[tuple[str, str]]:
    given = row.model_dump()
    given["levels"].sort(key=lambda level: -level["grade"])
    given["shows"].sort()
    there = there | {"shows": sorted(there["shows"])}
    return [
        (name, f"the rubric {row.slug} is there already, and has other {name}")
        for name in there
        if name not in EDITED and given[name] != there[name]
    ]


def as_dict(rubric: Rubric) -> dict[str, Any]:
    """A rubric as a line of the file: with its levels from the highest grade down."""
    levels = [{name: getattr(level, name) for name in OF_A_LEVEL} for level in rubric.levels.all()]
    return {name: getattr(rubric, name) for name in OF_A_RUBRIC} | {"levels": levels}


def lines(dataset: Dataset) -> Iterator[str]:
    """The rubrics of the dataset's ratings, superseded ones too, but for those that are always there."""
    always = [standard.slug for standard in ALWAYS]
    superseded = Q(pk__in=superseded_rubrics(dataset))
    used = Rubric.objects.filter(Q(ratings__text__dataset=dataset) | superseded)
    used = used.exclude(slug__in=always)
    for rubric in used.distinct().prefetch_related("levels").order_by("slug"):
        yield json_line(as_dict(rubric))
