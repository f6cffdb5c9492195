"""Rubrics: a question put to every pair, and the grades that may answer it."""

from typing import Any

from django.db import models
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

_grades: dict[int, tuple[int, ...]] = {}  # by rubric; they stay as they were made


class Rubric(models.Model):
    """A question put to every pair, and the grades that may answer it."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    guideline = models.TextField(help_text="Markdown; shown to annotators beside their work")
    eta = models.SmallIntegerField(help_text="grade at or above which a pair counts as answerable")
    span_from = models.SmallIntegerField(
        help_text="grade at or above which an answer needs at least one marked span"
    )

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title

    def grades(self) -> list[int]:
        """The grades that this rubric allows, ascending."""
        if not _grades.get(self.pk):
            _grades[self.pk] = tuple(self.levels.order_by("grade").values_list("grade", flat=True))
        return list(_grades[self.pk])

    def takes_spans(self, grade: int | None) -> bool:
        """Whether an answer may have words marked: with a grade that rests on some, or with none yet."""
        return grade is None or grade >= self.span_from


class RubricLevel(models.Model):
    """One grade of a rubric and the words that define it."""

    rubric = models.ForeignKey(
        Rubric, on_delete=models.CASCADE, related_name="levels", db_index=False
    )
    grade = models.SmallIntegerField()
    label = models.CharField(max_length=200)

    class Meta:
        ordering = ["rubric_id", "-grade"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "grade"], name="level_grade_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.grade} {self.label}"


@receiver([post_save, post_delete], sender=Rubric)
def _ask_for_grades_again(instance: Rubric, **kwargs: Any) -> None:
    _grades.pop(instance.pk, None)
