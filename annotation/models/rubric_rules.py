"""Validation rules of rubrics, and their only writer: for the page, files and the API."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.forms.models import model_to_dict

from annotation.errors import UserError
from annotation.models.rubric import Rubric, RubricLevel
from annotation.row_versions import version_of
from annotation.unique import check_again_if_taken

# Fields of a rubric and of a level in files, forms and the API.
RUBRIC_FIELDS = (
    *("slug", "title", "question", "scale", "shows", "eta", "span_from"),
    *("impossible", "guideline"),
)
IMPOSSIBLE_FIELDS = ("grade", "rubric", "grades")
LEVEL_FIELDS = ("grade", "label", "name", "key", "colour")
MOST_LEVELS = 101  # 0 to 100
MOST_LABELS = 10  # of a multi-label rubric, numbered from 1: a grade is one of 1,024 sets
MOST_EXAMPLES = 3  # of a level
MOST_IMPOSSIBLE = 200  # declarations of a rubric
EXAMPLE_LENGTHS = {"text": 1000, "question": 500, "reason": 500}  # most characters of each field
RESERVED_KEYS = "tujk?"  # on the task page
NO_LABEL_KEY = "0"  # on the task page, of a multi-label rubric
RESERVED_SLUGS = ("new", "add")  # of pages beside those of rubrics

Problems = list[
    tuple[str, str]
]  # the field and what is wrong; "levels.0.key" is of the first level


class RubricError(UserError):
    """Invalid rubric, or a refused change; `problems` lists the reasons."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        super().__init__(" ".join(message for _field, message in problems))


class RubricConflictError(Exception):
    """Edit conflict: the rubric was changed since the version to be replaced."""


def values_of(rubric: Rubric) -> dict[str, Any]:
    """Return all editable fields of a rubric, with its levels."""
    levels = [model_to_dict(level, (*LEVEL_FIELDS, "examples")) for level in rubric.levels.all()]
    return {**model_to_dict(rubric, RUBRIC_FIELDS), "levels": levels}


def content_version(rubric: Rubric) -> str:
    """Return the version of a rubric as the API has it: all fields, and whether it is retired."""
    return version_of(values_of(rubric) | {"is_retired": rubric.is_retired})


def store_rubric(rubric: Rubric, levels: Sequence[RubricLevel], version: str = "") -> Rubric:
    """Create a rubric with its levels, or replace one that is not yet used.

    `version` is that of the rubric to be replaced (`version_of(values_of(...))`), "" for any.

    Raises RubricError where a rule is broken, or where the rubric is used: its grades mean
    something then. Raises RubricConflictError where somebody else has replaced it meanwhile.
    """
    check = partial(_check, rubric, rubric.pk, levels)
    check()
    with check_again_if_taken(check):
        if rubric.pk:
            _delete_replaced(rubric, version)
        rubric.save(force_insert=True)
        for level in levels:
            level.pk, level.rubric = None, rubric
        RubricLevel.objects.bulk_create(levels)
    return rubric


def _check(rubric: Rubric, pk: int, levels: Sequence[RubricLevel]) -> None:
    problems = [
        *_rubric_problems(rubric, pk, levels),
        *_level_problems(levels),
        *_impossible_problems(rubric, pk, levels),
    ]
    if rubric.is_multi_label:
        problems += _label_problems(rubric, levels)
    if problems:
        if pk and not Rubric.objects.filter(pk=pk).exists():
            raise RubricConflictError  # its slug is taken by the rubric that has replaced it
        raise RubricError(problems)


def _delete_replaced(rubric: Rubric, version: str) -> None:
    """Delete the stored rubric of this key, so that the new one can replace it."""
    stored = Rubric.objects.select_for_update().filter(pk=rubric.pk).first()
    if stored is None or (version and version != version_of(values_of(stored))):
        raise RubricConflictError
    if stored.is_used():
        raise RubricError([("", "This rubric is in use and cannot be edited: copy it.")])
    # Somebody may have retired, restored or shared it since `rubric` was filled.
    rubric.is_retired, rubric.project = stored.is_retired, stored.project
    # With a new key: other processes may have cached the grades of the old one by its key.
    stored.delete()
    rubric.pk = None


def _rubric_problems(
    rubric: Rubric, pk: int, levels: Sequence[RubricLevel]
) -> Iterator[tuple[str, str]]:
    try:
        rubric.full_clean(exclude=["shows"], validate_unique=False)
    except ValidationError as error:
        for field, messages in error.message_dict.items():
            yield ("" if field == "__all__" else field), messages[0]
    if Rubric.objects.filter(slug=rubric.slug).exclude(pk=pk).exists():
        yield "slug", f"A rubric {rubric.slug} exists already."
    if rubric.slug in RESERVED_SLUGS:
        yield "slug", f"{rubric.slug} is reserved for a page."
    parts = Rubric.Shows.values
    if (
        not rubric.shows
        or set(rubric.shows) - set(parts)
        or len(set(rubric.shows)) < len(rubric.shows)
    ):
        yield "shows", f"Choose some of {', '.join(parts)}, each once."
    grades = sorted(level.grade for level in levels if level.grade is not None)
    for field, grade in (("eta", rubric.eta), ("span_from", rubric.span_from)):
        if grade is not None and grade not in grades and not rubric.is_multi_label:
            yield field, f"{grade} is not a grade of the rubric."
    if rubric.eta is not None and [rubric.eta] == grades[:1]:
        yield "eta", "With the lowest grade as threshold, every pair would count as answerable."
    if rubric.scale == Rubric.Scale.NOMINAL and rubric.eta is not None and len(grades) > 2:
        yield (
            "eta",
            "Nominal grades have no order: leave this empty, or choose an ordinal scale.",
        )
    if rubric.span_from is not None and Rubric.Shows.TEXT not in (rubric.shows or ()):
        yield "span_from", "Highlights need a visible text."


def _impossible_problems(
    rubric: Rubric, pk: int, levels: Sequence[RubricLevel]
) -> Iterator[tuple[str, str]]:
    """Check the declarations; grades of the other rubric only where campaigns can use both."""
    declarations = rubric.impossible
    if len(declarations) > MOST_IMPOSSIBLE:
        yield "impossible", f"Give {MOST_IMPOSSIBLE} at most, not {len(declarations)}."
        return
    if declarations and rubric.is_multi_label:
        yield "impossible", "Sets of labels cannot be part of an impossible combination."
        return
    grades = {level.grade for level in levels}
    stored_project = Rubric.objects.filter(pk=pk).values_list("project", flat=True)
    project = rubric.project_id or stored_project.first()
    available = Rubric.objects.filter(Q(project=None) | Q(project=project))
    known_grades = {
        other_rubric.slug: [] if other_rubric.is_multi_label else other_rubric.grades()
        for other_rubric in available.filter(
            slug__in={declared["rubric"] for declared in declarations}
        )
    }
    counts = Counter((declared["grade"], declared["rubric"]) for declared in declarations)
    for index, declared in enumerate(declarations):
        grade, slug, other_grades = (declared[name] for name in IMPOSSIBLE_FIELDS)
        if grade not in grades:
            yield f"impossible.{index}.grade", f"{grade} is not a grade of the rubric."
        elif counts[grade, slug] > 1:
            yield f"impossible.{index}.grade", f"{grade} with {slug} is there twice."
        if slug == rubric.slug or not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", slug):
            yield f"impossible.{index}.rubric", "Give the name of another rubric, as in its URL."
        if not other_grades or len(set(other_grades)) < len(other_grades):
            yield f"impossible.{index}.grades", "Give grades of the other rubric, each once."
        for other_grade in other_grades:
            if other_grade not in known_grades.get(slug, other_grades):
                yield f"impossible.{index}.grades", f"{other_grade} is not a grade of {slug}."


def _level_problems(levels: Sequence[RubricLevel]) -> Iterator[tuple[str, str]]:
    if not 2 <= len(levels) <= MOST_LEVELS:
        yield "levels", f"Give 2 to {MOST_LEVELS} levels, not {len(levels)}."
    for index, level in enumerate(levels):
        try:
            level.full_clean(exclude=["rubric"], validate_unique=False, validate_constraints=False)
        except ValidationError as error:
            for field, messages in error.message_dict.items():
                yield f"levels.{index}.{field}", messages[0]
        if level.grade is not None and not 0 <= level.grade <= 1000:
            yield f"levels.{index}.grade", "A grade must be from 0 to 1000."
        if level.key and (
            level.key.lower() in RESERVED_KEYS or not level.key.isprintable() or level.key.isspace()
        ):
            reserved = " ".join(RESERVED_KEYS)
            yield f"levels.{index}.key", f"Give a letter or sign other than {reserved}."
        for field, message in _example_problems(level.examples):
            yield f"levels.{index}.{field}", message
    for field, values in (
        ("grade", [level.grade for level in levels]),
        ("name", [level.name for level in levels]),
        ("key", [shortcut_key(level) for level in levels]),
    ):
        counts = Counter(values)
        for index, value in enumerate(values):
            if value not in ("", None) and counts[value] > 1:
                yield f"levels.{index}.{field}", f"{value} is there twice."


def _label_problems(rubric: Rubric, levels: Sequence[RubricLevel]) -> Iterator[tuple[str, str]]:
    if len(levels) > MOST_LABELS:
        yield "levels", f"Give {MOST_LABELS} labels at most, not {len(levels)}."
    for index, level in enumerate(levels):
        if level.grade is not None and not 1 <= level.grade <= MOST_LABELS:
            yield f"levels.{index}.grade", f"Number the labels from 1 to {MOST_LABELS}."
        if shortcut_key(level) == NO_LABEL_KEY:
            yield f"levels.{index}.key", f"{NO_LABEL_KEY} is the key for none of the labels."
    if rubric.eta is not None:
        yield "eta", "Sets of labels have no order: leave this empty."
    if rubric.span_from not in (None, 1):
        yield "span_from", "Give 1 if labels need highlights, or leave this empty."


def _example_problems(examples: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    if len(examples) > MOST_EXAMPLES:
        yield "examples", f"Give {MOST_EXAMPLES} examples of a grade at most, not {len(examples)}."
    for index, example in enumerate(examples):
        for name, length in EXAMPLE_LENGTHS.items():
            if len(example[name]) > length:
                yield f"examples.{index}.{name}", f"Give {length} characters at most."
            elif name != "question" and not example[name].strip():
                yield (
                    f"examples.{index}.{name}",
                    "An example needs a text, and why it has this grade.",
                )


def shortcut_key(level: RubricLevel) -> str:
    """Return the keyboard shortcut of a grade, or "" for a grade above 9 without one.

    It is the level's own key in lower case, as the page reads it, else its digit.
    """
    if level.key:
        return level.key.lower()
    return str(level.grade) if level.grade is not None and level.grade <= 9 else ""
