"""Kinds of questions: grades of a rater under a nominal rubric, for scores of one kind."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count

from annotation.models import Dataset, Rating, Rubric
from annotation.models.rating import raters_of


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """The questions that one rater gave one grade under a rubric of names."""

    rubric: str
    rater: int
    rater_name: str
    grade: int
    label: str

    @property
    def name(self) -> str:
        """Return the name for URLs and commands: RUBRIC:RATER:GRADE."""
        return f"{self.rubric}:{self.rater_name}:{self.grade}"

    @property
    def typing(self) -> str:
        """Return rater and rubric as RUBRIC:RATER."""
        return f"{self.rubric}:{self.rater_name}"

    @property
    def title(self) -> str:
        return f"{self.label}, as {self.rater_name} says"


def question_kinds(dataset: Dataset) -> tuple[QuestionKind, ...]:
    """Return the kinds of questions of a dataset, by rubric, rater and grade; a few queries.

    Of rubrics whose grades are names and none of which says answerable.
    """
    rubrics = {
        rubric.pk: rubric
        for rubric in Rubric.objects.filter(scale=Rubric.Scale.NOMINAL, eta=None)
        .prefetch_related("levels")
        .order_by("slug")
    }
    if not rubrics:
        return ()
    rated = Rating.objects.of_dataset(dataset).filter(rubric__in=rubrics)
    rated_grades = list(rated.order_by().values_list("rubric", "rater", "grade").distinct())
    names = {rater.pk: name for name, rater in raters_of(dataset).items()}
    grade_names = {pk: rubric.names() for pk, rubric in rubrics.items()}
    kinds = (
        QuestionKind(rubrics[pk].slug, rater, names[rater], grade, grade_names[pk][grade])
        for pk, rater, grade in rated_grades
    )
    return tuple(sorted(kinds, key=lambda kind: (kind.rubric, kind.rater_name, kind.grade)))


def questions_of(dataset: Dataset, kind: QuestionKind) -> frozenset[int]:
    """The keys of the questions of a kind: one query.

    A question asked of several texts is what the rater said most often; where two are as frequent it
    is of no kind.
    """
    rated = Rating.objects.of_dataset(dataset).filter(rubric__slug=kind.rubric, rater=kind.rater)
    counts: dict[int, dict[int, int]] = defaultdict(dict)
    grade_counts = rated.order_by().values_list("question", "grade").annotate(n=Count("pk"))
    for question, grade, n in grade_counts:
        counts[question][grade] = n
    return frozenset(
        question
        for question, of_grades in counts.items()
        if of_grades.pop(kind.grade, 0) > max(of_grades.values(), default=0)
    )
