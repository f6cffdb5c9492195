"""The rules of a rubric, and the one place where one is made or changed: by the page, by a file, by the API."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.forms.models import model_to_dict

from annotation.models.rubric import Rubric, RubricLevel
from annotation.row_versions import version_of
from annotation.unique import check_again_if_taken

# What files, forms and the API give of a rubric and of a level.
OF_A_RUBRIC = ("slug", "title", "question", "scale", "shows", "eta", "span_from", "guideline")
OF_A_LEVEL = ("grade", "label", "name", "key", "colour")
MOST_LEVELS = 101  # 0 to 100
PRESSED_FOR_OTHER_THINGS = "tujk?"  # on the task page
ADDRESSES = ("new", "add")  # of pages beside those of rubrics

Problems = list[
    tuple[str, str]
]  # the field and what is wrong; "levels.0.key" is of the first level


class RubricRefused(Exception):
    """A rubric that cannot be made, or changed; `problems` says why."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        super().__init__(" ".join(message for _field, message in problems))


class RubricChanged(Exception):
    """A rubric that somebody else has changed since the version that is to be replaced."""


def values_of(rubric: Rubric) -> dict[str, Any]:
    """All that can be edited of a rubric, with its levels."""
    levels = [model_to_dict(level, OF_A_LEVEL) for level in rubric.levels.all()]
    return {**model_to_dict(rubric, OF_A_RUBRIC), "levels": levels}


def store(rubric: Rubric, levels: Sequence[RubricLevel], seen: str = "") -> Rubric:
    """Make a rubric with its levels, or put it in place of one that nothing uses yet.

    `seen` is the version (`version_of(values_of(...))`) of the rubric that is replaced, "" for any.

    Raises RubricRefused where a rule is broken, or where the rubric is used: its grades mean something then.
    Raises RubricChanged where somebody else has replaced it meanwhile.
    """
    check = partial(_check, rubric, rubric.pk, levels)
    check()
    with check_again_if_taken(check):
        if rubric.pk:
            _clear_place(rubric, seen)
        rubric.save(force_insert=True)
        for level in levels:
            level.pk, level.rubric = None, rubric
        RubricLevel.objects.bulk_create(levels)
    return rubric


def _check(rubric: Rubric, pk: int, levels: Sequence[RubricLevel]) -> None:
    if problems := [*_of_the_rubric(rubric, pk, levels), *_of_levels(levels)]:
        if pk and not Rubric.objects.filter(pk=pk).exists():
            raise RubricChanged  # its slug is taken by the rubric that has replaced it
        raise RubricRefused(problems)


def _clear_place(rubric: Rubric, seen: str) -> None:
    """Delete what is stored under a rubric's key, so that the rubric can take its place."""
    before = Rubric.objects.select_for_update().filter(pk=rubric.pk).first()
    if before is None or (seen and seen != version_of(values_of(before))):
        raise RubricChanged
    if before.is_used():
        raise RubricRefused([("", "It is used, and stays as it is: make a copy of it.")])
    # With a key of its own: other processes may know the grades of the one before by its key.
    before.delete()
    rubric.pk = None


def _of_the_rubric(
    rubric: Rubric, pk: int, levels: Sequence[RubricLevel]
) -> Iterator[tuple[str, str]]:
    try:
        rubric.full_clean(exclude=["shows"], validate_unique=False)
    except ValidationError as error:
        for field, messages in error.message_dict.items():
            yield ("" if field == "__all__" else field), messages[0]
    if Rubric.objects.filter(slug=rubric.slug).exclude(pk=pk).exists():
        yield "slug", f"There is a rubric {rubric.slug} already."
    if rubric.slug in ADDRESSES:
        yield "slug", f"{rubric.slug} is a page of its own."
    parts = Rubric.Shows.values
    if (
        not rubric.shows
        or set(rubric.shows) - set(parts)
        or len(set(rubric.shows)) < len(rubric.shows)
    ):
        yield "shows", f"Give some of {', '.join(parts)}, each once."
    grades = sorted(level.grade for level in levels if level.grade is not None)
    for field, grade in (("eta", rubric.eta), ("span_from", rubric.span_from)):
        if grade is not None and grade not in grades:
            yield field, f"{grade} is no grade of the rubric."
    if rubric.eta is not None and [rubric.eta] == grades[:1]:
        yield "eta", "From the lowest grade on every pair would count as answerable."
    if rubric.scale == Rubric.Scale.NOMINAL and rubric.eta is not None and len(grades) > 2:
        yield (
            "eta",
            "Grades that are names have no order: leave it empty, or make the scale ordinal.",
        )
    if rubric.span_from is not None and Rubric.Shows.TEXT not in (rubric.shows or ()):
        yield "span_from", "Words can be marked only in a text that is shown."


def _of_levels(levels: Sequence[RubricLevel]) -> Iterator[tuple[str, str]]:
    if not 2 <= len(levels) <= MOST_LEVELS:
        yield "levels", f"Give 2 to {MOST_LEVELS} levels, not {len(levels)}."
    for index, level in enumerate(levels):
        try:
            level.full_clean(exclude=["rubric"], validate_unique=False, validate_constraints=False)
        except ValidationError as error:
            for field, messages in error.message_dict.items():
                yield f"levels.{index}.{field}", messages[0]
        if level.grade is not None and not 0 <= level.grade <= 1000:
            yield f"levels.{index}.grade", "A grade is 0 to 1000."
        if level.key and (
            level.key.lower() in PRESSED_FOR_OTHER_THINGS
            or not level.key.isprintable()
            or level.key.isspace()
        ):
            taken = " ".join(PRESSED_FOR_OTHER_THINGS)
            yield f"levels.{index}.key", f"Give a letter or sign other than {taken}."
    for field, values in (
        ("grade", [level.grade for level in levels]),
        ("name", [level.name for level in levels]),
        ("key", [pressed(level) for level in levels]),
    ):
        counts = Counter(values)
        for index, value in enumerate(values):
            if value not in ("", None) and counts[value] > 1:
                yield f"levels.{index}.{field}", f"{value} is there twice."


def pressed(level: RubricLevel) -> str:
    """The key that gives a grade: its own, small as the page reads it, else its digit; none beyond 9."""
    if level.key:
        return level.key.lower()
    return str(level.grade) if level.grade is not None and level.grade <= 9 else ""
