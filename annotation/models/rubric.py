"""Rubrics: a question put to every pair, and the grades that may answer it; two are always there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import models
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.utils.translation import gettext_noop

from annotation.models.corpus import Text

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


GUIDELINES = Path(__file__).parent.parent / "guidelines"


@dataclass(frozen=True)
class Standard:
    """A rubric as it is made; levels from the highest grade down, as they are shown.

    Its words stay English in the database. `annotation.models.wording` has them in a campaign's language.
    """

    slug: str
    title: str
    kind: Text.Kind
    eta: int
    span_from: int
    levels: tuple[tuple[int, str], ...]


ANSWERABLE = Standard(
    slug="answerable",
    title=gettext_noop("T1, answerable or not"),
    kind=Text.Kind.REPORT,
    eta=1,
    span_from=1,
    levels=((1, gettext_noop("answerable")), (0, gettext_noop("not answerable"))),
)
GRADED = Standard(
    slug="graded",
    title=gettext_noop("T2, grades 0 to 5"),
    kind=Text.Kind.PASSAGE,
    eta=3,
    span_from=1,
    levels=(
        (5, gettext_noop("Answers the question fully and plainly")),
        (4, gettext_noop("Answers it; a detail is missing or left to infer")),
        (3, gettext_noop("Answers the main part; others stay open")),
        (2, gettext_noop("Gives facts that bear on it, but no answer")),
        (1, gettext_noop("Same subject, no help with the question")),
        (0, gettext_noop("Nothing to do with the question")),
    ),
)
STANDARD = (ANSWERABLE, GRADED)


def kind_for(rubric: Rubric) -> str:
    """The kind of text that a rubric is made for; empty where it is made for none in particular."""
    return next((standard.kind for standard in STANDARD if standard.slug == rubric.slug), "")


def ensure_standard_rubrics(using: str = "default") -> None:
    """Make the standard rubrics that are not there. One that was edited stays as it is."""
    for standard in STANDARD:
        rubric, created = Rubric.objects.using(using).get_or_create(
            slug=standard.slug,
            defaults={
                "title": standard.title,
                "eta": standard.eta,
                "span_from": standard.span_from,
                "guideline": (GUIDELINES / f"{standard.slug}.md").read_text(encoding="utf-8"),
            },
        )
        if created:
            RubricLevel.objects.using(using).bulk_create(
                RubricLevel(rubric=rubric, grade=grade, label=label)
                for grade, label in standard.levels
            )
